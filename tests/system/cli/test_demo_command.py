"""``es-simhash demo``, as a process."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from es_simhash.cli.demo import trial
from es_simhash.cli.demo.copies import COPIERS
from es_simhash.cli.demo.corpus import KINDS, make_corpus
from es_simhash.cli.process import run
from es_simhash.engines.connect import connect
from es_simhash.errors import MissingError
from es_simhash.plans.operations import DeleteIndex, GetMappings

if TYPE_CHECKING:
    from tools.nodes import Node

COMMAND = [sys.executable, "-m", "es_simhash"]
SMALL = ["demo", "--size", "300"]


def environment(temporary: Path, **more: str) -> dict[str, str]:
    """Variables by which temporary directories are made here, and a server is named that is not there."""
    return {**os.environ, "TMPDIR": str(temporary), "ES_SIMHASH_URL": "http://127.0.0.1:1", "COLUMNS": "200", **more}


def demo(temporary: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [*COMMAND, *SMALL, "--json", *arguments],
        env=environment(temporary),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def kept(temporary: Path) -> dict[str, Any]:
    """The report of a demo whose index is still there."""
    return demo(temporary, "--keep-index")


def check_report(report: dict[str, Any]) -> None:
    """What any run must have found."""
    counts = [report["planted"][kind] for kind in ("copy", "variant", "edited", "reordered")]
    found = Counter(report["ways"][0]["found"])
    assert [found[kind] for kind in ("copy", "variant", "edited", "reordered")] == counts
    for kind, planted in report["planted"].items():
        missed = sum(each["count"] for each in report["missed"] if each["kind"] == kind)
        if kind not in ("template", "boilerplate"):
            assert planted == report["ways"][0]["found"][kind] + missed
    for each in report["missed"]:
        is_below = each["highest"] < report["threshold"]
        assert is_below == (each["why"] == "below")
    assert {way["found"]["unrelated"] for way in report["ways"]} == {0}
    assert {way["found"]["boilerplate"] for way in report["ways"]} == {0}


def test_the_report_counts_what_was_made_and_loaded(kept: dict[str, Any]) -> None:
    documents = make_corpus(300)
    assert kept["languages"] == {"en": 100, "zh": 100, "ja": 100}
    assert kept["kinds"] == {kind: sum(each.kind == kind for each in documents) for kind in KINDS}
    assert kept["loading"]["done"] == 300
    assert kept["loading"]["per_second"] == pytest.approx(300 / kept["loading"]["seconds"])


def test_the_report_shows_what_was_found_and_what_was_missed(kept: dict[str, Any]) -> None:
    check_report(kept)


def test_stricter_options_take_fewer_templates_for_duplicates(kept: dict[str, Any]) -> None:
    found = {way["options"]: way["found"]["template"] for way in kept["ways"]}
    assert found[""] > found["--similarity 0.8"] >= found["--distance 3"]


def test_the_report_counts_what_group_would_hide(kept: dict[str, Any]) -> None:
    hidden = kept["duplicates"]
    assert {kind: hidden[kind] for kind in COPIERS} == {kind: kept["kinds"][kind] for kind in COPIERS}
    assert not hidden.keys() & {"original", "boilerplate"}
    assert 0 < hidden["template"] < kept["kinds"]["template"]


def test_a_pair_of_each_language_is_shown_with_what_differs(kept: dict[str, Any]) -> None:
    assert [each["language"] for each in kept["examples"]] == ["en", "zh", "ja"]
    assert all(re.search(r"\[-.+?-\]|\{\+.+?\+\}", each["difference"]) for each in kept["examples"])


def test_the_largest_groups_are_shown(kept: dict[str, Any]) -> None:
    sizes = [len(group["ids"]) for group in kept["largest"]]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert kept["groups"] > 3


def test_what_is_proposed_next_works_on_what_was_kept_and_removes_it(
    kept: dict[str, Any], temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for command in kept["next"]:
        program, *arguments = shlex.split(command)
        assert program == "es-simhash"
        assert run([*arguments, "--json"]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    info, edited, _, passage = outputs
    assert info["documents"] == 300
    assert edited["matches"]
    assert passage["matches"]
    assert len(list(temporary.iterdir())) == 1
    subprocess.run(shlex.split(kept["removal"]), check=True)
    assert list(temporary.iterdir()) == []


def test_people_read_it_all_and_nothing_is_left(tmp_path: Path) -> None:
    command = [*COMMAND, "demo", "--size", "100"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, encoding="utf-8", check=True)
    for part in ("Made 99 texts", "Loaded in", "Pairs found", "Missed", "English:", "Chinese:", "Japanese:", "groups"):
        assert part in done.stdout
    assert "es-simhash demo --keep-index" in done.stdout
    assert "made for the demo" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "demo"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    assert "made for the demo" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate()
    assert process.returncode == 130
    assert "Interrupted. What the demo created is removed." in reported
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_of_the_removal_says_how_to_remove_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trial, "search", interrupted)
    monkeypatch.setattr("es_simhash.cli.commands.demo._delete", interrupted)
    assert run(["demo", "--size", "100", "--url", str(tmp_path)]) == 130
    said = capsys.readouterr().err
    assert f"What the demo created may still exist. Remove it: rm -r {tmp_path}/es-simhash-demo-" in said


def test_an_interrupted_demo_removes_its_index_even_if_it_was_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def interrupted(index: Any, *_: Any) -> None:
        seen.extend(path.name for path in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(trial, "search", interrupted)
    assert run(["demo", "--size", "100", "--keep-index", "--url", str(tmp_path)]) == 130
    assert any(name.startswith("es-simhash-demo-") for name in seen)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("es-simhash-demo-")]


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
def test_on_a_server_the_index_is_gone_afterwards(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    node: Node = request.getfixturevalue(f"{kind}_node")
    report = demo(tmp_path, "--size", "100", "--url", node.url)
    check_report(report)
    engine = connect(node.url)
    with pytest.raises(MissingError):
        engine.perform(GetMappings(report["index"]))
    with pytest.raises(MissingError):
        engine.perform(GetMappings("es-simhash-demo-*"))
    engine.close()


def test_on_a_server_an_index_is_kept_if_asked_for(opensearch_node: Node, tmp_path: Path) -> None:
    report = demo(tmp_path, "--keep-index", "--size", "100", "--url", opensearch_node.url)
    assert run(shlex.split(report["next"][0])[1:]) == 0
    assert report["removal"].split()[-1] == f"{opensearch_node.url}/{report['index']}"
    engine = connect(opensearch_node.url)
    engine.perform(DeleteIndex(report["index"]))
    engine.close()
