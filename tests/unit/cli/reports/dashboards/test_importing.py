"""Saved objects come to Kibana and OpenSearch Dashboards, or it is said why not."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.cli.reports.dashboards.importing import Importer
from es_simhash.cli.reports.dashboards.kibana import Kibana
from es_simhash.cli.reports.dashboards.saved_objects import saved_objects
from es_simhash.cli.reports.dashboards.subject import Subject
from es_simhash.errors import (
    AccessError,
    EngineError,
    MissingError,
    TooLargeError,
    UnavailableError,
    UnreachableError,
)
from tests.support.fake_kibana import kibana
from tests.support.http_server import Answer, listening

SUBJECT = Subject("articles", date_field="published", by_field="site", text_fields=("títle", "正文"))
OBJECTS = saved_objects(SUBJECT)


def imported(url: str, **known: Any) -> str:
    return Importer(Kibana.at(url), **known).run(OBJECTS)


@pytest.mark.parametrize("name", ["kibana", "opensearch"])
def test_all_objects_are_there_and_again_the_same(name: str) -> None:
    with kibana(name=name) as fake:
        done = imported(fake.url)
        assert imported(fake.url) == done
    assert done == f"{fake.url}/app/dashboards#/view/{SUBJECT.id_of('dashboard')}"
    assert list(fake.stored.values()) == OBJECTS


@pytest.mark.parametrize("name", ["kibana", "opensearch"])
@pytest.mark.parametrize("login", [None, "ApiKey abc"])
def test_a_ui_says_which_it_is_even_to_strangers(name: str, login: str | None) -> None:
    with kibana(name=name, login=login) as fake:
        assert Importer(Kibana.at(f"{fake.url}/base")).ui() == name


def test_a_server_that_is_neither_is_not_guessed_at() -> None:
    with kibana() as fake:
        pass
    with listening(lambda _: Answer({}, 200)) as url:
        assert Importer(Kibana.at(url)).ui() is None
    with pytest.raises(UnreachableError, match="Nothing answers"):
        Importer(Kibana.at(fake.url)).ui()


def test_below_a_base_path_and_in_a_space() -> None:
    with kibana(spaces=("team",)) as fake:
        done = imported(f"{fake.url}/base/s/team/app/home")
    assert done.startswith(f"{fake.url}/base/s/team/app/dashboards#/view/")
    assert {space for space, _, _ in fake.stored} == {"team"}


def test_the_page_is_that_of_the_dashboard_which_was_given_another_id() -> None:
    with kibana(spaces=("default", "team")) as fake:
        imported(fake.url)
        done = imported(f"{fake.url}/s/team")
    assert done.endswith(f"/s/team/app/dashboards#/view/new-{SUBJECT.id_of('dashboard')}")


def test_a_login_is_sent() -> None:
    with kibana(login="ApiKey abc") as fake:
        assert imported(fake.url, headers={"authorization": "ApiKey abc"})
        with pytest.raises(AccessError, match=r"401 unable to authenticate user\. Check user and password"):
            imported(fake.url, headers={"authorization": "ApiKey wrong"})
        with pytest.raises(AccessError, match="401"):
            imported(fake.url)


def test_a_space_that_is_not_there() -> None:
    with kibana() as fake, pytest.raises(MissingError, match=r"has no space 'nowhere'\. Check its identifier"):
        imported(f"{fake.url}/base/s/nowhere")
    assert fake.stored == {}


def test_a_space_that_the_login_may_not_look_at_is_left_to_the_import() -> None:
    with kibana(answer=(403, {"message": "Forbidden"})) as fake, pytest.raises(AccessError, match="refused the import"):
        imported(f"{fake.url}/s/team")


REFUSALS: list[tuple[int, Any, type[EngineError], str]] = [
    (400, {"message": "[request body]: expected"}, EngineError, r"400 \[request body\]: expected\. Correct"),
    (403, {"message": "Unable to bulk_create"}, AccessError, "Saved Objects Management"),
    (404, "<html>Not found</html>", MissingError, "404 without a reason that can be read"),
    (409, {"message": "conflict"}, EngineError, "under Saved Objects"),
    (413, {"message": "Payload content length greater"}, TooLargeError, "maxImportPayloadBytes"),
    (422, {"message": "Document belongs to a more recent version"}, EngineError, "older than 7.10"),
    (429, {}, UnavailableError, "Try again"),
    (500, {"error": "Internal Server Error"}, EngineError, "500 Internal Server Error. Look at its log"),
    (503, "Kibana server is not ready yet", UnavailableError, "It may be starting"),
    (200, "<html>Log in</html>", EngineError, "neither Kibana nor OpenSearch Dashboards"),
    (200, [], EngineError, "neither Kibana nor OpenSearch Dashboards"),
    (200, {"cluster_name": "x"}, EngineError, "neither Kibana nor OpenSearch Dashboards"),
    (200, {"success": False}, EngineError, "no reason given"),
]


@pytest.mark.parametrize(("status", "body", "error", "message"), REFUSALS)
def test_a_refusal_says_what_to_do(status: int, body: Any, error: type[EngineError], message: str) -> None:
    with kibana(answer=(status, body)) as fake, pytest.raises(EngineError, match=message) as raised:
        imported(fake.url)
    assert type(raised.value) is error


@pytest.mark.parametrize("body", ["[" * 100_000, {"message": "x" * (9 << 20)}], ids=["deep", "long"])
def test_an_answer_that_is_too_large_is_not_read(body: Any) -> None:
    with kibana(answer=(500, body)) as fake, pytest.raises(EngineError, match="without a reason that can be read"):
        imported(fake.url)


def test_objects_that_were_not_imported_are_listed() -> None:
    failures = [
        {"type": "dashboard", "id": "1", "title": "Near-duplicates", "error": {"type": "conflict"}},
        {"type": "search", "id": "2", "meta": {"title": "Only"}, "error": {"type": "missing_references"}},
        {"type": "index-pattern", "id": "3", "error": {"type": "unknown", "message": "Boom.", "statusCode": 500}},
        {"type": "visualization", "id": "4", "error": {"type": "conflict"}},
    ]
    with kibana(answer=(200, {"success": False, "errors": failures})) as fake, pytest.raises(EngineError) as raised:
        imported(fake.url)
    message = str(raised.value)
    assert "the dashboard 'Near-duplicates' (conflict); the search 'Only' (missing_references); " in message
    assert "the index-pattern '3' (unknown: Boom.); and 1 more. Correct that" in message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_reported_and_not_followed(status: int) -> None:
    with kibana() as other, kibana(answer=(status, "")) as fake:
        fake.headers["Location"] = f"{other.url}/login?next=secret"
        with pytest.raises(EngineError, match=f"sends to another address: {other.url}/login\\. Give"):
            imported(fake.url, headers={"authorization": "ApiKey abc"})
    assert other.received == []
