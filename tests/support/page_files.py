"""The files that pages of the documentation speak of as their reader's own."""

from __future__ import annotations

import csv
import gzip
import io
import json
from functools import cache
from itertools import pairwise
from typing import Any

from examples.corpus import CorpusDocument, make_corpus
from tests import ROOT
from tests.support.filled_forms import filled

_SITES = ("coast.example", "hills.example", "harbour.example")


def content(name: str) -> bytes:
    """Return what is in the file of this name; compressed, if it says so. One in a folder is in the repository."""
    if name.endswith(".gz"):
        return gzip.compress(content(name.removesuffix(".gz")))
    return (ROOT / name).read_bytes() if "/" in name else _FILES[name]().encode()


@cache
def _planted() -> list[CorpusDocument]:
    """Stories in three languages with copies, and others that only look like copies."""
    return make_corpus(120)


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
    """Make documents, some of them in the index already."""
    return _lines([{**each, "id": f"new-{each['id']}"} for each in _articles()[:5]])


def _index() -> str:
    """Return a script that makes the reader's index of these documents, without fingerprints, on the server."""
    actions = ([{"index": {"_id": each.pop("id")}}, each] for each in _articles())
    types = {"title": "text", "body": "text", "number": "long", "published": "date", "site": "keyword"}
    mapping = {"properties": {name: {"type": type_} for name, type_ in types.items()}}
    index = json.dumps({"settings": {"number_of_replicas": 0}, "mappings": mapping})
    return f"""\
set -e
send() {{ curl --fail --silent --output /dev/null --data-binary @- "$@"; }}
send -X PUT -H 'Content-Type: application/json' "$ES_SIMHASH_URL/$1" <<'END'
{index}
END
send -H 'Content-Type: application/x-ndjson' "$ES_SIMHASH_URL/$1/_bulk?refresh=true" <<'END'
{_lines([line for action in actions for line in action])}END
"""


def _more() -> str:
    return _table(
        [["id", "title", "body"], *([f"more-{each['id']}", each["title"], each["body"]] for each in _articles()[:9])]
    )


def _wire() -> str:
    """Return the documents that the tutorial of distinct results writes, with times."""
    page = (ROOT / "docs" / "tutorials" / "distinct.md").read_text(encoding="utf-8")
    lines = page.split('title="wire.ndjson"\n')[1].split("```")[0].splitlines()
    actions, documents = lines[::2], lines[1::2]
    return _lines(
        [
            {"id": json.loads(action)["index"]["_id"], "published": f"2026-03-0{day}", **json.loads(document)}
            for day, (action, document) in enumerate(zip(actions, documents, strict=True), 1)
        ]
    )


def _clusters() -> str:
    return _lines([{"id": id_, "cluster": family} for id_, family in _labelled()])


def _pairs() -> str:
    """Each copy and its original, and other pairs."""
    labelled = _labelled()
    originals = {family: id_ for id_, family in reversed(labelled)}
    copies = [(originals[family], id_, 1) for id_, family in labelled if id_ != originals[family]]
    others = [(a, b, 0) for (a, of_a), (b, of_b) in pairwise(labelled) if of_a != of_b]
    return _table([["a", "b", "label"], *copies, *others])


def _labelled() -> list[tuple[str, str]]:
    """Return the ids of documents, and the cluster of each; none of those that only look like copies."""
    unlike = ("template", "boilerplate")
    return [(str(number), each.family) for number, each in enumerate(_planted()) if each.kind not in unlike]


def _first() -> str:
    """The scheme of the first default."""
    kept = json.loads((ROOT / "tests" / "data" / "release-0.1" / "names.json").read_text(encoding="utf-8"))
    return json.dumps(kept["forms of schemes"]["a1de65baa9dd"])


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _forms() -> str:
    """Return articles, and the filled-in forms of one more site."""
    reports = enumerate(filled("en", 1, 60))
    forms = [{"id": f"report-{number}", "site": "reports.example", "body": text} for number, text in reports]
    return _lines([*_articles(), *forms])


def _table(rows: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


_FILES = {
    "clusters.jsonl": _clusters,
    "first.json": _first,
    "forms.jsonl": _forms,
    "index.sh": _index,
    "more.csv": _more,
    "new.jsonl": _new,
    "news.jsonl": _news,
    "pairs.csv": _pairs,
    "texts.jsonl": _news,
    "wire.jsonl": _wire,
}
