"""Phrases that nobody who writes English for a living would use here, in what is written in the repository.

``python -m tools.calques [PATH …]`` lists them; CONTRIBUTING.md says what to write instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from tools import ROOT

# Each with what to write instead.
CALQUES = {
    r"(?<!\.)(tell|tells|told|telling|teller)": "show, say, report, describe, know, distinguish",
    r"of which": "whose, a second sentence",
    r"whom": "who, a noun",
    r"as (it|they|he) should be": "correct, complete",
    r"so (many|much)": "a number of, this many",
    r"[Nn]ear is": "minimum …, maximum …",
    r"(is|are|was) to be done": "must be done, remaining",
    r"in the order that": "in the order in which",
    r"besides": "also, as well, except",
    r"or (is|are) none": "or not",
    r"None of them": "No …",
    r"There it": "the subject itself",
    r"what (is|was) there": "what exists",
    r"from this [a-z]+ on": "minimum …, or later",
    r"[Ww](hoso|ho)ever": "anyone who",
}
_ANY = re.compile(rf"\b({'|'.join(CALQUES)})\b".replace(" ", r"\s+(?:#\s+)?"))

# What is not ours to write, or is about the phrases themselves.
_EXCEPT = ("tools/calques.py", "LICENSE", "tests/data/")
_FOLDERS = ("benchmarks", "compose", "docs", "es_simhash", "mappings", "tests", "tools")
_TYPES = (".py", ".md", ".sh", ".yml", ".toml", "Makefile")


def calques(*paths: str) -> Iterator[str]:
    """Find the calques of the repository, or of these files and folders of it: ``file:line: phrase``."""
    pages = [path for path in ROOT.iterdir() if path.is_file()]
    for path in sorted([*pages, *(path for folder in _FOLDERS for path in (ROOT / folder).rglob("*"))]):
        name = str(path.relative_to(ROOT))
        if name.endswith(_TYPES) and name.startswith(paths or "") and not name.startswith(_EXCEPT):
            yield from _in_file(name)


def _in_file(name: str) -> Iterator[str]:
    text = (ROOT / name).read_text(encoding="utf-8").replace("_", " ")
    for found in _ANY.finditer(text):
        yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {' '.join(found[0].split())}"


if __name__ == "__main__":
    for each in calques(*sys.argv[1:]):
        print(each)
