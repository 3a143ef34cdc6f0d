"""The soak of one server, on a node of its own; ``python -m tests.system.soak.hours`` starts one for each."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.support.pytest_nodes import SMALL
from tests.system.histories.embedded import Directory
from tests.system.soak.hours.place import Place
from tests.system.soak.hours.running import Length, Soak
from tests.system.soak.hours.tally import Tally
from tools.nodes import start_node

EMBEDDED = "embedded"
# As the node is one of an hour or more, its disk is a real one, and its Java compiles what it does often.
_HEAP = "512m"


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options.folder.mkdir(parents=True, exist_ok=True)
    tally, length = Tally(options.name, options.seed), Length(options.seconds)
    if options.name == EMBEDDED:
        return _code(Soak(Place(Directory(options.folder / "index"), tally), options.folder, length).run())
    with start_node(options.name, settings=SMALL, heap=_HEAP, port=options.port or None, is_measured=True) as node:
        tally.server = str(node.release)
        return _code(Soak(Place(node, tally), options.folder, length).run())


def _code(tally: Tally) -> int:
    return 0 if tally.is_right else 1


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
