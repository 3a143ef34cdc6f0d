"""Soak servers at once, each on a node of its own, and write the report; ``python -m tests.system.soak.hours``."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from es_simhash._core.json_codec import Json
from tests.system.soak.hours.one import EMBEDDED
from tests.system.soak.hours.report import page
from tools import ROOT
from tools.nodes import RELEASES

_FOLDER, _PAGE = ROOT / "build" / "soak", ROOT / "docs" / "soak.md"
_POLL_SECONDS, _EVERY_SECONDS, _END_SECONDS = 1.0, 300.0, 120.0


def main() -> int:
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not options.report_only:
        _run(options)
    soaks = [_state(options.folder / name) for name in options.servers]
    if found := [each for each in soaks if each]:
        options.page.write_text(page(found, f"make soak-hours HOURS={options.hours:g}"), encoding="utf-8")
        print(f"The report is {options.page}.", flush=True)
    for name, each in zip(options.servers, soaks, strict=True):
        print(_line(name, each), flush=True)
    return 0 if all(each and each["is_complete"] and not each["broken"] + each["failures"] for each in soaks) else 1


def _run(options: argparse.Namespace) -> None:
    """Run a soak of each server, until all have ended."""
    processes = [_begun(name, options) for name in options.servers]
    shown = time.monotonic()
    try:
        while any(each.poll() is None for each in processes):
            time.sleep(_POLL_SECONDS)
            if time.monotonic() - shown > _EVERY_SECONDS:
                shown = time.monotonic()
                for name in options.servers:
                    print(_line(name, _state(options.folder / name)), flush=True)
    except KeyboardInterrupt:
        print("Interrupted.", flush=True)
    finally:
        _end(processes)


def _begun(name: str, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    folder: Path = options.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = ["--seconds", str(options.hours * 3_600), "--seed", str(options.seed), "--folder", str(folder)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.system.soak.hours.one", name, *given],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
        )


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for each in processes:
        each.terminate()
    for each in processes:
        try:
            each.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait()


def _state(folder: Path) -> Json | None:
    try:
        state: Json = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return state


def _line(name: str, state: Json | None) -> str:
    if state is None:
        return f"{name}: nothing; see its log"
    counts = f"{state['checkpoints']} checkpoints, {sum(state['faults'].values())} faults"
    wrong = f"{len(state['broken'])} broken, {len(state['failures'])} failures of the harness"
    return f"{name}: {state['seconds'] / 60:.0f} min, {counts}; {wrong}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.system.soak.hours", description=__doc__)
    parser.add_argument("servers", nargs="+", choices=[*RELEASES, EMBEDDED], metavar="SERVER")
    parser.add_argument("--hours", type=float, default=2.0, help="how long (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="what is drawn at random")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where logs and states are kept")
    parser.add_argument("--page", type=Path, default=_PAGE, help="where the report is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing; report on what was kept")
    return parser


if __name__ == "__main__":
    sys.exit(main())
