"""Translated pages: their code is that of the English page, and a hash says whether their prose has fallen behind.

``python -m tools.translations`` copies the code, and lists the pages that have fallen behind. After translating a page,
name it: ``python -m tools.translations docs/ja/tutorials/kibana.md`` stores the hash of the English page in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tools import ROOT

LANGUAGES = ("ja", "zh-CN")

_MADE_FROM = re.compile(r"<!-- translated from: (\S+)(?: (\w+))? -->")
# What all languages share: blocks of code, and the comments that say how they are run.
_CODE = re.compile(
    r"^( *)(`{3,}).*?^\1\2 *$|^<!-- (?:runs on|indices|files|removed|not run|only): .*? -->$", re.MULTILINE | re.DOTALL
)


def translations() -> Iterator[Path]:
    """Yield the pages of all languages that name the English page they were made from."""
    pages = [ROOT / f"README.{each}.md" for each in LANGUAGES]
    for path in (*pages, *sorted(page for each in LANGUAGES for page in (ROOT / "docs" / each).rglob("*.md"))):
        if path.exists() and _MADE_FROM.search(path.read_text(encoding="utf-8")):
            yield path


def with_current_code(page: str) -> str:
    """Return the text of a translated page with the code of the English page."""
    code = [found[0] for found in _CODE.finditer(_english(page))]
    places = len(_CODE.findall(page))
    if places != len(code):
        name = _made_from(page)[1]
        raise ValueError(f"A translation of {name} has {places} blocks and settings, not {len(code)}. Add what is new.")
    parts = iter(code)
    return _CODE.sub(lambda _: next(parts), page)


def has_fallen_behind(page: str) -> bool:
    """Return whether the prose of the English page has changed since the page was translated."""
    return _made_from(page)[2] != _hash(_english(page))


def marked_as_current(page: str) -> str:
    """Return the text of a translated page with the hash of the present English page."""
    found = _made_from(page)
    return page.replace(found[0], f"<!-- translated from: {found[1]} {_hash(_english(page))} -->")


def _made_from(page: str) -> re.Match[str]:
    found = _MADE_FROM.search(page)
    if found is None:
        raise ValueError("The page does not name its English page. Add <!-- translated from: PATH --> below its title.")
    return found


def _english(page: str) -> str:
    return (ROOT / _made_from(page)[1]).read_text(encoding="utf-8")


def _hash(page: str) -> str:
    prose = " ".join(_CODE.sub("", page).split())
    return sha256(prose.encode()).hexdigest()[:12]


if __name__ == "__main__":
    translated = {Path(name).resolve() for name in sys.argv[1:]}
    behind = 0
    for each in translations():
        text = with_current_code(each.read_text(encoding="utf-8"))
        if each in translated:
            text = marked_as_current(text)
        each.write_text(text, encoding="utf-8")
        if has_fallen_behind(text):
            print(f"{each.relative_to(ROOT)} has fallen behind {_made_from(text)[1]}.")
            behind = 1
    sys.exit(behind)
