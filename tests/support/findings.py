"""The findings of the doctor, checked for their form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash.live.doctor.facts import CODES, Finding


def levels(findings: Iterator[Finding] | Sequence[Finding]) -> list[tuple[str, str]]:
    """Return the codes and levels of findings, after checking that each is declared and says what to do."""
    found = list(findings)
    for each in found:
        assert each.level in CODES[each.code].levels
        assert each.message.endswith(".")
        if each.level != "ok":
            assert each.remedy.endswith((".", "?"))
    return [(each.code, each.level) for each in found]


def the_one(findings: Iterator[Finding] | Sequence[Finding], code: str) -> Finding:
    [found] = [each for each in findings if each.code == code]
    return found
