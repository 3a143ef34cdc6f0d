"""The pages of the documentation, read as the blocks of code in them.

CONTRIBUTING.md says how blocks are run; `tests.support.page_running` runs them.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests import ROOT
from tests.support import dev_tools
from tests.support.dev_tools import Request
from tools.translations import LANGUAGES

BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
DESIGN = (ROOT / "benchmarks" / "design.md").read_text(encoding="utf-8")
READMES = [ROOT / "README.md", *(ROOT / f"README.{language}.md" for language in LANGUAGES)]
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]

RUN = ("python", "console", "http", "cron")
PICTURES = ("text", "mermaid")
_FENCED = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<kind>\w*)(?P<more>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
# Comments directly above a block are about it.
_COMMENTS = re.compile(r"(<!-- [^<>]+ -->\s*)*\Z")
_SAID = re.compile(r"<!-- (not run|only): ([^<>]+?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    line: int
    """The line of the page before its text."""
    title: str | None = None
    """The file that it is written to."""
    not_run: str | None = None
    """Why it is not run."""
    only: str | None = None
    """The only servers that understand it."""
    output: Block | None = None
    """The block directly after it, which shows what it prints or what comes back."""


@dataclass(frozen=True)
class Page:
    """A page: its blocks, hidden ones too, and what its comments say about all of them."""

    path: Path
    text: str = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)

    def settings(self, name: str) -> list[str]:
        """Return the words of the page's comment ``<!-- name: words -->``."""
        found = re.search(rf"^<!-- {name}: (.+?) -->$", self.text, re.MULTILINE)
        return found[1].split() if found else []

    @property
    def place(self) -> str:
        """What its blocks run on: ``embedded``, ``servers`` (both), ``opensearch``, ``spark`` or ``frameworks``."""
        return next(iter(self.settings("runs on")), "embedded")

    @property
    def is_run(self) -> bool:
        """Whether any of its blocks is."""
        return any(block.kind in RUN and not block.not_run for block in self.blocks)


def read(path: Path) -> Page:
    """Return the page of a file."""
    text = path.read_text(encoding="utf-8")
    blocks: list[Block] = []
    end = 0
    for found in _FENCED.finditer(text):
        between = text[end : found.start()]
        block = _block(found, text.count("\n", 0, found.start("text")), between)
        is_output = blocks and not between.strip() and block.kind not in RUN and not block.title
        if is_output and blocks[-1].kind in RUN and not blocks[-1].output:
            block = replace(blocks.pop(), output=block)
        blocks.append(block)
        end = found.end()
    return Page(path, text, tuple(blocks))


def _block(found: re.Match[str], line: int, before: str) -> Block:
    title = re.search(r'title="([^"]+)"', found["more"])
    comments = _COMMENTS.search(before)
    said = dict(_SAID.findall(comments[0])) if comments else {}
    return Block(
        kind=found["kind"],
        text=textwrap.dedent(found["text"]) if found["indent"] else found["text"],
        line=line,
        title=title[1] if title else None,
        not_run=said.get("not run"),
        only=said.get("only"),
    )


@dataclass(frozen=True)
class Command:
    """A line that is typed into a shell."""

    line: str
    shown: str
    """The lines that it prints, as far as the page shows them."""
    code: int
    """How it ends."""


def commands(block: Block) -> list[Command]:
    """Return the commands of a block, or of a table of cron."""
    if block.kind == "cron":
        return [
            Command(line.split(maxsplit=5)[5], "", 0) for line in block.text.splitlines() if not re.match(r"\w+=", line)
        ]
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block.text, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"A block of commands begins with {parts[0]!r}. Begin it with a command, after '$ '.")
    return [_command(line, after) for line, after in zip(parts[1::2], parts[2::2], strict=True)]


def _command(line: str, after: str) -> Command:
    code = re.match(r"# exit (\d+)\n", after)
    return Command(line, after[code.end() :] if code else after, int(code[1]) if code else 0)


def requests(block: Block) -> list[Request]:
    """Return the requests of a block; a comment that says to paste a file of the repository stands for those of it."""
    pasted = re.sub(
        r"^# Paste (mappings/\S+)\n", lambda name: (ROOT / name[1]).read_text("utf-8"), block.text, flags=re.M
    )
    return dev_tools.requests(pasted)


def with_another_backfill() -> str:
    """Return the page of benchmarks as if a backfill of a million documents had done 9,999 a second."""
    million = r"(### Backfills by size.*?\| 1,000,000 \| )[\d,]+"
    changed, times = re.subn(million, r"\g<1>9,999", BENCHMARKS, flags=re.S)
    assert times == 1
    return changed
