"""Addresses of pages lead where they say, in both UIs."""

from __future__ import annotations

import re
import string
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.urls import credentials
from es_simhash.cli.reports.dashboards.kibana import Kibana, rison
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.errors import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = st.text(string.ascii_letters, min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def parsed(text: str) -> Any:
    """Rison read by its definition: https://github.com/Nanonid/rison."""
    value, rest = _value(text)
    assert rest == ""
    return value


def _value(text: str) -> tuple[Any, str]:
    if text[:2] in ("!n", "!t", "!f"):
        return {"!n": None, "!t": True, "!f": False}[text[:2]], text[2:]
    if text.startswith("!("):
        items, rest = [], text[2:]
        while not rest.startswith(")"):
            item, rest = _value(rest.removeprefix(","))
            items.append(item)
        return items, rest[1:]
    if text.startswith("("):
        found, rest = {}, text[1:]
        while not rest.startswith(")"):
            key, _, rest = rest.removeprefix(",").partition(":")
            found[key], rest = _value(rest)
        return found, rest[1:]
    if text.startswith("'"):
        said, place = "", 1
        while text[place] != "'":
            place += text[place] == "!"
            said, place = said + text[place], place + 1
        return said, text[place + 1 :]
    end = next((place for place, character in enumerate(text) if character in ",)"), len(text))
    return int(text[:end]), text[end:]


@given(VALUES)
def test_rison_says_what_it_was_made_of(value: Any) -> None:
    assert parsed(rison(value)) == value


def test_rison_as_the_uis_write_it() -> None:
    state = {"columns": ["_source"], "isDirty": False, "query": {"query": "it's 100%!"}, "from": None, "n": 3}
    assert rison(state) == "(columns:!('_source'),isDirty:!f,query:(query:'it!'s 100%!!'),from:!n,n:3)"


def states(address: str) -> dict[str, Any]:
    """What the part after # says, by the name of each state."""
    _, _, asked = urlsplit(address).fragment.partition("?")
    return {name: parsed(unquote(value)) for name, _, value in (each.partition("=") for each in asked.split("&"))}


@given(TEXT.filter(bool))
def test_a_link_asks_for_exactly_its_group(group: str) -> None:
    address = Kibana.at("http://localhost:5601").group(Subject("articles"), group)
    assert not set(address) & set(" \"'<>\\^`{|}\n\t")
    query = states(address)["_a"]["query"]
    assert query["language"] == "kuery"
    name, _, phrase = query["query"].partition(": ")
    assert name == "dedup.group"
    assert phrase[0] == phrase[-1] == '"'
    assert re.sub(r"\\(.)", r"\1", phrase[1:-1]) == group


def test_a_link_is_of_all_times_and_to_the_data_view_of_the_dashboard() -> None:
    subject = Subject("articles", space="team")
    found = states(Kibana.at("http://localhost:5601/s/team").group(subject, "x"))
    assert found["_g"]["time"] == {"from": "1900-01-01T00:00:00.000Z", "to": "now+1d"}
    assert found["_a"]["index"] == subject.data_view_id


def test_a_link_leads_to_a_page_that_all_versions_have() -> None:
    tenant = Kibana.at("http://h", tenant="a b")
    assert tenant.group(Subject("articles"), "x").startswith("http://h/app/discover?security_tenant=a%20b#/?_g=")


def test_a_link_shows_the_canonical_document_first_and_how_near_the_others_are() -> None:
    subject = Subject("articles", prefix="own", measure="distance", text_fields=("title", "正文"))
    found = states(Kibana.at("http://h").group(subject, "x"))["_a"]
    assert found["columns"] == ["own.canonical", "own.is_canonical", "own.distance", "title", "正文"]
    assert found["sort"] == [["own.canonical", "asc"], ["own.is_canonical", "desc"]]


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://localhost:5601", "http://localhost:5601/app/dashboards#/view/a%20b"),
        ("http://localhost:5601/", "http://localhost:5601/app/dashboards#/view/a%20b"),
        ("https://me:secret@h/base/app/home#/x", "https://h/base/app/dashboards#/view/a%20b"),
        ("https://h/s/team/app/discover?x=1#/", "https://h/s/team/app/dashboards#/view/a%20b"),
        ("https://h/base/s/team", "https://h/base/s/team/app/dashboards#/view/a%20b"),
        ("https://h/s/default", "https://h/app/dashboards#/view/a%20b"),
        ("http://[::1]:5601/login?next=x", "http://[::1]:5601/app/dashboards#/view/a%20b"),
    ],
)
def test_the_address_of_any_page_will_do(url: str, page: str) -> None:
    assert Kibana.at(url).dashboard("a b") == page


def test_a_space_and_a_tenant_may_be_named_apart() -> None:
    assert Kibana.at("http://h", space="team").path("/api") == "http://h/s/team/api"
    tenant = Kibana.at("http://h", tenant="my team")
    assert tenant.dashboard("x") == "http://h/app/dashboards?security_tenant=my%20team#/view/x"
    assert tenant.path("/api") == "http://h/api"


@pytest.mark.parametrize(
    ("url", "named", "message"),
    [
        ("localhost:5601", {}, "cannot be read"),
        ("ftp://secret@h", {}, "cannot be read"),
        ("http://h:port", {}, "cannot be read"),
        ("http://", {}, "cannot be read"),
        ("http://me:sec/ret@h", {}, "cannot be read"),
        ("http://h/s/one", {"space": "two"}, "Drop one of them"),
        ("http://h", {"space": "a", "tenant": "b"}, "Drop one of them"),
        ("http://h", {"space": "My Team"}, "is no space"),
        ("http://h", {"tenant": "équipe"}, "cannot be sent in a header"),
    ],
)
def test_an_invalid_address_is_refused_and_not_repeated(url: str, named: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        Kibana.at(url, **named)
    assert "sec" not in str(raised.value)


def test_credentials_are_taken_from_the_url() -> None:
    assert credentials("https://me:p%40ss@h") == ("me", "p@ss")
    assert credentials("https://me@h") == ("me", None)
    assert credentials("https://h") is None
