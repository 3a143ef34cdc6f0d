"""With --numbers, or in an index that asks for them, no verb takes two volumes of a series for near-duplicates.

Those that count say how many.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from es_simhash import Scheme, Verification
from es_simhash.index import Index
from tests.support.commands import lines, run
from tests.support.volumes import TEXTS

FILE, INDEX = "volumes.jsonl", "volumes"
# An index whose scheme asks for numbers.
STRICT = "strict"
NUMBERS = ("--numbers", "1")
# The ids of documents that a verb puts together, and how many pairs it says that it refused; None if it counts none.
Put: TypeAlias = tuple[list[set[str]], int | None]


@dataclass
class Shelf:
    """A folder with the documents as a file, and an index of them."""

    folder: Path
    index: str = INDEX

    def run(self, *arguments: str, code: int | None = 0, stdin: str = "") -> Any:
        return run(*arguments, cwd=self.folder, code=code, stdin=stdin, ES_SIMHASH_URL=str(self.folder / "engine"))

    def json(self, *arguments: str, stdin: str = "") -> list[dict[str, Any]]:
        return lines(self.run(*arguments, "--json", stdin=stdin))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    rows = (json.dumps({"id": id_, "body": text}) + "\n" for id_, text in TEXTS.items())
    (shelf.folder / FILE).write_text("".join(rows), encoding="utf-8")
    (shelf.folder / "strict.json").write_text(
        replace(Scheme(), verification=Verification(numbers=1.0)).to_json(), encoding="utf-8"
    )
    shelf.run("load", INDEX, FILE, "--field", "body")
    shelf.run("load", STRICT, FILE, "--field", "body", "--scheme", "strict.json")
    return shelf


def ids(found: list[dict[str, Any]]) -> set[str]:
    return {each["id"] for each in found}


# --- what each verb puts together, of the first volume


def find(shelf: Shelf, *more: str) -> Put:
    [found] = shelf.json("find", shelf.index, "--id", "first", *more)
    return [{"first", *ids(found["matches"])}], found["refused"]


def explain(shelf: Shelf, *more: str) -> Put:
    pairs = [("first", other) for other in ("second", "copy")]
    found = [shelf.json("explain", shelf.index, *pair, *more)[0] for pair in pairs]
    near = [set(pair) for pair, each in zip(pairs, found, strict=True) if each["verdict"]["are_duplicates"]]
    return near, None


def explain_texts(shelf: Shelf, *more: str) -> Put:
    pairs = [("first", other) for other in ("second", "copy")]
    found = [shelf.json("explain", *(f"--text={TEXTS[id_]}" for id_ in pair), *more)[0] for pair in pairs]
    near = [set(pair) for pair, each in zip(pairs, found, strict=True) if each["verdict"]["are_duplicates"]]
    return near, None


def check(shelf: Shelf, *more: str) -> Put:
    """The documents are in the index already, and each is earlier in the file than the next."""
    found = shelf.json("check", shelf.index, FILE, *more)
    places = [(each["id"], each[place]) for each in found for place in ("in_index", "earlier")]
    return [{id_, *ids(each["matches"])} for id_, each in places], sum(each["refused"] for _, each in places)


def search(shelf: Shelf, *more: str) -> Put:
    [page] = shelf.json("search", shelf.index, "--query", '{"match_all": {}}', *more)
    return [{each["hit"]["_id"], *ids(each["similar"])} for each in page["hits"]], None


def gate(shelf: Shelf, *more: str) -> Put:
    given = (shelf.folder / FILE).read_text(encoding="utf-8")
    state = "state of " + "".join((shelf.index, *more))
    found = shelf.json(
        "gate", shelf.index, "--stdin", "--state", state, *more, stdin=given.replace('"id": "', '"id": "new ')
    )
    together = [{each["id"], *ids(each["duplicates"])} for each in found]
    return [{id_.removeprefix("new ") for id_ in each} for each in together], None


def group(shelf: Shelf, *more: str) -> Put:
    *groups, last = shelf.json("group", shelf.index, *more)
    return [ids(each["members"]) for each in groups], last["summary"]["refused"]


def dedup(shelf: Shelf, *more: str) -> Put:
    *groups, last = shelf.json("dedup", FILE, "--field", "body", *more)
    return [{*ids(each["members"])} for each in groups], last["summary"]["refused"]


def evaluate(shelf: Shelf, *more: str) -> Put:
    (shelf.folder / "labels.jsonl").write_text('{"cluster": 1, "ids": ["first", "copy"]}', encoding="utf-8")
    shelf.run("evaluate", FILE, "--labels", "labels.jsonl", "--pairs", "pairs.jsonl", *more)
    read = (shelf.folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    return [{pair["first"], pair["second"]} for pair in map(json.loads, read)], None


def mcp(shelf: Shelf, *more: str) -> Put:
    """The tools of the server, in this process."""
    pytest.importorskip("mcp")
    from es_simhash.integrations.mcp import server_of

    asked_for = {"numbers": float(more[1])} if more else {}
    with Index(shelf.index, str(shelf.folder / "engine")) as index:
        server = server_of(index, False)

        def asked(tool: str, **arguments: Any) -> dict[str, Any]:
            answer: Any = asyncio.run(server.call_tool(tool, {**arguments, **asked_for}))
            return dict(answer.structured_content)

        found = asked("find", id="first")
        checked = asked("check", documents=[{"_id": id_, "body": text} for id_, text in TEXTS.items()])
        grouped, sampled = asked("groups", members=20), asked("sample")
        together = [{"first", *ids(found["matches"])}]
        together += [{each["id"], *ids(each["in_index"]), *ids(each["earlier"])} for each in checked["documents"]]
        together += [ids(each["members"]) for each in grouped["largest"]]
        together += [{each["a"], each["b"]} for each in sampled["pairs"]]
        if asked("explain", a="first", b="second")["are_duplicates"]:
            together.append({"first", "second"})
    counts = [found["refused"], grouped["refused"], sampled["refused"]]
    return together, sum(counts) + sum(each["refused"] for each in checked["documents"])


VERBS: dict[str, Callable[..., Put]] = {
    "find": find,
    "find --field": lambda shelf, *more: find(shelf, "--prefix", "none", "--field", "body", *more),
    "explain": explain,
    "explain --text": explain_texts,
    "check": check,
    "search": search,
    "gate": gate,
    "group": group,
    "dedup": dedup,
    "evaluate": evaluate,
    "mcp": mcp,
}


# These go by what the index asks for.
BY_INDEX = ("check", "search", "gate")


def by_numbers(shelf: Shelf, verb: str) -> Put:
    """What a verb puts together where all numbers must agree."""
    if verb in BY_INDEX:
        return VERBS[verb](replace(shelf, index=STRICT))
    return VERBS[verb](shelf, *NUMBERS)


def with_two_volumes(together: list[set[str]]) -> Iterator[set[str]]:
    for each in together:
        if "second" in each and len(each) > 1:
            yield each


@pytest.mark.parametrize("verb", VERBS)
def test_volumes_are_near_duplicates_unless_their_numbers_must_agree(shelf: Shelf, verb: str) -> None:
    together, refused = VERBS[verb](shelf)
    assert list(with_two_volumes(together))
    assert not refused
    together, refused = by_numbers(shelf, verb)
    assert not list(with_two_volumes(together))
    assert {"first", "copy"} in together
    assert refused is None or refused > 0


SAID = "2 pairs are similar enough, but the numbers in the texts differ."


def test_summaries_show_how_many_pairs_were_refused(shelf: Shelf) -> None:
    said = SAID
    for verb in (("dedup", FILE, "--field", "body"), ("group", INDEX)):
        assert said not in shelf.run(*verb).err
        assert said in shelf.run(*verb, *NUMBERS).err
    assert said.replace("2 pairs are", "1 document is") in shelf.run("find", INDEX, "--id", "first", *NUMBERS).err
    assert said.replace("2 pairs", "6 pairs") in shelf.run("check", STRICT, FILE).err


def test_reports_say_how_much_must_agree_and_how_many_pairs_were_refused(shelf: Shelf) -> None:
    shelf.run("dedup", FILE, "--field", "body", "--report", "groups.html", *NUMBERS)
    page = (shelf.folder / "groups.html").read_text(encoding="utf-8")
    assert " and at least 1 of their numbers in common<" in page
    assert SAID in page


def test_an_explanation_has_the_share_of_numbers_in_all_its_forms(shelf: Shelf) -> None:
    asked = ("explain", INDEX, "first", "second", *NUMBERS)
    [found] = shelf.json(*asked)
    assert found["evidence"]["clause"] == "numbers"
    assert found["evidence"]["numbers"].pop("problem") in found["verdict"]["sentence"]
    assert found["evidence"]["numbers"] == {"least": 1.0, "value": 0.0}
    assert (found["evidence"]["changes"]["removed"], found["evidence"]["changes"]["added"]) == (
        ["17", "2019"],
        ["18", "2020"],
    )
    assert "\nnumbers: alike by 0.00; the minimum is 1\n" in shelf.run(*asked, "--report", "why.html").out
    assert "numbers alike" in (shelf.folder / "why.html").read_text(encoding="utf-8")


def test_thresholds_of_bits_are_evaluated_without_the_numbers(shelf: Shelf) -> None:
    together, _ = evaluate(shelf, "--distance", "0", "--similarity", "near", *NUMBERS)
    assert together == [{"first", "copy"}]


@pytest.mark.parametrize("verb", [("find", INDEX, "--id", "first"), ("group", INDEX), ("dedup", FILE)], ids=str)
def test_numbers_where_fingerprints_decide_are_refused(shelf: Shelf, verb: tuple[str, ...]) -> None:
    assert "Leave" in shelf.run(*verb, "--estimate", *NUMBERS, code=2).err
    assert "Numbers are in texts" in shelf.run(*verb, "--distance", "3", *NUMBERS, code=2).err


@pytest.mark.parametrize("verb", ["find", "explain", "group", "mcp"])
def test_0_switches_off_what_the_scheme_of_an_index_says(shelf: Shelf, verb: str) -> None:
    strict = replace(shelf, index=STRICT)
    together, _ = VERBS[verb](strict)
    assert not list(with_two_volumes(together))
    together, refused = VERBS[verb](strict, "--numbers", "0")
    assert list(with_two_volumes(together))
    assert not refused
