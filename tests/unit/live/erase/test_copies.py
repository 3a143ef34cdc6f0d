"""The list of copies, as it is written, edited and read.

Who deletes, as servers say it.

The searches by which copies are found: parts of texts, and fields that a scheme may have.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.rows import as_json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import run
from es_simhash.errors import AccessError, EngineError, FormatError, InputError
from es_simhash.live.erase import run as erasing
from es_simhash.live.erase.copies import Copies, Copy, EraseOptions, Source, by_keys, by_words, has_words, parts
from es_simhash.plans.operations import EngineInfo, GetInfo, GetResource, Operation
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Passages
from tests.support.corpus import corpus

COPY = Copy("i", "1", None, 3, 1, "near", "0", 0.75, 0.5, 1, "current", "abc", "The beginning")
OTHER = Copy("i", "2", "r", 4, 1, "equal", "0", 1.0, 1.0, 1.0, "none", "abd", "")
PLACES = frozenset({COPY.place, OTHER.place})
COPIES = Copies("i", (Source("0", "a text", {}),), EraseOptions(), (), (COPY, OTHER), PLACES, "now")
SOURCES = json.dumps(as_json(COPIES.sources))


def test_the_list_is_read_as_it_was_written() -> None:
    assert COPIES.confirmed_by(COPIES.to_lines()) == COPIES


def test_copies_whose_lines_are_removed_are_known_as_dropped() -> None:
    header, first, _ = COPIES.to_lines()
    confirmed = COPIES.confirmed_by([header, "", first])
    assert (confirmed.found, confirmed.reviewed) == ((COPY,), PLACES)
    assert COPIES.only(lambda copy: copy.id == "1") == confirmed


def test_the_list_has_no_text_but_beginnings() -> None:
    assert "a text" not in "".join(COPIES.to_lines())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Line 2 of the list is not a JSON object"),
        ("[]", "Line 2 of the list is not a JSON object"),
        ('{"id": "1"}', "Line 2 of the list has no index"),
        (json.dumps({**COPY.reviewed, "seq_no": "3"}), "has no seq_no"),
        (json.dumps({**COPY.reviewed, "seq_no": True}), "has no seq_no"),
        ('{"copies_of": 3}', "does not say what was searched for"),
        ('{"copies_of": {"sources": [{"sha256": []}], "found": []}}', "made for another text"),
        (f'{{"copies_of": {{"sources": {SOURCES}, "found": [["i", []]]}}}}', "something else than documents"),
    ],
)
def test_what_is_not_a_list_is_refused(line: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        COPIES.confirmed_by([next(COPIES.to_lines()), line])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*COPY.reviewed, "copies_of", "x"]), values, max_size=14))
def test_any_line_is_read_or_refused(form: dict[str, Any]) -> None:
    try:
        COPIES.confirmed_by([json.dumps({**COPY.reviewed, **form})])
    except FormatError:
        return


@pytest.mark.parametrize("given", [{"similarity": 0}, {"containment": 1.1}, {"similarity": True}, {"containment": "1"}])
def test_bars_are_shares(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"Choose a share|Give a number"):
        EraseOptions(**given)


class Server:
    """A server that answers one path."""

    def __init__(self, distribution: str, path: str, reply: Any) -> None:
        self.distribution, self.path, self.reply = distribution, path, reply

    def perform(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, GetInfo):
            if not self.distribution:
                raise AccessError("not allowed")
            return EngineInfo(self.distribution, (9,))
        assert isinstance(operation, GetResource)
        if operation.path != self.path:
            raise EngineError("no handler")
        return self.reply

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("distribution", "path", "reply", "name"),
    [
        ("elasticsearch", "/_security/_authenticate", {"username": "ann"}, "ann"),
        ("elasticsearch", "/_security/_authenticate", {"username": "ann", "api_key": {"name": "k"}}, "ann (API key k)"),
        ("opensearch", "/_plugins/_security/authinfo", {"user_name": "bo"}, "bo"),
        ("elasticsearch", "/_security/_authenticate", {"error": "disabled"}, "me (operating system)"),
        ("opensearch", "", {}, "me (operating system)"),
        ("embedded", "", {}, "me (operating system)"),
        ("", "", {}, "me (operating system)"),
    ],
)
def test_the_login_is_that_of_the_server_or_else_of_the_system(
    distribution: str, path: str, reply: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "getuser", lambda: "me")
    assert run(erasing.login(), Server(distribution, path, reply)) == name


def test_a_user_without_a_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(erasing, "getuser", nobody)
    assert run(erasing.login(), Server("embedded", "", {})) == "unknown"


TEXT = corpus(1)[0]["body"]


def terms(query: Any) -> set[str]:
    """Return the fields of all terms within a query."""
    if isinstance(query, list):
        return set().union(*map(terms, query))
    if not isinstance(query, dict):
        return set()
    return {*query.get("term", {}), *terms(list(query.values()))}


@pytest.mark.parametrize("gap", ["", " ", " … 😀 "])
@pytest.mark.parametrize("count", [1, 26, 27, 39, 40, 1_000, 2_600, 2_601, 20_000])
def test_each_stretch_of_half_a_part_lies_in_one_part(count: int, gap: str) -> None:
    words = [chr(0x4E00 + number) for number in range(count)]
    text = gap.join(words)
    cut = parts(text) or [text]
    half = max(13, -(-count // 200))
    assert all(any(gap.join(words[at : at + half]) in part for part in cut) for at in range(0, count, 37))
    assert len(cut) <= 200
    assert all(part.count(words[-1]) == (part == cut[-1]) for part in cut)


def test_a_short_text_has_no_parts() -> None:
    assert parts("") == parts("!") == parts("word " * 26) == []
    assert parts("word " * 27) == [" ".join(["word"] * count) for count in (26, 14)]


@pytest.mark.parametrize(
    ("text", "others"),
    [("A b-1", ["Ａ ｂ－１"]), ("Ａ b", ["A b", "Ａ ｂ"]), ("漢字", []), ("ｶﾀｶﾅ", ["カタカナ"])],
)
def test_letters_of_the_other_width_are_searched_for_as_well(text: str, others: list[str]) -> None:
    [query] = by_words(["body"], text)
    likes = [clause["more_like_this"]["like"] for clause in query["bool"]["should"]]
    assert likes == [[text], *([other] for other in others)]


def test_a_text_is_searched_for_by_all_its_keys() -> None:
    [query] = by_keys([Documents(Scheme(), ["title", "body"])], TEXT)
    assert query["bool"]["should"][0]["bool"]["minimum_should_match"] == 1
    assert terms(query) == {"dedup.blocks", "dedup.bands"}


def test_a_text_and_its_parts_are_searched_for_in_each_field() -> None:
    found = list(by_words(["title", "body"], TEXT))
    assert len(found) == 1 + len(parts(TEXT))
    for query in found:
        fields = [clause["more_like_this"]["fields"] for clause in query["bool"]["should"]]
        assert fields == [["title"], ["title"], ["body"], ["body"]]
    assert list(by_words([], TEXT)) == []


def test_schemes_are_asked_once_each_and_those_with_passages_by_their_keys() -> None:
    plain = Documents(Scheme(), ["body"])
    both = list(by_keys([plain, plain, Documents(replace(Scheme(), passages=Passages()), ["body"], "other")], TEXT))
    assert [terms(query) for query in both] == [
        {"dedup.blocks", "dedup.bands"},
        {"other.blocks", "other.bands"},
        {"other.passages"},
    ]


@pytest.mark.parametrize(
    ("field", "has"),
    [
        ({"type": "text"}, True),
        ({"type": "keyword"}, True),
        ({"type": "text", "index": False}, False),
        ({"type": "long"}, False),
        ({}, False),
    ],
)
def test_words_are_searched_for_where_a_field_has_them(field: dict[str, Any], has: bool) -> None:
    assert has_words({"properties": {"inner": {"properties": {"body": field}}}}, "inner.body") is has
    assert not has_words({}, "inner.body")


@pytest.mark.parametrize("preset", ["strict", "short", "default"])
def test_a_scheme_is_searched_by_the_keys_that_it_has(preset: str) -> None:
    [first, *_] = by_keys([Documents(Scheme.preset(preset), ["body"])], TEXT)
    assert terms(first) >= {"dedup.blocks"}
