"""Who deletes, as servers say it."""

from __future__ import annotations

from typing import Any

import pytest

from es_simhash.engines.base import run
from es_simhash.errors import AccessError, EngineError
from es_simhash.live.erase import run as erasing
from es_simhash.plans.operations import EngineInfo, GetInfo, GetResource, Operation


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
