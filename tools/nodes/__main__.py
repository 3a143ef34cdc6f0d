"""Start one node to play with, or download servers beforehand; run as `python -m tools.nodes`."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from .download import fetch
from .node import NodeError, NodeUnavailable
from .releases import RELEASES
from .sources import start_node


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.fetch and len(options.names) > 1:
        parser.error("one node at a time runs in the foreground; name one, or add --fetch to download several")
    # A plain `kill` is to end in the same good order as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.fetch:
            for name in options.names:
                print(fetch(RELEASES[name]))
        else:
            run_in_foreground(options.names[0], port=options.port, security=options.security)
    except (NodeError, NodeUnavailable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def run_in_foreground(name: str, *, port: int | None, security: bool) -> None:
    """Start a node, say how to reach it, and keep it until Ctrl-C or its own end."""
    print(f"Starting {RELEASES[name]} ...", flush=True)
    with start_node(name, port=port, security=security) as node:
        print(f"{node} is ready.", flush=True)
        if node.credentials:
            print("User {}, password {}".format(*node.credentials), flush=True)
        if node.ca_certs:
            print(f"Certificate of its authority: {node.ca_certs}", flush=True)
        print("Stop it, and remove its data, with Ctrl-C.", flush=True)
        while node.is_running():
            time.sleep(1)
    raise NodeError(f"{node} has ended by itself.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.nodes", description=__doc__)
    parser.add_argument("names", nargs="+", choices=RELEASES, metavar="NAME", help=f"one of: {', '.join(RELEASES)}")
    parser.add_argument("--fetch", action="store_true", help="only download, into the cache")
    parser.add_argument("--port", type=int, help="the HTTP port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--security", action="store_true", help="ask for a password")
    return parser


if __name__ == "__main__":
    sys.exit(main())
