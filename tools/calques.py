"""Phrases that nobody who writes English for a living would use here, and subjects of commits that are not commands.

``python -m tools.calques [PATH …]`` lists them; CONTRIBUTING.md says what to write instead.
"""

from __future__ import annotations

import re
import subprocess
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
    r"[Bb]esides?": "next to, with, in addition to, except",
    r"or (is|are) none": "or not",
    r"None of them": "No …",
    r"There it": "the subject itself",
    r"what (is|was) there": "what exists",
    r"from this [a-z]+ on": "minimum …, or later",
    r"[Ww](hoso|ho)ever": "anyone who",
    r"([Tt]here )?(is|are|was|were) no (?!longer|more|less|other)[a-z]+": "is not a …, has no …",
    r"in vain": "for nothing, needless",
    r"[Mm]eanwhile": "in the meantime, during the run, a second sentence",
    r"anew": "again, a new …",
    r"by (their |the |its )?texts": "by comparing texts, in the texts",
    r"(?<!##\x20)What (is|are|was|were) (?![^.?!]*\?)": "a noun: the documents, the values",
    r"Where [^.,;:()|]{3,140}, (?!and (what|as)|as a target|tried)": "If …,",
}
# A comment goes on at the next line after its sign.
_ANY = re.compile(rf"\b({'|'.join(CALQUES)})(?:\b|(?<=\s))".replace(" ", r"\s+(?:(?:#|//[/!]?)\s+)?"))
# "There is no …" is plain English.
_PLAIN = re.compile(r"[Tt]here\s")
# Data of examples is not prose.
_DATA = re.compile(r"^\{.*$", re.MULTILINE)

# What is not ours to write, or is about the phrases themselves; texts whose fingerprints are permanent.
_EXCEPT = (
    "tools/calques.py",
    "tests/unit/tools/test_calques.py",
    "tools/golden.py",
    "LICENSE",
    "tests/data/",
    "native/target/",
)
_FOLDERS = ("benchmarks", "compose", "deploy", "docs", "es_simhash", "mappings", "native", "tests", "tools")
_TYPES = (".py", ".md", ".rs", ".sh", ".yml", ".toml", "Makefile")

# The last commit before subjects had rules.
_BEFORE = "377f743ebc5c"
MOST_CHARACTERS = 72
# Verbs that end as other forms do.
_COMMANDS = (
    "address",
    "bring",
    "cross",
    "embed",
    "express",
    "feed",
    "focus",
    "need",
    "pass",
    "press",
    "process",
    "speed",
)


def calques(*paths: str) -> Iterator[str]:
    """Find the calques of the repository, or of these files and folders of it: ``file:line: phrase``."""
    pages = [path for path in ROOT.iterdir() if path.is_file()]
    for path in sorted([*pages, *(path for folder in _FOLDERS for path in (ROOT / folder).rglob("*"))]):
        name = str(path.relative_to(ROOT))
        if name.endswith(_TYPES) and name.startswith(paths or "") and not name.startswith(_EXCEPT) and path.is_file():
            yield from _in_file(name)
    if not paths:
        yield from (f"commit {each}" for each in _subjects() if problem(each.split(maxsplit=1)[1]))


def _in_file(name: str) -> Iterator[str]:
    text = _DATA.sub("", (ROOT / name).read_text(encoding="utf-8").replace("_", " "))
    for found in phrases(text):
        yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {' '.join(found[0].split())}"


def phrases(text: str) -> Iterator[re.Match[str]]:
    """Yield the calques of a text."""
    for found in _ANY.finditer(text):
        if not _PLAIN.match(found[0]):
            yield found


def _subjects() -> list[str]:
    """Return the commits that the rules hold for, each with its subject; none outside of a clone that has them."""
    command = ["git", "-C", str(ROOT), "log", "--no-merges", "--format=%h %s", f"{_BEFORE}.."]
    try:
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def problem(subject: str) -> str | None:
    """Return why the subject of a commit breaks the rules; None if it keeps them."""
    first = subject.split(maxsplit=1)[0].lower()
    if len(subject) > MOST_CHARACTERS:
        return f"more than {MOST_CHARACTERS} characters"
    if subject[0].islower() or subject.endswith("."):
        return "not a capital at its beginning, or a full stop at its end"
    if first.endswith(("s", "ed", "ing")) and first not in _COMMANDS:
        return "not a command, such as Add"
    return None


if __name__ == "__main__":
    for each in calques(*sys.argv[1:]):
        print(each)
