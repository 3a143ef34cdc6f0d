"""Documents whose ids, routings, field names and tenants are any Unicode, with halves of surrogate pairs among it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from es_simhash._core.json_codec import Json

WORDS = "The storm has left many houses along the coast without power since Monday night, and crews are at work"
LONGEST_ID = 512
# What has broken a parser somewhere: NUL, noncharacters, marks, directions, halves, names of ours and of engines.
_AWKWARD = st.sampled_from(
    [
        *("\0", "\ud800", "\udfff", "a\ud83d", "\ufeff", "\uffff", "\U0010ffff", "\u202e", "\u2028", "\x1b[2J", "\x7f"),
        *(
            "é",
            "e\u0301",
            "ﬀ",
            "İ",
            "𠀀",
            "👩‍👩‍👧",
            "ａ",
            " ",
            "\t",
            "\n",
            "\r\n",
            '"',
            "\\",
            "'",
            "/..",
            "%00",
            "*",
            "?",
        ),
        *("_all", "-1", "null", "true", "[1]", "{}", "simhash", "_id", "_source", "a,b", "<now>", "a" * 200),
    ]
)
anything = st.text(st.characters(exclude_categories=()), max_size=6) | _AWKWARD
_IDS = anything | st.sampled_from(["é" * 256, "é" * 257, "x" * LONGEST_ID, "x" * 513, ""])


def documents(most: int = 8) -> st.SearchStrategy[list[Json]]:
    """Return documents of about the same text; each has an id of its own."""
    one = st.fixed_dictionaries(
        {"_id": _IDS, "body": st.just(WORDS) | anything.map(lambda end: f"{WORDS} {end}"), "tenant": anything},
        optional={"_routing": anything.filter(bool), "more": st.dictionaries(anything, anything, max_size=2)},
    )
    return st.lists(one, min_size=1, max_size=most, unique_by=lambda each: str(each["_id"]))


def body_of(document: Json) -> Json:
    """Return what an index is to hold of a document."""
    return {name: value for name, value in document.items() if not name.startswith("_")}


def is_unicode(value: Any) -> bool:
    """Return whether a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def must_be_taken(document: Json) -> bool:
    """Return whether no engine has a reason to refuse a document: it refuses only some names of fields."""
    return is_unicode(document) and 0 < len(document["_id"].encode()) <= LONGEST_ID and not document.get("more")
