"""The soak of one server, on a node of its own; ``python -m tests.system.soak.hours`` starts one for each."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.pytest_nodes import SMALL
from tests.system.histories.embedded import Directory
from tests.system.soak.hours.place import Place
from tests.system.soak.hours.running import Length, Soak
from tests.system.soak.hours.tally import Tally
from tools.nodes import Node, start_node
from tools.nodes.node import TIMEOUT_VARIABLE

EMBEDDED = "embedded"
_HEAP = "512m"
# Other work on the machine is not a fault.
_START_SECONDS = "600"


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ.setdefault(TIMEOUT_VARIABLE, _START_SECONDS)
    options.folder.mkdir(parents=True, exist_ok=True)
    tally, length = Tally(options.name, options.seed), Length(options.seconds)
    with _target(options, tally) as target:
        soak = Soak(Place(target, tally), options.folder, length)
        tally = soak.run()
    return 0 if tally.is_right else 1


@contextmanager
def _target(options: argparse.Namespace, tally: Tally) -> Iterator[Node | Directory]:
    """The place that the name stands for; a server is started."""
    if options.name == EMBEDDED:
        yield Directory(options.folder / "index")
        return
    with start_node(options.name, settings=SMALL, heap=_HEAP, port=options.port or None) as node:
        tally.server = str(node.release)
        yield node


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.system.soak.hours.one", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
