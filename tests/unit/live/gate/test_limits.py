"""The page of gates states the limits as they are."""

from __future__ import annotations

import re

from es_simhash.live.gate import limits
from tests import ROOT

MB, KB = 1 << 20, 1 << 10


def test_the_page_of_gates_states_each_limit() -> None:
    page = (ROOT / "docs/how-to/gate.md").read_text(encoding="utf-8")
    found = re.search(r"## Limits\n(.*?)\n## ", page, re.DOTALL)
    assert found
    for stated in (
        f"{limits.BODY // MB} MB (`--max-body`); {limits.VALUES:,} values",
        f"{limits.DEPTH} levels; {limits.DIGITS:,} digits",
        f"{limits.DOCUMENTS:,} documents",
        f"{limits.AT_WORK // MB} MB, with what they take when parsed; the first {limits.UNCOUNTED // KB} kB",
        f"of {limits.BATCH_BYTES // MB} MB",
        f"| {limits.CONNECTIONS:,}, or as many",
        f"| {limits.SILENCE:.0f} s |",
        f"{limits.STALLED:.0f} s without another {limits.PROGRESS // KB} kB or its end; {limits.MAKES_WAY:.0f} s when",
        f"{limits.PAUSE / 3600:.0f} hour",
        f"{limits.UNREAD / 60:.0f} minutes; {limits.UNREAD_BYTES // MB} MB in all",
    ):
        assert stated in found[1]
    assert f"the headers exceed {limits.HEAD // KB} kB" in page
    assert f"more than {limits.WAITING:,} documents wait" in page
