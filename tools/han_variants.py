"""Write the classes of Han characters that are taken for one (see `es_simhash.text.normalise`).

They are the characters of OpenCC that are each other's traditional, simplified, Japanese, Taiwanese or Hong Kong form,
by its tables of single characters; of several forms the first counts. `OTHERS` are added. Only characters below U+10000
are taken.

Clone https://github.com/BYVoid/OpenCC at `COMMIT`, then: python -m tools.han_variants CLONE
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from textwrap import wrap

from es_simhash.text.normalise import HAN_VARIANTS
from tools import ROOT

COMMIT = "5249273a3e5606852f088c9a8b23522145d94f78"
TARGETS = (
    ROOT / "es_simhash" / "text" / HAN_VARIANTS,
    ROOT / "native" / "kernels" / "src" / "text" / "normalise" / HAN_VARIANTS,
)
TABLES = ("TSCharacters.txt", "TWVariants.txt", "HKVariants.txt", "JPShinjitaiCharacters.txt")
# Two forms of one character in print, which those tables do not join.
OTHERS = (
    *("靑青", "淸清", "鄕鄉", "飮飲", "頰頬", "顚顛", "吿告", "兪俞", "偸偷", "廐厩", "尙尚", "屛屏", "靭靱", "嶋島"),
    *("﨑崎", "髙高", "鬪闘", "欝鬱"),
)
HEADER = f"""\
# Han characters that are forms of one. The first of each word stands for the others. Written by tools/han_variants.py
# from the dictionaries of Open Chinese Convert (OpenCC), under the Apache License 2.0:
# https://github.com/BYVoid/OpenCC at the commit {COMMIT}.
"""


def classes(clone: str) -> list[str]:
    """Return the classes, each with the character that stands for it first."""
    joined: dict[str, str] = {}
    simplified: Counter[str] = Counter()

    def head(character: str) -> str:
        while (other := joined.get(character, character)) != character:
            character = other
        return character

    for table in TABLES:
        for one, other in _pairs(clone, table):
            joined[head(one)] = head(other)
            if table == TABLES[0]:
                simplified[other] += 1
    for form in OTHERS:
        joined[head(form[0])] = head(form[1])
    members = defaultdict(set)
    for character in [*joined, *joined.values()]:
        members[head(character)].add(character)
    order = (sorted(each, key=lambda one: (-simplified[one], one)) for each in members.values())
    return sorted("".join(each) for each in order if len(each) > 1)


def _pairs(clone: str, table: str) -> Iterator[tuple[str, str]]:
    """Yield each character with its first other form."""
    shown = subprocess.check_output(["git", "-C", clone, "show", f"{COMMIT}:data/dictionary/{table}"], text=True)
    for line in shown.splitlines():
        if line and not line.startswith("#"):
            one, forms = line.split("\t")
            # A character that is among its own forms stands for itself where simplified ones are concerned.
            others = forms.split() if table == TABLES[0] else [form for form in forms.split() if form != one]
            if others and others[0] != one and all(len(each) == 1 and ord(each) < 0x10000 for each in (one, others[0])):
                yield one, others[0]


if __name__ == "__main__":
    text = HEADER + "".join(f"{line}\n" for line in wrap(" ".join(classes(sys.argv[1])), width=76))
    for target in TARGETS:
        target.write_text(text, encoding="utf-8")
