"""What an agent is shown of documents and their differences has a limit."""

from __future__ import annotations

import pytest

from es_simhash import Scheme

pytest.importorskip("mcp")

from es_simhash.integrations.mcp.server import differences, shortened

STORM = "The storm has left many houses along the coast without power since Monday night."


def test_long_values_are_cut_and_say_so() -> None:
    short = {"a": "x" * 500, "b": [1, None], "c": {"d": 1.5}}
    assert shortened(short) == short
    assert shortened({"a": ["x" * 1501]}) == {"a": ["x" * 500 + "… (1,001 more characters)"]}
    assert shortened({"a": list(range(30))}) == {"a": list(range(20))}


def test_differences_are_marked_with_some_context() -> None:
    assert differences(Scheme(), STORM, STORM) == ""
    assert differences(Scheme(), STORM, STORM.replace("Monday", "Sunday")).endswith(
        "power since [-Monday-]{+Sunday+} night."
    )
    far = " ".join(f"word{n}" for n in range(200))
    marked = differences(Scheme(), f"{far} Monday", f"{far} Sunday")
    assert " characters … " in marked
    assert marked.endswith("[-Monday-]{+Sunday+}")
    assert len(marked) < 200
    assert len(differences(Scheme(), far, " ".join(f"other{n}" for n in range(9000)))) < 3000
