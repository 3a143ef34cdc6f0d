"""Before a client is loaded, a server is asked which one it needs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from es_simhash.engines.connect import apparent_kind, connect
from tests.support.http_server import Answer, Request, listening, serving

REFUSED = Answer("Unauthorized", 401, headers={"WWW-Authenticate": 'Basic realm="OpenSearch Security"'})
OPENSEARCH = Answer({"version": {"number": "3.8.0", "distribution": "opensearch"}}, product="none")
KINDS: list[tuple[Answer, Any]] = [
    (Answer({"version": {"number": "9.4.3"}}), "elasticsearch"),
    (Answer({"error": "security_exception"}, 401), "elasticsearch"),
    (OPENSEARCH, "opensearch"),
    (REFUSED, "opensearch"),
    (Answer("Forbidden", 403, "text/plain", product="none"), None),
    (Answer([1], product="none"), None),
    (Answer(b"\xff\x00", product="none"), None),
    (Answer(b"[" * 60_000, product="none"), None),
]


@pytest.mark.parametrize(("answer", "kind"), KINDS)
def test_a_server_shows_its_kind_to_strangers(answer: Answer, kind: str | None) -> None:
    with serving(answer) as server:
        assert apparent_kind(server.url) == kind
        assert server.requests == ["GET /"]


def test_a_stranger_shows_no_login() -> None:
    asked: list[dict[str, str]] = []

    def answer(request: Request) -> Answer:
        asked.append(request.headers)
        return OPENSEARCH

    with listening(answer) as url:
        connect(url, basic_auth=("user", "s3cret")).close()
    first, second = asked
    assert "authorization" not in first
    assert "authorization" in second


def test_a_server_that_is_not_there_shows_nothing() -> None:
    with serving(OPENSEARCH) as server:
        url = server.url
    assert apparent_kind(url) is None


@pytest.mark.parametrize(
    ("answer", "needed", "other"),
    [(OPENSEARCH, "opensearchpy", "elasticsearch"), (KINDS[0][0], "elasticsearch", "opensearchpy")],
)
def test_only_the_client_that_is_needed_is_loaded(answer: Answer, needed: str, other: str) -> None:
    code = (
        "import sys; from es_simhash.engines.connect import connect; connect(sys.argv[1]).close(); "
        "print([name for name in ('elasticsearch', 'opensearchpy') if name in sys.modules])"
    )
    with serving(answer) as server:
        done = subprocess.run([sys.executable, "-c", code, server.url], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([needed])
    assert other not in done.stdout
