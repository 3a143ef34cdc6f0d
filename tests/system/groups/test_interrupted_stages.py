"""Jobs that are interrupted in each of their stages leave nothing behind, and go on with what they keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import environment, run_alone
from tests.support.short_records import write_records

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are interrupted by signals")

# Interrupts the process, or lets it wait, once a stage has said how much is done.
STOPPED = """
import os, signal, sys
from contextlib import contextmanager
from es_simhash.cli.process import main
from es_simhash.cli.show.output import Output
how, stage, progress = sys.argv[1], sys.argv[2], Output.progress
def stop():
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    else:
        print("waiting", flush=True)
        sys.stdin.readline()
@contextmanager
def stopped(self, doing, *given):
    with progress(self, doing, *given) as advance:
        def once(*done, **more):
            global stage
            advance(*done, **more)
            if doing == stage:
                stage = None
                stop()
        yield once
Output.progress = stopped
main(sys.argv[3:])
"""
LINKING = ("Finding equal texts", "Sorting keys", "Comparing", "Linking")
KEPT = ("--state", "state")


def stopped(folder: Path, how: str, stage: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STOPPED, how, stage, *arguments],
        cwd=folder,
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(folder: Path, stage: str, *arguments: str) -> None:
    """Interrupt a command in a stage, and check that it leaves nothing but its state."""
    before = sorted(path.name for path in folder.iterdir())
    process = stopped(folder, "interrupt", stage, *arguments)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, (stage, said)
    assert "Interrupted." in said
    assert "Traceback" not in said
    assert set(before) <= {path.name for path in folder.iterdir()} <= {*before, "state"}, stage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_records(tmp_path)


def outputs(kind: str, *options: str) -> list[str]:
    return [word for option in options for word in (f"--{option}", f"{kind}.{option}")]


def same(folder: Path, *options: str) -> bool:
    return all((folder / f"kept.{each}").read_bytes() == (folder / f"alone.{each}").read_bytes() for each in options)


def test_dedup_can_be_interrupted_in_each_stage(folder: Path) -> None:
    names = ("output", "pairs", "canonical-only")
    dedup = ("dedup", "records.jsonl", "--field", "text", "--scheme", "short")
    alone = run_alone(*dedup, *outputs("alone", *names), cwd=folder)
    kept = (*dedup, *KEPT, *outputs("kept", *names, "report"))
    written = ("Making groups", "Reading groups", "Reading pairs", "Writing documents")
    # Each run goes on where the one before was interrupted.
    for stage in ("Reading", "Checking kept stages", *LINKING, "Estimating what is missed", *written):
        interrupt(folder, stage, *kept)
    done = run_alone(*kept, cwd=folder)
    assert same(folder, *names)
    resumed, rest = done.err.split("\n", 1)
    assert resumed.startswith("Resumed: state has comparisons of an interrupted run")
    assert rest == alone.err
    assert not (folder / "state").exists()


def test_group_can_be_interrupted_in_each_stage(folder: Path) -> None:
    names = ("output", "pairs", "delete-script")
    run_alone("load", "records", "records.jsonl", "--field", "text", cwd=folder)
    group = ("group", "records", "--canonical", "longest")
    # In slices, too: they decide the order in which documents are read, and so which of a pair is the first.
    run_alone(*group, "--state", "another", *outputs("alone", *names), cwd=folder)
    kept = (*group, *KEPT, *outputs("kept", *names, "report"))
    written = ("Making groups", "Reading groups", "Reading pairs", "Reading duplicates")
    for stage in ("Reading", *LINKING, *written):
        interrupt(folder, stage, *kept)
    run_alone(*kept, cwd=folder)
    assert same(folder, *names)
    assert list((folder / "state").iterdir()) == []


@pytest.mark.parametrize("verb", ["dedup", "group"])
def test_a_second_job_with_the_same_state_is_refused(folder: Path, verb: str) -> None:
    job = ["dedup", "records.jsonl", "--field", "text", *KEPT]
    if verb == "group":
        run_alone("load", "records", "records.jsonl", "--field", "text", cwd=folder)
        job = ["group", "records", *KEPT]
    first = stopped(folder, "wait", "Comparing", *job)
    assert first.stdin
    assert first.stdout
    assert first.stdout.readline() == "waiting\n"
    refused = run_alone(*job, cwd=folder, code=3)
    assert "Another job keeps its stages in state" in refused.err
    first.stdin.write("\n")
    _, said = first.communicate(timeout=120)
    assert first.returncode == 0, said
    assert run_alone(*job, cwd=folder).err
