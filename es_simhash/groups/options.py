"""How documents are grouped, as one value: those of files, of a frame, of an index or of Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from es_simhash._core.arguments import check_shard, check_types, options_from
from es_simhash._core.environment import MEMORY, PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.documents.decisions import Decided, Decision
from es_simhash.documents.files.decision_file import DecisionFile
from es_simhash.documents.sources import check_sources
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical, canonical_named
from es_simhash.scheme.fingerprinting import check_threads
from es_simhash.scheme.query import By, Criteria
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scope import Scope, combined
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verification import Level
from es_simhash.scheme.verifier import check_estimate, is_by_rarity, verification_of

_LEAST_MEMORY = 1 << 20


@dataclass(frozen=True)
class GroupOptions:
    """The options of grouping: which documents, and what makes a group.

    ``by``, ``distance``, ``similarity`` and ``numbers`` define near-duplicates, as in a search. A group has all
    documents that links connect, however far apart its ends are. Its documents come in the order of ``canonical`` (see
    `Canonical`): each is a duplicate of the first before it that stands for itself and is near it, or else stands for
    itself.

    Texts decide as the scheme's ``verification`` says. Without it, or with ``estimate``, fingerprints do: distances are
    exact, similarities estimated. ``rarity`` is what was learnt by `learn` or in an index, or its JSON form; without
    it, the table of the index decides how rare features are, or else the built-in one. If more than ``max_bucket``
    documents share a key, only this many are compared. Only pairs in the ``scope`` count, and in that of the index; a
    document without one of its values is in no group. ``within``, ``across``, ``window`` and ``date`` are short for a
    `Scope.of` them.

    The job takes about ``memory`` bytes, without the program itself and some 20 bytes a document, in a scope 40. Beyond
    that it uses temporary files of ``directory``, by default the system's, which vanish however the program ends.
    ``threads`` make fingerprints and compare them: by default one per core. The directory ``state`` keeps each stage
    until all are over, for an index until the result is closed, or its block ends without an error: a job that was
    stopped goes on when it is run again with the same documents and options.
    The groups depend on none of these. ``decisions`` are those of people, which grouping obeys (see `Decision`), or the
    path of a file of them; an index keeps its own.

    The others are for an index. ``filter``, a query, restricts the documents. Matches of the regular expressions in
    ``strip`` are removed from texts. With ``incremental``, only documents added or changed since groups were last
    written with the same options are compared with the others, and join the existing groups. If few are new, only the
    groups that they may change are read. Whether they are written with ``singles`` must then be as it was, or said here
    as well. When groups are written, duplicates get the fields ``copy`` of their canonical documents. The job waits up
    to ``patience`` seconds for an engine that is away or overloaded. With a ``shard`` (its number from 0, and their
    count) only this part of the documents is read, into ``state``; the result has no groups. When the files of all
    shards are in one directory, a job with that ``state`` makes them. The values in the field ``per`` and the years in
    the field ``years`` are read with the fingerprints, so that losses can be counted by them.

    >>> with index.group(similarity="versions", canonical=Canonical.newest("published")) as found:
    ...     found.groups[0].canonical.id
    '1'
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | Level | None = None
    numbers: float | None = None
    canonical: Canonical = field(default=FIRST, metadata={"keyword": "Canonical | str"})
    estimate: bool = False
    rarity: Rarity | Json | None = None
    decisions: str | Path | Sequence[Decision] = ()
    max_bucket: int | None = None
    scope: Scope | None = None
    within: str | Sequence[str] = ()
    across: str | Sequence[str] = ()
    window: timedelta | str | None = None
    date: str | None = None
    memory: int = MEMORY
    directory: str | Path | None = None
    threads: int | None = None
    state: str | Path | None = None
    filter: Json | None = None
    strip: Sequence[str] = ()
    copy: str | Sequence[str] = ()
    incremental: bool = False
    singles: bool | None = None
    shard: tuple[int, int] | None = None
    per: str | None = None
    years: str | None = None
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        check_types(self)
        if self.max_bucket is not None and self.max_bucket < 2:
            raise InputError(f"{self.max_bucket} documents make no pair. Compare 2 or more.")
        if self.estimate and self.strip:
            raise InputError("Estimates cannot leave parts of texts out. Let texts decide.")
        if self.estimate:
            check_estimate(self.numbers)
        if self.shard:
            check_shard(self.shard)
            if self.state is None or self.incremental:
                raise InputError(
                    "A shard is read whole, into files. Name a directory for them, and read all documents."
                )
        if self.incremental and (self.per or self.years):
            raise InputError("Losses are counted of all documents, and not all are read. Leave 'incremental' out.")
        if self.memory < _LEAST_MEMORY:
            raise InputError(f"{self.memory!r} bytes of memory are too few. Allow at least {_LEAST_MEMORY:,}.")
        if self.threads is not None:
            check_threads(self.threads)
        object.__setattr__(self, "copy", (self.copy,) if isinstance(self.copy, str) else tuple(self.copy))
        object.__setattr__(self, "rarity", Rarity.given(self.rarity))
        scope = Scope.of(self.within, self.across, self.window, self.date)
        object.__setattr__(self, "scope", combined(scope, self.scope))

    def criteria(self, settings: Settings) -> Criteria:
        """Return the criteria for near-duplicates under a scheme.

        >>> GroupOptions(similarity=0.7).criteria(scheme).similarity
        0.7
        """
        verification = verification_of(
            settings, estimate=self.estimate, numbers=self.numbers, needs_texts=bool(self.strip)
        )
        return Criteria.of(settings, self.by, self.distance, self.similarity, verification, self.numbers)

    @property
    def decided(self) -> Decided:
        """What people have decided, as far as it was given here."""
        given = self.decisions
        return Decided(DecisionFile(given).read() if isinstance(given, (str, Path)) else given)

    def weighs_rarity(self, settings: Settings) -> bool:
        """Return whether texts are compared, and features weigh the more the rarer they are.

        >>> GroupOptions(estimate=True).weighs_rarity(scheme)
        False
        """
        criteria = self.criteria(settings)
        return criteria.similarity is not None and is_by_rarity(settings, criteria.verification)


def options_of(given: Mapping[str, Any], text_fields: str | Sequence[str]) -> GroupOptions:
    """Return the options made of keywords; ``canonical`` may be the name of an order, as on the command line."""
    if isinstance(order := given.get("canonical"), str):
        given = {**given, "canonical": canonical_named(order, check_sources(text_fields) if text_fields else ())}
    return options_from(GroupOptions, given)


# What decides groups, but for the order of documents and the scope, and what of it a similarity replaces.
_DECIDING = ("by", "distance", "similarity", "numbers", "estimate")
_NEARNESS = ("by", "distance", "similarity")


def deciding_options(options: GroupOptions) -> Json:
    """Return the options that decide what is written of groups as JSON, without those that are as by default."""
    values = {name: getattr(options, name) for name in _DECIDING}
    # A distance of 0 is one, and equals False.
    found: Json = {name: value for name, value in values.items() if value is not None and value is not False}
    found |= {name: list(given) for name in ("strip", "copy") if (given := getattr(options, name))}
    found |= {"scope": options.scope.to_json()} if options.scope else {}
    return {**found, "canonical": options.canonical.name}


def as_asked(before: Json, fields: Sequence[str], **given: Any) -> GroupOptions:
    """Return the options of an earlier run, as `asked` returned them, replaced by those ``given`` that are not None."""
    given = {name: value for name, value in given.items() if value is not None}
    kept = {name: value for name, value in before.items() if "similarity" not in given or name not in _NEARNESS}
    if "scope" in kept:
        kept["scope"] = Scope.from_json(kept["scope"])
    kept = {"canonical": FIRST.name} | kept | given
    if isinstance(kept["canonical"], str):
        kept["canonical"] = _order(kept["canonical"], fields, is_given="canonical" in given)
    return GroupOptions(**kept)


def _order(name: str, fields: Sequence[str], *, is_given: bool) -> Canonical:
    try:
        return canonical_named(name, fields)
    except InputError as error:
        if is_given:
            raise
        raise InputError(
            f"A function, {name!r}, chose the canonical documents when groups were last written. Group with that "
            "function again, or say by canonical which order counts now."
        ) from error


OF_INDEX = ("filter", "copy", "incremental", "singles", "shard", "per", "years")
OF_TEXTS = ("decisions",)


def check_without(options: GroupOptions, names: Sequence[str], where: str) -> None:
    """Refuse options that mean nothing where documents are grouped."""
    if given := [name for name in names if getattr(options, name)]:
        raise InputError(f"{given[0]!r} means nothing for {where}. Leave it out.")
