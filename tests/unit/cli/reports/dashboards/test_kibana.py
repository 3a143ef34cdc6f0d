"""Addresses of pages lead where they say, in both UIs."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from es_simhash._core.urls import credentials
from es_simhash.cli.reports.dashboards.kibana import Kibana, rison
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.errors import InputError


def test_rison_as_the_uis_write_it() -> None:
    state = {"columns": ["_source"], "isDirty": False, "query": {"query": "it's 100%!"}, "from": None, "n": 3}
    assert rison(state) == "(columns:!('_source'),isDirty:!f,query:(query:'it!'s 100%!!'),from:!n,n:3)"


def test_a_link_asks_for_its_group_of_all_times_in_the_data_view_of_the_dashboard() -> None:
    subject = Subject("articles", prefix="own", measure="distance", space="team", text_fields=("title", "正文"))
    address = Kibana.at("http://localhost:5601/s/team").group(subject, 'a "b" \\c')
    assert not set(address) & set(" \"'<>\\^`{|}\n\t")
    page, _, asked = address.partition("#/?")
    assert page == "http://localhost:5601/s/team/app/discover"
    assert unquote(asked) == (
        "_g=(time:(from:'1900-01-01T00:00:00.000Z',to:'now+1d'))"
        f"&_a=(index:'{subject.data_view_id}',query:(language:'kuery',query:'own.group: \"a \\\"b\\\" \\\\c\"'),"
        "columns:!('_id','title','own.is_canonical','own.distance','正文'),"
        "sort:!(!('own.canonical','asc'),!('own.is_canonical','desc')),rowHeight:-1)"
    )


def test_a_link_leads_to_a_page_that_all_versions_have() -> None:
    tenant = Kibana.at("http://h/app/home?security_tenant=a+b#/")
    assert tenant.group(Subject("articles"), "x").startswith("http://h/app/discover?security_tenant=a%20b#/?_g=")


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://localhost:5601", "http://localhost:5601/app/discover"),
        ("http://localhost:5601/", "http://localhost:5601/app/discover"),
        ("https://me:secret@h/base/app/home#/x", "https://h/base/app/discover"),
        ("https://h/s/team/app/discover?x=1#/", "https://h/s/team/app/discover"),
        ("https://h/base/s/team", "https://h/base/s/team/app/discover"),
        ("https://h/s/default", "https://h/app/discover"),
        ("http://[::1]:5601/login?next=x", "http://[::1]:5601/app/discover"),
    ],
)
def test_the_address_of_any_page_will_do(url: str, page: str) -> None:
    assert Kibana.at(url).group(Subject("articles"), "x").startswith(f"{page}#/?")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:5601", "cannot be read"),
        ("ftp://secret@h", "cannot be read"),
        ("http://h:port", "cannot be read"),
        ("http://", "cannot be read"),
        ("http://me:sec/ret@h", "cannot be read"),
        ("http://h/s/one?security_tenant=two", "Name one of them"),
    ],
)
def test_an_invalid_address_is_refused_and_not_repeated(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        Kibana.at(url)
    assert "sec" not in str(raised.value)


def test_credentials_are_taken_from_the_url() -> None:
    assert credentials("https://me:p%40ss@h") == ("me", "p@ss")
    assert credentials("https://me@h") == ("me", None)
    assert credentials("https://h") is None
