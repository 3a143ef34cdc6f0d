"""``find --containing`` and ``--contained``, and what comes before and after them, on every engine."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Match, Matches, connect
from es_simhash._core.humanize import shortened
from es_simhash.plans.operations import DeleteIndex, Refresh
from tests.support.commands import lines, run
from tests.support.whole_indices import ENGINES, place

__all__ = ["place"]

WORDS = [f"word{number}" for number in range(300)]
TEXTS = {"long": " ".join(WORDS), "part": " ".join(WORDS[100:140]), "other": " ".join(reversed(WORDS))}


@pytest.fixture
def index(place: str, tmp_path: Path) -> Iterator[str]:
    """An index of texts; one is a part of another."""
    name = f"passages-{uuid.uuid4().hex[:10]}"
    text = "".join(json.dumps({"id": id_, "body": body}) + "\n" for id_, body in TEXTS.items())
    (tmp_path / "texts.jsonl").write_text(text, encoding="utf-8")
    run("load", name, "texts.jsonl", "--field", "body", "--scheme", "passages", cwd=tmp_path, ES_SIMHASH_URL=place)
    engine = connect(place)
    engine.perform(Refresh(name))
    yield name
    engine.perform(DeleteIndex(name))
    engine.close()


def test_by_id_and_by_text_as_json_and_as_a_table(place: str, index: str, tmp_path: Path) -> None:
    def find(*options: str) -> Any:
        return run("find", index, *options, cwd=tmp_path, ES_SIMHASH_URL=place)

    [found] = lines(find("--id", "part", "--containing", "--json"))
    [match] = found["matches"]
    assert (match["id"], match["containment"], match["similarity"], match["clause"]) == ("long", 1.0, None, None)
    assert (found["candidates"], found["complete"]) == (1, True)
    table = find("--text", TEXTS["long"], "--contained", "--source", "body").out.splitlines()
    assert table[1:] == [
        f"{index}\t{id_}\t1.00 contained\t{equal}\t{shortened(TEXTS[id_])}"
        for id_, equal in (("long", "equal"), ("part", ""))
    ]
    few = find("--text", "only a few words", "--containing")
    assert (few.out, "The text is short" in few.err) == ("No near-duplicates.\n", True)


def test_info_and_explain_show_passages(place: str, index: str, tmp_path: Path) -> None:
    where: Any = {"cwd": tmp_path, "ES_SIMHASH_URL": place}
    assert "passages\tof 6 words or more; 21 in a row are always found" in run("info", index, "--verbose", **where).out
    shown = run("explain", index, "part", "long", "--report", "why.html", **where).out
    assert "1.00 of part stands in long, 0.13 the other way round" in shown
    assert f"the longest has 40 words: “{TEXTS['part'][:300]}" in shown
    assert "The longest has 40 words." in (tmp_path / "why.html").read_text(encoding="utf-8")
    [found] = lines(run("explain", index, "part", "other", "--json", **where))
    assert (found["passages"]["of_first"], found["passages"]["words"]) == (0.0, 1)


def test_an_index_without_passages_gets_them_by_a_copy(place: str, index: str, tmp_path: Path) -> None:
    where: Any = {"cwd": tmp_path, "ES_SIMHASH_URL": place}
    plain, copy = f"{index}-plain", f"{index}-copy"
    run("load", plain, "texts.jsonl", "--field", "body", **where)
    done = run("find", plain, "--id", "part", "--containing", code=None, **where)
    assert "--scheme passages" in done.err
    run("reindex", plain, copy, "--scheme", "passages", **where)
    [found] = lines(run("find", copy, "--id", "part", "--containing", "--json", **where))
    assert [match["id"] for match in found["matches"]] == ["long"]
    engine = connect(place)
    for name in (plain, copy):
        engine.perform(DeleteIndex(name))
    engine.close()


@pytest.mark.parametrize("place", ENGINES[1:], indirect=True)
def test_what_a_pipeline_cannot_compute_is_refused_by_name(place: str, index: str, tmp_path: Path) -> None:
    done = run("scripts", "--pipeline", index, cwd=tmp_path, code=None, ES_SIMHASH_URL=place)
    assert "(passages)" in done.err


def test_a_list_that_ends_early_says_what_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{TEXTS['part']} {' '.join(f'own{i}x{number}' for number in range(40))}" for i in range(120)]
    lines = "".join(json.dumps({"id": str(number), "body": text}) + "\n" for number, text in enumerate(texts))
    (tmp_path / "texts.jsonl").write_text(lines, encoding="utf-8")
    run("load", "news", "texts.jsonl", "--field", "body", "--scheme", "passages", cwd=tmp_path)
    whole = run("find", "news", "--text", TEXTS["part"], "--containing", cwd=tmp_path)
    assert "There may be more copies" in whole.err
    half = " ".join([*WORDS[:8], *WORDS[100:140]])
    assert "There may be more" not in run("find", "news", "--text", half, "--containing", cwd=tmp_path).err
    cut_off = Matches((Match("news", "1", None, None, containment=0.8),), 20, complete=False)
    monkeypatch.setattr("es_simhash.index.Index.find", lambda *_, **__: cut_off)
    some = run("find", "news", "--text", half, "--containing", cwd=tmp_path)
    assert "There may be more: not all similar documents were compared." in some.err


def test_two_relations_at_once_are_a_mistake_in_usage(tmp_path: Path) -> None:
    done = run("find", "news", "--id", "1", "--containing", "--contained", cwd=tmp_path, code=2)
    assert "two searches" in done.err
    done = run("find", "news", "--id", "1", "--containing", "--estimate", cwd=tmp_path, code=None)
    assert "by passages" in done.err
