"""The page of benchmarks, and another one."""

from __future__ import annotations

import re

from tests import ROOT

BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def with_another_backfill() -> str:
    """The page as it would be, had a backfill of a million been done at 9,999 documents a second."""
    million = r"(### Backfills by size.*?\| 1,000,000 \| )[\d,]+"
    changed, times = re.subn(million, r"\g<1>9,999", BENCHMARKS, flags=re.S)
    assert times == 1
    return changed
