"""Java, which all sessions of Spark share, ends with the tests, and leaves no files."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def java() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Java does not ask for TMPDIR.
        patch.setenv("SPARK_SUBMIT_OPTS", f"-Djava.io.tmpdir={tempfile.gettempdir()}")
        yield
    context: Any = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    if context is None or context._gateway is None:
        return
    gateway, context._gateway, context._jvm = context._gateway, None, None
    gateway.shutdown()
    gateway.proc.stdin.close()  # then it ends
    gateway.proc.wait()
