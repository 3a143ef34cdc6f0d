"""Deduplication alongside peers: their environments, what their processes may import, and what counts as found."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import dedup
from benchmarks.dedup_contenders import CONTENDERS, removed_of
from benchmarks.peers import PEERS, Peer
from tests import ROOT


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run to make environments; a folder is all that is made."""
    ran: list[list[str]] = []

    def run(command: list[str], check: bool) -> None:
        assert check
        ran.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(subprocess, "run", run)
    return ran


# ---- environments


def test_an_environment_is_made_once_and_again_for_other_requirements(
    commands: list[list[str]], tmp_path: Path
) -> None:
    peer = Peer("peer", "1.0", ("numpy==2.0",))
    python = peer.python(tmp_path)
    assert python == str(tmp_path / "peer" / "bin" / "python")
    venv = [sys.executable, "-m", "venv", "--clear", str(tmp_path / "peer")]
    assert commands == [venv, [python, "-m", "pip", "install", "--quiet", "peer==1.0", "numpy==2.0"]]
    assert peer.python(tmp_path) == python
    assert len(commands) == 2
    assert replace(peer, version="1.1").python(tmp_path) == python
    assert commands[2] == venv
    assert commands[3][5:] == ["peer==1.1", "numpy==2.0"]


def test_an_environment_that_could_not_be_filled_is_made_again(
    commands: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, run = Peer("peer", "1.0", ()), subprocess.run

    def without_network(command: list[str], check: bool) -> None:
        if "pip" in command:
            raise subprocess.CalledProcessError(1, command)
        run(command, check=check)

    monkeypatch.setattr(subprocess, "run", without_network)
    with pytest.raises(subprocess.CalledProcessError):
        peer.python(tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    peer.python(tmp_path)
    assert [command[2] for command in commands] == ["venv", "venv", "pip"]


def test_every_peer_is_a_contender_whose_packages_have_versions() -> None:
    assert set(PEERS) <= set(CONTENDERS)
    for peer in PEERS.values():
        assert all("==" in each for each in peer.requirements if "[" not in each)


def test_a_contender_imports_numpy_alone_before_it_runs() -> None:
    """Peers' environments have nothing else of what ours has."""
    code = (
        "import sys; before = {*sys.modules}; import benchmarks.dedup_contenders\n"
        "files = [name for name in {*sys.modules} - before if getattr(sys.modules[name], '__file__', None)]\n"
        "print(*sorted({name.split('.')[0] for name in files} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if not name.startswith("_")} == {"benchmarks", "numpy"}


def test_a_failing_process_reports_its_error() -> None:
    with pytest.raises(RuntimeError, match="no-such-file"):
        dedup._in_a_process(["es_simhash", "words", "no-such-file"], "0")


# ---- what is found


def test_removed_are_the_places_of_those_that_are_not_kept() -> None:
    assert removed_of(["4", "0", "2"], 6) == [1, 3, 5]
    assert removed_of([], 2) == [0, 1]


def test_a_pair_is_found_whichever_of_its_documents_is_removed() -> None:
    pairs = [(0, 5), (7, 2), (3, 4)]
    assert dedup.scores({5, 2}, pairs) == (2 / 3, 1)
    assert dedup.scores({0, 7, 8}, pairs) == (2 / 3, 2 / 3)


def test_a_pair_removed_whole_counts_once() -> None:
    assert dedup.scores({0, 5}, [(0, 5), (1, 2)]) == (1 / 2, 1 / 2)


def test_duplicates_are_the_planted_pairs_that_are_similar_enough() -> None:
    texts = ["a b c d e f g h i", "a b c d e f g h i j", "a b x"]
    assert dedup._duplicates(texts, [(0, 1), (2, 0)], str.split) == [(0, 1)]


def test_peers_that_cut_by_words_run_on_words_alone() -> None:
    assert set(PEERS) <= {name for name, _ in dedup._contenders("words").values()}
    assert not set(PEERS) & {name for name, _ in dedup._contenders("chars").values()}
