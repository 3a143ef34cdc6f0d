"""A rarity table can be kept in a file: files are then compared by it, as an index is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Scheme, dedup
from es_simhash.cli.jobs.files import write_rarity
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.scheme.rarity import NAME
from tests.support.commands import lines, run
from tests.support.corpus import corpus, edited

ORIGINALS = [each["body"] for each in corpus()]
TEXTS = {
    **{f"o{i}": text for i, text in enumerate(ORIGINALS)},
    **{f"c{i}": edited(corpus()[i], 5, seed=i)["body"] for i in range(20)},
}
# Of these alone, rarity would be another.
PART = {name: text for name, text in TEXTS.items() if int(name[1:]) < 6}


def pairs_in(found: list[Any], ids: Callable[[list[int]], list[str]]) -> dict[tuple[str, ...], float]:
    named = ((ids([int(each["first"]), int(each["second"])]), each) for pairs in found for each in pairs)
    return {tuple(sorted(both)): float(pair["similarity"]) for both, pair in named}


def similarities(settings: Scheme, rarity: Any) -> dict[tuple[str, ...], float]:
    with dedup(PART.items(), scheme=settings, rarity=rarity, threads=1) as duplicates:
        return pairs_in(list(duplicates.pairs()), duplicates.corpus.named)


def shown_in(pairs: Path) -> dict[tuple[str, ...], float]:
    rows = map(json.loads, pairs.read_text().splitlines())
    return {tuple(sorted((each["first"], each["second"]))): each["similarity"] for each in rows}


def write(path: Path, texts: dict[str, str]) -> str:
    path.write_text("\n".join(json.dumps({"id": name, "body": text}) for name, text in texts.items()))
    return str(path)


def test_files_go_by_the_table_of_an_index(
    engine: Engine, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from es_simhash.cli.options.target import Target

    monkeypatch.setattr(Target, "connect", lambda *_: engine)
    monkeypatch.setattr(engine, "close", lambda: None)
    index = Index(names(), engine, scheme=Scheme(), fields=["body"])
    index.init()
    index.add(({"_id": name, "body": text} for name, text in TEXTS.items()), refresh=True)
    table = index.learn().rarity.id
    kept = tmp_path / "rarity.json"
    learnt = index.info().rarity
    assert learnt is not None
    write_rarity(str(kept), learnt, index.scheme)

    form = json.loads(kept.read_text())
    by_table = similarities(index.scheme, form["rarity"])
    assert by_table != similarities(index.scheme, None)
    assert by_table == similarities(index.scheme, index.info().rarity.rarity)  # type: ignore[union-attr]
    for (first, second), similarity in by_table.items():
        [match] = [each for each in index.find(id=first, size=100) if each.id == second]
        assert match.similarity == similarity
    with index.group() as grouped:
        in_index = pairs_in(list(grouped.pairs()), lambda places: [ref.id for ref in grouped.corpus.refs.take(places)])
    assert by_table.items() <= in_index.items()

    pairs = tmp_path / "pairs.jsonl"
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(json.dumps({"cluster": name[1:], "ids": [name]}) for name in PART))
    some = json.dumps({"ids": {"values": list(PART)}})
    given = ("--labels", str(labels), "--filter", some, "--pairs", str(pairs))
    run("evaluate", index.name, *given, cwd=tmp_path)
    assert shown_in(pairs) == by_table

    files = write(tmp_path / "part.jsonl", PART)
    done = run("dedup", files, "--rarity", str(kept), "--pairs", str(pairs), "--verbose", cwd=tmp_path)
    assert f"The rarity table {table} weights the texts." in done.err
    assert shown_in(pairs) == by_table


def test_what_is_learnt_of_files_serves_other_files_and_is_what_an_index_learns(tmp_path: Path) -> None:
    everything, part = write(tmp_path / "all.jsonl", TEXTS), write(tmp_path / "part.jsonl", PART)
    kept, pairs = tmp_path / "rarity.json", tmp_path / "pairs.jsonl"

    def found(*arguments: str) -> tuple[list[str], str]:
        done = run("dedup", *arguments, "--pairs", str(pairs), "--json", cwd=tmp_path)
        rows = sorted(pairs.read_text().splitlines())
        table: str = lines(done)[-1]["summary"]["table"]
        return [row for row in rows if int(json.loads(row)["first"][1:]) < 6], table

    learnt = run("learn", everything, "-o", str(kept), "--json", cwd=tmp_path)
    [shown] = lines(learnt)
    assert "Learnt from 50 of 50 documents which phrases are common" in learnt.err
    before = kept.read_bytes()
    of_all, table = found(everything, "--rarity", str(kept))
    assert table == shown["table"]
    assert found(part, "--rarity", str(kept)) == (of_all, table)
    assert found(part)[1] == NAME
    assert found(part)[0] == found(everything)[0] != of_all
    assert kept.read_bytes() == before

    run("load", "articles", everything, "--field", "body", cwd=tmp_path)
    [in_index] = lines(run("learn", "articles", "--json", cwd=tmp_path))
    assert in_index["table"] == shown["table"]
    [info] = lines(run("info", "articles", "--json", cwd=tmp_path))
    assert info["table"] == info["rarity"]["table"] == shown["table"]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    part, kept = write(tmp_path / "part.jsonl", PART), tmp_path / "rarity.json"
    assert "does not exist" in run("dedup", part, "--rarity", str(kept), cwd=tmp_path, code=2).err
    run("learn", part, "--output", str(kept), cwd=tmp_path)
    done = run("dedup", part, "--rarity", str(kept), "--scheme", "short", cwd=tmp_path, code=2)
    assert f"{kept} cannot be read: This rarity table is for the scheme" in done.err
    kept.write_text("[]")
    assert "for the scheme" in run("dedup", part, "--rarity", str(kept), cwd=tmp_path, code=2).err
    kept.write_text("{")
    assert "cannot be read" in run("dedup", part, "--rarity", str(kept), cwd=tmp_path, code=2).err
    done = run("dedup", part, "--rarity", str(kept), "--distance", "3", cwd=tmp_path, code=2)
    assert "cannot be read" in done.err


def test_a_table_is_refused_where_nothing_asks_for_it(tmp_path: Path) -> None:
    part, kept = write(tmp_path / "part.jsonl", PART), tmp_path / "rarity.json"
    run("learn", part, "--output", str(kept), cwd=tmp_path)
    by_bits = ("--rarity", str(kept), "--distance", "3")
    assert "Leave --rarity out." in run("dedup", part, *by_bits, cwd=tmp_path, code=2).err
    run("load", "articles", part, "--field", "body", cwd=tmp_path)
    labels = write(tmp_path / "labels.jsonl", {})
    own = ("--rarity", str(kept))
    done = run("evaluate", "articles", "--labels", labels, *own, cwd=tmp_path, code=2)
    assert "An index has its own scheme, fields and table." in done.err
    assert "An index has its own rarity table" in run("explain", "articles", "o1", "c1", *own, cwd=tmp_path, code=2).err


def test_what_to_learn_from_is_one_index_or_files_with_a_file_to_write(tmp_path: Path) -> None:
    part = write(tmp_path / "part.jsonl", PART)
    assert "give --output" in run("learn", part, part, cwd=tmp_path, code=2).err
    assert "Drop --scheme and --field" in run("learn", part, "--field", "body", cwd=tmp_path, code=2).err
    strict = ("--scheme", "strict", "-o", "rarity.json")
    assert "learning has no effect" in run("learn", part, *strict, cwd=tmp_path, code=2).err


def test_two_texts_are_explained_by_a_given_table_or_the_built_in_one(tmp_path: Path) -> None:
    kept = tmp_path / "rarity.json"
    run("learn", write(tmp_path / "all.jsonl", TEXTS), "--output", str(kept), cwd=tmp_path)
    both = ("--text", TEXTS["o1"], "--text", TEXTS["c1"], "--json")
    [built_in], [given] = (lines(run("explain", *both, *more, cwd=tmp_path)) for more in ((), ("--rarity", str(kept))))
    assert (built_in["evidence"]["table"], built_in["before"]) == (NAME, None)
    assert given["evidence"]["table"] not in (NAME, None)
    assert built_in["evidence"]["similarity"]["verified"] != given["evidence"]["similarity"]["verified"]


def test_an_index_that_nothing_was_learnt_of_goes_by_the_built_in_table(tmp_path: Path) -> None:
    run("load", "articles", write(tmp_path / "part.jsonl", PART), "--field", "body", cwd=tmp_path)
    said = f"by the table {NAME}: none was learnt here"
    assert said in run("info", "articles", "--verbose", cwd=tmp_path).out
    assert said not in run("info", "articles", cwd=tmp_path).out
