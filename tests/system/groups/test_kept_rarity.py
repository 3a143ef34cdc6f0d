"""What was learnt of how rare features are can be kept in a file: then files go by it as an index does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Deduplicator, GroupOptions, Scheme
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.live.backfill.options import BackfillOptions
from es_simhash.testing.corpus import corpus, edited
from tests.support.commands import lines, run

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
    with Deduplicator(settings, rarity=rarity, threads=1).run(PART.items()) as duplicates:
        return pairs_in(list(duplicates.pairs()), duplicates.ids_of)


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
    index.backfill(BackfillOptions(learn=True))
    kept = tmp_path / "rarity.json"
    run("info", index.name, "--rarity", str(kept), cwd=tmp_path)

    form = json.loads(kept.read_text())
    by_table = similarities(index.scheme, form["rarity"])
    assert by_table != similarities(index.scheme, None)
    assert by_table == similarities(index.scheme, index.info().rarity.rarity)  # type: ignore[union-attr]
    for (first, second), similarity in by_table.items():
        [match] = [each for each in index.find(id=first, size=100) if each.id == second]
        assert match.similarity == similarity
    with index.group(GroupOptions()) as grouped:
        in_index = pairs_in(list(grouped.pairs()), lambda places: [ref.id for ref in grouped.refs(places)])
    assert by_table.items() <= in_index.items()

    pairs = tmp_path / "pairs.jsonl"
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(json.dumps({"cluster": name[1:], "ids": [name]}) for name in PART))
    some = json.dumps({"ids": {"values": list(PART)}})
    given = ("--labels", str(labels), "--filter", some, "--samples", "0", "--pairs", str(pairs))
    run("evaluate", "--index", index.name, *given, cwd=tmp_path)
    assert shown_in(pairs) == by_table

    files = write(tmp_path / "part.jsonl", PART)
    done = run("dedup", files, "--rarity", str(kept), "--pairs", str(pairs), cwd=tmp_path)
    assert "from 50 of 50 documents" in done.err
    assert shown_in(pairs) == by_table


def test_what_files_were_learnt_from_serves_other_files(tmp_path: Path) -> None:
    everything, part = write(tmp_path / "all.jsonl", TEXTS), write(tmp_path / "part.jsonl", PART)
    kept, pairs = tmp_path / "rarity.json", tmp_path / "pairs.jsonl"

    def found(*arguments: str) -> tuple[list[str], str]:
        done = run("dedup", *arguments, "--pairs", str(pairs), "--json", cwd=tmp_path)
        assert "summary" in lines(done)[-1]
        return [
            line for line in sorted(pairs.read_text().splitlines()) if int(json.loads(line)["first"][1:]) < 6
        ], done.err

    of_all, err = found(everything, "--rarity", str(kept))
    assert f"Learnt from 50 of 50 documents how rare features are; {kept} keeps it for other runs." in err
    before = kept.read_bytes()
    again, err = found(part, "--rarity", str(kept))
    assert again == of_all != found(part)[0]
    assert f"How rare features are is what {kept} says" in err
    assert kept.read_bytes() == before


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    part, kept = write(tmp_path / "part.jsonl", PART), tmp_path / "rarity.json"
    run("dedup", part, "--rarity", str(kept), cwd=tmp_path)
    done = run("dedup", part, "--rarity", str(kept), "--scheme", "short", cwd=tmp_path, code=2)
    assert f"{kept} cannot be read: This is not what was learnt of the rarity" in done.err
    kept.write_text("[]")
    assert "for the scheme" in run("dedup", part, "--rarity", str(kept), cwd=tmp_path, code=2).err
    kept.write_text("{")
    assert "cannot be read" in run("dedup", part, "--rarity", str(kept), cwd=tmp_path, code=2).err
    done = run("dedup", part, "--rarity", str(kept.with_name("new")), "--by", "simhash", cwd=tmp_path, code=2)
    assert "Leave --rarity out." in done.err


def test_an_index_that_nothing_was_learnt_of_has_no_table_to_write(tmp_path: Path) -> None:
    run("load", "articles", write(tmp_path / "part.jsonl", PART), "--field", "body", cwd=tmp_path)
    done = run("info", "articles", "--rarity", "rarity.json", cwd=tmp_path, code=4)
    assert "es-simhash backfill --learn" in done.err
    assert not (tmp_path / "rarity.json").exists()
