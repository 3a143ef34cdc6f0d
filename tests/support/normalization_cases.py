"""The official cases of normalisation, as far as Unicode 13.0 has their characters."""

from __future__ import annotations

import lzma
from functools import cache

from tests import ROOT

CASES = ROOT / "tests" / "data" / "normalization_test.txt.xz"


@cache
def normalization_cases() -> list[tuple[str, str]]:
    """Texts, in all their equivalent forms, with their Normalisation Form KC."""
    lines = lzma.decompress(CASES.read_bytes()).decode("ascii").splitlines()
    cases = ([_text(column) for column in line.split(";")] for line in lines if not line.startswith("#"))
    return [(form, forms[3]) for forms in cases for form in forms]


def _text(code_points: str) -> str:
    return "".join(chr(int(each, 16)) for each in code_points.split())
