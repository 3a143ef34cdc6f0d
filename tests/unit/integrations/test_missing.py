"""Without its framework, a part says how to get it."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from es_simhash.errors import MissingExtraError


@pytest.mark.parametrize(
    ("part", "package", "extra"),
    [
        ("langchain", "langchain_core.documents", "langchain"),
        ("llama_index", "llama_index.core.schema", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_a_missing_framework_is_named_with_the_command_that_installs_it(
    part: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"es_simhash.integrations.{part}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"is not installed\. .* pip install '[^']+\[{extra}\]'"):
        import_module(f"es_simhash.integrations.{part}")
