"""The scripts and search templates that a server can store, for people who search an index without Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from es_simhash._core.json_codec import Json
from es_simhash.documents.painless import hamming_script, search_templates
from es_simhash.errors import InputError
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.settings import Settings, SimHash

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class StoredScript:
    """A script, or a search template, by its name on the server; ``use`` describes its purpose.

    It needs its ``parameters``, and may be given the ``optional`` ones. ``context`` is what a script is compiled for
    when it is stored, so that a mistake shows then; it can be used in others as well. Templates have none.
    """

    JSON = ("name", "use", "parameters", "optional", "path", "body")

    name: str
    use: str
    source: str
    parameters: tuple[str, ...]
    optional: tuple[str, ...] = ()
    context: Literal["filter", "number_sort", "score"] | None = None

    @property
    def is_template(self) -> bool:
        """Whether this is a search template."""
        return self.context is None

    @property
    def path(self) -> str:
        """The path under which the server stores it."""
        return f"/_scripts/{self.name}"

    @property
    def body(self) -> Json:
        """The body that the server stores."""
        return {"script": {"lang": "mustache" if self.is_template else "painless", "source": self.source}}


def stored_scripts(settings: Settings, prefix: str = DEFAULT_PREFIX, name: str | None = None) -> list[StoredScript]:
    """Return the scripts and templates for indices with these fields; each name begins with ``name``.

    If scripts cannot read a SimHash, there are only the templates that need none.
    """
    own = default_name(prefix) if name is None else _checked(name)
    simhash = readable_simhash(settings)
    by_id = StoredScript(
        f"{own}-find",
        "the near-duplicates of a document, by its id",
        search_templates.by_id(settings, prefix),
        ("id",),
        ("shared", "size"),
    )
    distinct = StoredScript(
        f"{own}-distinct",
        "the hits of a query, each group or text once, as buckets of an aggregation",
        search_templates.distinct(prefix),
        ("query",),
        ("size", "window"),
    )
    needs_simhash = [] if simhash is None else _by_distance(settings, simhash, prefix, own)
    return [*needs_simhash, by_id, distinct]


def _by_distance(settings: Settings, simhash: SimHash, prefix: str, own: str) -> Iterator[StoredScript]:
    distance, within = f"{own}-distance", f"{own}-within"
    yield StoredScript(
        distance,
        "the number of bits that differ, to sort by or to show",
        hamming_script.distance(prefix, simhash),
        ("simhash",),
        context="number_sort",
    )
    yield StoredScript(
        within,
        "a filter by the number of bits that differ",
        hamming_script.within(prefix, simhash),
        ("simhash", "distance"),
        context="filter",
    )
    yield StoredScript(
        f"{own}-score",
        "the number of equal bits, for script_score",
        hamming_script.score(prefix, simhash),
        ("simhash",),
        context="score",
    )
    yield StoredScript(
        f"{own}-nearest",
        "documents within a distance, the nearest first",
        search_templates.by_distance(settings, simhash, prefix, within, distance),
        (prefix,),
        ("id", "distance", "shared", "size"),
    )


def default_name(prefix: str) -> str:
    """Return what names begin with by default."""
    return "es-simhash" if prefix == DEFAULT_PREFIX else f"es-simhash-{prefix}"


def readable_simhash(settings: Settings) -> SimHash | None:
    """Return the SimHash of the settings if scripts can read it in documents."""
    return settings.simhash if settings.layout.doc_values and settings.layout.simhash == "field" else None


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(f"Scripts cannot have names that begin with {name!r}. Choose letters, digits, _, . and -.")
    return name
