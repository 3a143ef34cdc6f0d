"""The files that pages of the documentation speak of as their reader's own."""

from __future__ import annotations

import csv
import gzip
import io
import json
from functools import cache
from typing import Any

from es_simhash.demo.corpus import Planted, make

_SITES = ("coast.example", "hills.example", "harbour.example")


def content(name: str) -> bytes:
    """What is in the file of this name; compressed, if it says so."""
    if name.endswith(".gz"):
        return gzip.compress(content(name.removesuffix(".gz")))
    return _FILES[name]().encode()


@cache
def _planted() -> list[Planted]:
    """Stories in three languages with copies, and others that only look like copies."""
    return make(300)


def _articles() -> list[dict[str, Any]]:
    return [
        {
            "id": str(number),
            "title": each.title,
            "body": each.body,
            "number": number,
            "published": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
            "site": _SITES[number % len(_SITES)],
        }
        for number, each in enumerate(_planted())
    ]


def _news() -> str:
    return _lines(_articles())


def _new() -> str:
    """Documents of which the index has some already."""
    return _lines([{**each, "id": f"new-{each['id']}"} for each in _articles()[:5]])


def _bulk() -> str:
    """The same as the body of a bulk request, without an index's name."""
    actions = ([{"index": {"_id": each.pop("id")}}, each] for each in _articles())
    return _lines([line for action in actions for line in action])


def _more() -> str:
    return _table([["id", "title", "body"], *([f"more-{each['id']}", each["title"], each["body"]] for each in _articles()[:9])])


def _clusters() -> str:
    return _lines([{"id": id_, "cluster": family} for id_, family in _families() if family])


def _pairs() -> str:
    """Each copy and its original, and others that are none."""
    first: dict[str, str] = {}
    pairs = [(first.setdefault(family, id_), id_, 1) for id_, family in _families() if family]
    others = [(a, b, 0) for (_, a, _), (_, b, _) in zip(pairs, pairs[1:], strict=False) if a[:1] != b[:1]]
    return _table([["a", "b", "label"], *(pair for pair in pairs if pair[0] != pair[1]), *others])


def _families() -> list[tuple[str, str | None]]:
    """Each document's cluster, if it has one."""
    unlike = ("template", "boilerplate")
    return [
        (str(number), None if each.kind in unlike else each.family) for number, each in enumerate(_planted())
    ]


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _table(rows: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


_FILES = {
    "bulk.ndjson": _bulk,
    "clusters.jsonl": _clusters,
    "more.csv": _more,
    "new.jsonl": _new,
    "news.jsonl": _news,
    "pairs.csv": _pairs,
    "texts.jsonl": _news,
}
