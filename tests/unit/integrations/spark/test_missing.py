"""Without what Spark needs, the error says how to get it."""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module

import pytest

from es_simhash.errors import MissingExtraError


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "pandas"])
@pytest.mark.parametrize("module", ["job", "fields"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    missing: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("es_simhash.integrations.spark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(MissingExtraError, match=rf"{missing}.* pip install '[^']+\[spark\]'"):
        import_module(f"es_simhash.integrations.spark.{module}")
