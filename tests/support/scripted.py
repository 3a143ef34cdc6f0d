"""An engine that answers by a script, so that a test decides which operation fails, and how."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from es_simhash.plans.operations import Operation, Plan, Wait

# The operation that is expected, and its reply, or the error that it raises.
Step = tuple[type[Operation[Any]], Any]


def played(plan: Plan[Any], script: Iterable[Step]) -> tuple[Any, list[Operation[Any]]]:
    """Run a plan by a script, without waiting; return its result, and the operations.

    Every step must be asked for, in this order, and nothing else. An error that the plan raises is its result.
    """
    steps, asked = iter(script), list[Operation[Any]]()
    send, reply = plan.send, None
    while True:
        try:
            operation = send(reply)
        except StopIteration as end:
            result = end.value
            break
        except Exception as error:
            result = error
            break
        if isinstance(operation, Wait):
            send, reply = plan.send, None
            continue
        kind, reply = next(steps, (None, None))
        assert kind is not None, f"nothing answers {operation}"
        assert isinstance(operation, kind), f"{operation} instead of {kind.__name__}"
        asked.append(operation)
        send = plan.throw if isinstance(reply, Exception) else plan.send
    left = list(steps)
    assert not left, f"never asked for: {left}; {result!r}"
    return result, asked
