"""The picture of the README, drawn of what the library really answers; ``python -m tools.overview_picture`` makes it.

Three documents are written to an index of the embedded engine, and the near-duplicates of the first are looked for.
"""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from es_simhash.index import Index
from es_simhash.plans.operations import GetDocuments
from es_simhash.scheme import query
from es_simhash.scheme.query import Criteria
from tools import ROOT

DIRECTORY = ROOT / "docs" / "pictures"
STORM = "A storm hit the coast last night. Trains stood still, and thousands had no power until noon, said the mayor."
DOCUMENTS = {
    "1": STORM,
    "2": STORM.replace("Trains", "Buses").replace("noon", "one"),
    "3": "The coast has a new museum of ships. It opens on Sunday, and children need no ticket in the first week.",
}
THEMES = {
    "light": {"page": "#ffffff", "card": "#f6f8fa", "line": "#d0d7de", "text": "#1f2328", "faint": "#57606a",
              "mark": "#9a3412", "key": "#0550ae", "good": "#116329"},
    "dark": {"page": "#0d1117", "card": "#161b22", "line": "#30363d", "text": "#e6edf3", "faint": "#8d96a0",
             "mark": "#ffa657", "key": "#79c0ff", "good": "#7ee787"},
}  # fmt: skip
WIDTH, COLUMN, GAP, CARD, TOP, LINE = 1000, 312, 20, 116, 44, 17
_CHARACTERS, _KEYS, _KEYS_A_LINE, _QUERY_LINES = 42, 20, 5, 3


@dataclass
class Seen:
    """The contents of the index, and what a search for the first document shows."""

    held: dict[str, dict[str, Any]]
    found: dict[str, str]
    candidates: int
    keys: int
    query: str
    shared: dict[str, set[str]] = field(default_factory=dict)


def seen() -> Seen:
    """Write the documents and search for them."""
    with tempfile.TemporaryDirectory() as folder:
        index = Index("articles", folder, fields=["body"])
        index.init()
        index.add(({"_id": id_, "body": body} for id_, body in DOCUMENTS.items()), refresh=True)
        found = index.find(id="1")
        replies = index.engine.perform(GetDocuments("articles", list(DOCUMENTS), ["dedup"]))
        scheme, fingerprint = index.scheme, index.scheme.fingerprint(STORM)
        clause = query.clause(scheme, fingerprint, Criteria.of(scheme, "minhash"), scored=False)
        index.engine.close()
    held = {reply["_id"]: reply["_source"]["dedup"] for reply in replies}
    keys = {id_: set(own["bands"].split()) for id_, own in held.items()}
    texts = {match.id: f"{match.similarity:.2f} similar by text, {match.distance} bits apart" for match in found}
    shared = {id_: keys["1"] & own for id_, own in keys.items() if id_ != "1"}
    return Seen(held, texts, found.candidates, len(keys["1"]), json.dumps(clause), shared)


def picture(what: Seen, theme: str) -> str:
    """Draw the picture as SVG."""
    colours = THEMES[theme]
    height = TOP + len(DOCUMENTS) * (CARD + GAP)
    rows = [*_titles(), *_texts(), *_fields(what), *_answers(what)]
    style = " ".join(f".{name} {{ fill: {colour}; }}" for name, colour in colours.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
            f"<title>{escape(_described(what))}</title>",
            f"<style>text {{ font: 12px ui-monospace, monospace; }} .head {{ font: bold 15px sans-serif; }} {style}"
            f" rect.card {{ stroke: {colours['line']}; }}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}"/>',
            *rows,
            "</svg>\n",
        ]
    )


def _described(what: Seen) -> str:
    return (
        "Documents of an index get fields of fingerprints. Documents that share a key are found by an ordinary query, "
        f"and compared by their texts: of three documents {len(what.found)} is a near-duplicate of the first."
    )


def _titles() -> Iterator[str]:
    for column, title in enumerate(("Your documents", "… get fields", "… and are found by them")):
        yield f'<text class="head text" x="{_left(column)}" y="26">{title}</text>'


def _texts() -> Iterator[str]:
    own = set(DOCUMENTS["1"].split())
    for row, (id_, text) in enumerate(DOCUMENTS.items()):
        lines = textwrap.wrap(text, _CHARACTERS)
        differing = set(text.split()) - own if id_ == "2" else set()
        yield _card(0, row)
        yield _line(0, row, 0, f"_id {id_}", "faint")
        for number, line in enumerate(lines, 1):
            yield _words(0, row, number, [(word, "mark" if word in differing else "text") for word in line.split()])


def _fields(what: Seen) -> Iterator[str]:
    for row, (id_, own) in enumerate(what.held.items()):
        keys = own["bands"].split()
        # Where keys are shared the picture shows some of them, and some that are not.
        common = what.shared.get(id_, set().union(*what.shared.values()))
        chosen = [*(key for key in keys if key in common), *(key for key in keys if key not in common)][:_KEYS]
        yield _card(1, row)
        yield _line(1, row, 0, f"dedup.simhash  {own['simhash']}", "faint")
        yield _line(1, row, 1, f"dedup.bands    {len(keys)} keys:", "faint")
        for number in range(0, len(chosen), _KEYS_A_LINE):
            some = [(key, "key" if key in common else "text") for key in chosen[number : number + _KEYS_A_LINE]]
            yield _words(1, row, 2 + number // _KEYS_A_LINE, some)


def _answers(what: Seen) -> Iterator[str]:
    for row, id_ in enumerate(DOCUMENTS):
        yield _card(2, row)
        if id_ not in what.shared:
            yield _line(2, row, 0, "$ es-simhash find articles --id 1", "text")
            for number, line in enumerate(textwrap.wrap(what.query, _CHARACTERS)[:_QUERY_LINES], 1):
                yield _line(2, row, number, line + (" …" if number == _QUERY_LINES else ""), "faint")
            yield _line(2, row, _QUERY_LINES + 2, f"candidates: {what.candidates}", "text")
            continue
        count = len(what.shared[id_])
        shares = f"shares {count} of {what.keys} keys" if count else "shares no key: never looked at"
        yield _line(2, row, 0, f"_id {id_}", "faint")
        yield _line(2, row, 1, shares, "key" if count else "text")
        if id_ in what.found:
            yield _line(2, row, 2, what.found[id_], "good")
            yield _line(2, row, 3, "→ a near-duplicate", "good")


def _left(column: int) -> int:
    return 12 + column * (COLUMN + GAP)


def _card(column: int, row: int) -> str:
    top = TOP + row * (CARD + GAP)
    return f'<rect class="card" x="{_left(column)}" y="{top}" width="{COLUMN}" height="{CARD}" rx="6"/>'


def _line(column: int, row: int, number: int, text: str, colour: str) -> str:
    return _words(column, row, number, [(text, colour)])


def _words(column: int, row: int, number: int, words: list[tuple[str, str]]) -> str:
    y = TOP + row * (CARD + GAP) + 22 + number * LINE
    spans = " ".join(f'<tspan class="{colour}">{escape(word)}</tspan>' for word, colour in words)
    return f'<text x="{_left(column) + 10}" y="{y}" xml:space="preserve">{spans}</text>'


def files() -> dict[Path, str]:
    """Draw the pictures, by file."""
    what = seen()
    return {DIRECTORY / f"overview-{theme}.svg": picture(what, theme) for theme in THEMES}


if __name__ == "__main__":
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
