"""Finds near-duplicates in a DataFrame: numbers all documents, pairs identical and near ones, and groups them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import cast

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from es_simhash._core.humanize import counted
from es_simhash.documents.decisions import Decided
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.groups import Counts
from es_simhash.groups.options import OF_INDEX, GroupOptions, check_without
from es_simhash.groups.pairs.candidates import POSITION_MASK
from es_simhash.integrations.spark import condensing
from es_simhash.integrations.spark.candidates import candidates, components, equal_texts
from es_simhash.integrations.spark.compare import (
    Comparison,
    Texts,
    compared,
    identical_pairs,
    lowest_texts,
    near_by_distance,
    near_duplicates,
    with_both,
)
from es_simhash.integrations.spark.condensing import RANK, SCOPE, CondensedColumns, are_in_scope
from es_simhash.integrations.spark.decided import OBEYS, DecidedDocuments
from es_simhash.integrations.spark.frames import (
    few,
    in_groups,
    materialized,
    number_of,
    observed,
    place_columns,
    without_text,
)
from es_simhash.integrations.spark.grouping import MEASURES, Gathering, Grouping
from es_simhash.scheme import verifier
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scope import Scope, combined
from es_simhash.scheme.verifier import lowest_estimate

_OF_ONE_MACHINE = ("strip", "max_bucket", "directory", "threads", "state")


@dataclass(frozen=True)
class SparkDeduplicator:
    """Finds near-duplicates among the documents of a DataFrame with a column ``id`` and optionally ``index``.

    ``documents`` define how texts become fingerprints, and ``options`` what makes a group. The fields of a scope, and
    of an order of canonical documents, are columns, also inside structs. Only pairs in the scope of the index count.
    The ``decisions`` of an index, which its documents must obey, are those that ``index.decisions()`` returns.
    """

    documents: Documents
    options: GroupOptions = field(default_factory=GroupOptions)

    def __post_init__(self) -> None:
        check_without(self.options, (*OF_INDEX, *_OF_ONE_MACHINE), "documents of a DataFrame")
        self.options.criteria(self.documents.scheme), self._scope

    def learn(self, frame: DataFrame) -> Rarity:
        """Learn how rare features are among the texts in the source fields, as `learn_from` does."""
        return lowest_texts(frame, self.documents).learnt(self.documents.scheme)

    def of_texts(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among the texts in the source fields.

        They are those that `dedup` finds among the same documents, ordered by id. If several have one id, or
        none has a text, a `DocumentError` says so.
        """
        scheme = self.documents.scheme
        criteria = self.options.criteria(scheme)
        kept = CondensedColumns.of(scheme, criteria, self._scope, self.options.canonical)
        texts = None
        if criteria.similarity is not None and criteria.verification:
            texts = Texts(frame, self.documents, cast("Rarity | None", self.options.rarity))
        condensed = condensing.of_texts(frame, self.documents, kept)
        lacking = without_text(frame, self.documents.fields)
        found = find(condensed, number_of(frame), kept, criteria, lacking, self.options.decided, texts)
        return replace(found, _before=in_groups(frame, self.documents.prefix))

    def of_fields(self, frame: DataFrame) -> SparkDuplicates:
        """Find the near-duplicates among documents whose fields are in a column named by the prefix.

        Without texts, fingerprints decide. The groups are those of `Index.group` by estimates.
        """
        if self.options.numbers:
            raise InputError("Without texts, no numbers can be compared. Use of_texts, or no `numbers`.")
        criteria = replace(self.options, estimate=True).criteria(self.documents.scheme)
        kept = CondensedColumns.of(
            self.documents.scheme, criteria, self._scope, self.options.canonical, has_texts=False
        )
        condensed = condensing.of_fields(frame, self.documents, kept)
        lacking = f"no fingerprint of the scheme in {self.documents.prefix!r}. Give their texts to of_texts."
        found = find(condensed, number_of(frame), kept, criteria, lacking, self.options.decided)
        return replace(found, _before=in_groups(frame, self.documents.prefix))

    @cached_property
    def _scope(self) -> Scope | None:
        return combined(self.documents.policy.scope, self.options.scope)


# ---- the steps

# `monotonically_increasing_id` has the number of the partition above these.
_PART_BITS = 33


@dataclass(frozen=True)
class SparkDuplicates:
    """The near-duplicates among documents.

    ``groups`` has a row for every document of a group: its ``id``, the ``group`` (the id of the first document of it),
    the id of the ``canonical`` document that stands for it, and whether it ``is_canonical`` itself. ``pairs`` has the
    ids of both documents, ``first`` and ``second``, and the ``clause`` that decided; ``distance`` if SimHash counts;
    and if MinHash counts ``similarity``, with its ``standard_error`` (0 if it ``is_exact``), and whether it
    ``meets`` the share of numbers that is asked for. For documents with an ``index`` there are
    also ``index``, ``group_index``, ``canonical_index``, ``first_index`` and ``second_index``.

    In ``counts``, ``empty`` includes all documents that have nothing to compare; there is no ``valley``. With
    ``estimate`` fingerprints alone decided; else ``rarity`` is the table that features weighed by, if they did.
    """

    groups: DataFrame
    pairs: DataFrame
    counts: Counts
    estimate: bool
    rarity: Rarity | None
    _members: Callable[[], DataFrame]
    _before: DataFrame | None = None

    @cached_property
    def members(self) -> DataFrame:
        """The rows of ``groups``, for duplicates also ``distance``, ``similarity`` and ``standard_error``.

        They are those of `Duplicates.to_arrow`, and computed once they are asked for. ``content`` is a hash of the
        text, as our fields have it. If the newest documents are canonical, older ones are ``superseded_by`` the next
        newer one. Documents that have left their group since fields were read come last, and have no ``group``.
        """
        found = self._members()
        if self._before is None:
            return found
        left = self._before.join(found, place_columns(found), "left_anti")
        return found.unionByName(left, allowMissingColumns=True).withMetadata("id", found.schema["id"].metadata)


def find(
    condensed: DataFrame,
    total: int,
    kept: CondensedColumns,
    criteria: Criteria,
    lacking: str,
    decided: Decided,
    texts: Texts | None = None,
) -> SparkDuplicates:
    """Find the near-duplicates among condensed documents; the rest of the total counts as empty.

    If all are, an error says what they are ``lacking``. Similarities are those of the texts, if these are given.
    """
    scope = kept.scope
    condensed, nonempty = observed(condensed, documents=sf.count("*"))
    if total and not nonempty["documents"]:
        raise DocumentError(f"There is nothing to compare: {counted(total, 'document')} with {lacking}")
    documents, (known, identical) = _numbered(condensed, scope)
    originals = documents.filter("previous is null")
    equal = _equal(originals, kept) if scope and scope.is_by_pairs else None
    sharing = candidates(originals, known, kept, criteria, total)
    # The lowest estimates of pairs that may count, and of pairs whose texts are compared.
    lowest, minhash, asked = criteria.least if criteria.similarity is not None else 0.0, kept.settings.minhash, None
    if texts and minhash:
        asked = lowest_estimate(criteria, minhash, kept.value_bits)
        lowest = min(lowest, asked)
    found = compared(sharing, originals, Comparison(kept, criteria, lowest))
    if scope:
        found = _in_scope(materialized(found), originals, kept)
    is_pair, is_asked = sf.col("first") >= 0, sf.lit(False) if asked is None else sf.col("similarity") >= asked
    found, sums = observed(
        found,
        candidates=sf.count_if(is_pair),
        verified=sf.count_if(is_pair & is_asked),
        others=sf.sum("others"),
        left_out=sf.sum("left_out"),
    )
    measured, by, refused = found.filter(is_pair).drop("others", "left_out"), None, 0
    if criteria.similarity is not None:
        # The estimates count as long as no text says more.
        measured = measured.withColumns({"is_exact": sf.lit(False), "meets": sf.lit(True)})
        if texts:
            by = texts.verifier(criteria)
            exact = texts.compared(by, measured.filter(is_asked), sums["verified"], originals, criteria)
            measured = measured.filter(~is_asked).unionByName(exact.withColumn("is_exact", sf.lit(True)))
        measured = measured.filter(near_by_distance(criteria) | (sf.col("similarity") >= criteria.least))
    if criteria.verification and criteria.verification.numbers:
        are_refused = ~sf.col("meets") & ~near_by_distance(criteria)
        measured, tallied = observed(measured, refused=sf.count_if(are_refused))
        refused = tallied["refused"]
    near, seen = observed(near_duplicates(measured, kept, criteria), near=sf.count("*"))
    count, same = seen["near"], equal
    if equal is None:
        same = documents.filter("previous is not null").withColumnsRenamed({"previous": "first", "position": "second"})
    else:
        identical = equal.count()
        count += identical
    pairs = identical_pairs(same, criteria).unionByName(near)
    people = DecidedDocuments.among(documents, decided)
    grouping = Grouping(people.stay, Gathering(kept, criteria, by, people.links), texts)
    links = pairs if equal is not None else near
    if people:
        is_equal = sf.col("clause") == verifier.CLAUSES[verifier.EQUAL]
        numbers = {"identical": sf.count_if(is_equal), "near": sf.count_if(~is_equal)}
        pairs, seen = observed(people.linked(people.allowed(pairs), grouping, criteria), **numbers)
    members = _members(grouping, people, links, count, pairs)
    kinds = {"groups": sf.count_if(sf.expr("position = first")), "standing": sf.count_if(sf.expr("position = head"))}
    members, sizes = observed(members, members=sf.count("*"), **kinds)
    counts = Counts(
        documents=total,
        empty=total - nonempty["documents"],
        unscoped=nonempty["documents"] - known,
        identical=seen.get("identical", identical),
        near=seen["near"],
        groups=sizes["groups"],
        duplicates=sizes["members"] - sizes["standing"],
        compared=sums["others"] + sums["candidates"],
        verified=sums["verified"],
        left_out=sums["left_out"],
        refused=refused,
        decisions=people.pairs.count,
        decisions_elsewhere=people.pairs.elsewhere,
        conflicts=people.conflicts(members),
    )
    rarity = by.weights if by and isinstance(by.weights, Rarity) else None
    return SparkDuplicates(
        _groups(members, sizes["standing"]).drop("original"),
        _named(pairs, documents),
        counts,
        texts is None,
        rarity,
        partial(_with_nearness, grouping, members, sizes["standing"], bool(decided)),
    )


def _members(grouping: Grouping, people: DecidedDocuments, links: DataFrame, count: int, pairs: DataFrame) -> DataFrame:
    """Return the documents of all groups, given about ``count`` links of originals, and all pairs that are near."""
    edges, near = links.select("first", "second"), links
    if people:
        edges, near = people.edges(links), pairs
    count += len(people.links)
    connected = people.parted(grouping.connected(few(components(edges, count), 2 * count)), links)
    return grouping.members(connected, near.select("first", "second"))


def _in_scope(found: DataFrame, documents: DataFrame, kept: CondensedColumns) -> DataFrame:
    """Leave out the pairs whose values do not agree or differ as they must; rows of counts stay."""
    assert kept.scope
    pairs = with_both(found.filter("first >= 0"), documents, ["content", SCOPE]).filter(are_in_scope(kept.scope))
    if kept.scope.is_by_pairs:
        pairs = pairs.filter("`first content` <> `second content`")
    return found.filter("first < 0").unionAll(pairs.select(*found.columns))


def _numbered(condensed: DataFrame, scope: Scope | None) -> tuple[DataFrame, list[int]]:
    """Give the documents whose scope is known numbers in the order of their ids, without gaps.

    Return with them how many they are, and how many have a ``previous`` one.
    """
    known = condensed.filter(f"`{SCOPE}`.known") if scope else condensed
    ordered = known.orderBy(*place_columns(known), "content")
    documents = materialized(_with_copies(ordered.withColumn("position", sf.monotonically_increasing_id()), scope))
    counts = "count(*)", "count(previous)"
    parts = documents.groupBy(sf.shiftright("position", _PART_BITS).alias("part")).agg(*map(sf.expr, counts)).collect()
    sizes = {part: size for part, size, *_ in parts}
    starts = list(accumulate((sizes.get(each, 0) for each in range(max(sizes, default=0) + 1)), initial=0))
    if starts[-1] > POSITION_MASK:
        raise InputError(f"{starts[-1]:,} documents are too many to number. Group parts of them.")
    dense = {name: _dense(name, starts).alias(name) for name in ("position", "original", "previous")}
    columns = (dense.get(name, sf.col(f"`{name}`")) for name in documents.columns)
    return documents.select(*columns), [sum(row[place] for row in parts) for place in (1, 2)]


def _dense(name: str, starts: Sequence[int]) -> Column:
    """Return a column of numbers that `monotonically_increasing_id` gave without the gaps between partitions."""
    start = sf.element_at(sf.lit(starts), (sf.shiftright(name, _PART_BITS) + 1).cast("int"))
    return start + sf.col(name).bitwiseAND(sf.lit((1 << _PART_BITS) - 1))


def _with_copies(numbered: DataFrame, scope: Scope | None) -> DataFrame:
    """Return documents with numbers, each with those that it stands for.

    Documents with equal texts get the numbers of the first of them (``original``) and of the ``previous`` one, and
    the number of all these ``copies``. They stand for one another only in the same class of a scope.
    """
    if scope and scope.is_by_pairs:
        alone = {"original": sf.col("position"), "previous": sf.lit(None).cast("long"), "copies": sf.lit(1)}
        return numbered.withColumns(alone)
    texts: list[Column | str] = ["content", *([sf.col(f"`{SCOPE}`.within")] if scope else [])]
    same = Window.partitionBy(*texts).orderBy("position")
    all_same = same.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    return numbered.select(
        "*",
        sf.first("position").over(all_same).alias("original"),
        sf.lag("position").over(same).alias("previous"),
        sf.count("position").over(all_same).alias("copies"),
    )


def _equal(documents: DataFrame, kept: CondensedColumns) -> DataFrame:
    """Return the pairs of equal texts in scope."""
    assert kept.scope
    paired = with_both(equal_texts(documents, kept), documents, ["content", SCOPE])
    same = sf.col("`first content`") == sf.col("`second content`")
    return materialized(paired.filter(same & are_in_scope(kept.scope)).select("first", "second"))


def _groups(members: DataFrame, standing: int, more: Sequence[str] = ()) -> DataFrame:
    """Return the documents of all groups, each with the first of its group, and the one that stands for it."""
    firsts = few(_places(members.filter("position = first"), "first", "group"), standing)
    heads = few(_places(members.filter("position = head"), "head", "canonical"), standing)
    own = [*place_columns(members), sf.expr("position = head").alias("is_canonical"), "original", *more]
    names = [name for frame in (firsts, heads) for name in frame.columns if name not in ("first", "head")]
    return members.join(firsts, "first").join(heads, "head").select(*names, *own)


def _with_nearness(grouping: Grouping, members: DataFrame, standing: int, obeys: bool) -> DataFrame:
    """Return the documents of all groups, each with how near it is to the canonical one."""
    size, more = sf.count("*").over(Window.partitionBy("first")).cast("int").alias("group_size"), ["group_size"]
    sized = members.select("*", size)
    if grouping.gathering.kept.canonical.by_versions:
        newer = _newer(members, grouping.documents)
        more += newer.columns[1:]
        sized = sized.join(newer, "position", "left")
    sized = _groups(sized, standing, more)
    found = sized.join(grouping.nearness(members), "original").drop("original")
    found = materialized(found.withColumns({name: sf.expr(f"if(is_canonical, null, {name})") for name in MEASURES}))
    return found.withMetadata("id", {OBEYS: obeys})


def _newer(members: DataFrame, documents: DataFrame) -> DataFrame:
    """Return the position of each older document, and which one of its group is the next newer."""
    ranked = members.join(documents.select("position", sf.col(f"`{RANK}`").alias("rank")), "position")
    # Times are apart by milliseconds at least; those of equal ones do not supersede each other.
    before = "partition by first order by rank range between unbounded preceding and 0.000001 preceding"
    newer = sf.expr(f"(max(struct(rank, position)) over ({before})).position").alias("newer")
    dated = ranked.select("position", "rank", newer).filter("newer is not null and rank < double('infinity')")
    return dated.drop("rank").join(_places(members, "newer", "superseded_by"), "newer").drop("newer")


def _named(pairs: DataFrame, documents: DataFrame) -> DataFrame:
    """Replace the numbers of documents in pairs by their ids."""
    measures = [name for name in pairs.columns if name not in {"first", "second"}]
    for side in ("first", "second"):
        places = _places(documents, "number", side)
        pairs = pairs.withColumnRenamed(side, "number").join(places, "number").drop("number")
    return pairs.select(*(name for name in pairs.columns if name not in measures), *measures)


def _places(documents: DataFrame, number: str, name: str) -> DataFrame:
    """Return the id of each document in a column ``name``, and its index, if it has one, in ``name_index``."""
    places = {"id": name, "index": f"{name}_index"}
    own = [sf.col(column).alias(places[column]) for column in place_columns(documents)]
    return documents.select(sf.col("position").alias(number), *own)
