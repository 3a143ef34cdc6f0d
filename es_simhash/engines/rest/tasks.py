"""Tasks of a server that update documents, as requests.

Plans repeat these requests themselves: a client that is closed while a task is cancelled would open a new connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.engines.rest.errors import refusal
from es_simhash.engines.rest.reply_checks import typed
from es_simhash.engines.rest.requests import Conversation, Request, error_in, one_index, path_of
from es_simhash.errors import AccessError, EngineError, IndexStateError, InputError
from es_simhash.plans.operations import ActionResult, CancelTask, FindTask, GetTask, Operation, Task, UpdateByQuery

# The rate of a task without a limit.
_UNLIMITED = -1


def _update_by_query(operation: UpdateByQuery) -> Conversation[str]:
    params = {
        "pipeline": operation.pipeline,
        "conflicts": "proceed",
        "wait_for_completion": "false",
        "slices": str(operation.parallel),
        "requests_per_second": str(operation.max_rate or _UNLIMITED),
        "scroll_size": str(operation.size),
    }
    path, body = path_of(one_index(operation), "_update_by_query"), {"query": operation.query}
    reply = yield Request("POST", path, params, body, repeatable=False, mark=operation.mark)
    return typed(reply["task"], str)


def _find_task(operation: FindTask) -> Conversation[str | None]:
    params = {"actions": "indices:data/write/update/byquery", "group_by": "parents"}
    reply = yield Request("GET", "/_tasks", params, repeatable=False)
    for id_, task in typed(reply["tasks"], dict).items():
        if typed(task["headers"], dict).get("X-Opaque-Id") == operation.mark and not task.get("cancelled"):
            return typed(id_, str)
    return None


def _get_task(operation: GetTask) -> Conversation[Task]:
    reply = yield Request("GET", f"/_tasks/{operation.id}", repeatable=False)
    counts: Json = reply["task"].get("status") or {}
    failures = (reply.get("response") or {}).get("failures") or []
    problems = [_problem(operation, failure) for failure in failures if "id" not in failure]
    if "error" in reply:
        problems.insert(0, _problem(operation, reply))
    return Task(
        is_over=typed(reply["completed"], bool),
        updated=typed(counts.get("updated", 0), int),
        conflicts=typed(counts.get("version_conflicts", 0), int),
        is_cancelled="canceled" in counts or "task_cancelled_exception" in str(reply.get("error")),
        refused=tuple(_refused(operation, failure) for failure in failures if "id" in failure),
        error=problems[0] if problems else None,
    )


def _problem(operation: GetTask, failure: Json) -> EngineError:
    """Return why the whole task has failed, or one of its searches."""
    cause = failure.get("error") or failure["reason"]
    # A search that fails everywhere is given no status; the same was counted before, so the shards are away.
    away = isinstance(cause, dict) and cause.get("type") == "search_phase_execution_exception"
    status = HTTPStatus.SERVICE_UNAVAILABLE if away else HTTPStatus.INTERNAL_SERVER_ERROR
    return _engine_error(error_in(operation, failure.get("status", status), {"error": cause}))


def _refused(operation: GetTask, failure: Json) -> ActionResult:
    """Return why one document was refused."""
    status = typed(failure["status"], int)
    item = {"_index": failure["index"], "status": status, "error": failure["cause"]}
    error = error_in(operation, status, item)
    concerns_all = error if isinstance(error, (AccessError, IndexStateError)) else None
    return ActionResult(typed(failure["id"], str), status, refusal(item), concerns_all)


def _engine_error(error: EngineError | InputError) -> EngineError:
    return error if isinstance(error, EngineError) else EngineError(str(error))


def _cancel_task(operation: CancelTask) -> Conversation[None]:
    # A task that is over is reported as a failed node.
    yield Request("POST", f"/_tasks/{operation.id}/_cancel", repeatable=False)


CONVERSATIONS: Mapping[type[Operation[Any]], Callable[[Any], Conversation[Any]]] = {
    UpdateByQuery: _update_by_query,
    FindTask: _find_task,
    GetTask: _get_task,
    CancelTask: _cancel_task,
}
