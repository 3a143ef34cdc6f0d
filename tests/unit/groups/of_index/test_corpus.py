"""All groups of near-duplicates in an index, on the embedded engine.

The fields that duplicates get of their canonical documents: how they are mapped, and what is copied.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from es_simhash._core.json_codec import Json
from es_simhash.errors import InputError, MappingError, MissingError
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_index.corpus import CopiedFields, IndexCorpus
from es_simhash.groups.options import GroupOptions
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprints
from es_simhash.scheme.mapping import as_written_now, replacing, stored_in
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout
from tests.support.corpus import corpus, edited

FIELDS = ["title", "body"]
DOCUMENTS: dict[str, Json] = {f"{i}/é ": document for i, document in enumerate(corpus(60))}
COPIES = {f"copy {i}-{k}": edited(corpus(60)[i], 2 * k + 1, seed=i + k) for i in range(20) for k in range(4)}
SAME = {f"same {k}": corpus(60)[3] for k in range(80)}
EVERYTHING = DOCUMENTS | COPIES | SAME


def text_of(document: Json) -> str:
    return "\n".join(document[field] for field in FIELDS)


def filled(path: Path, documents: dict[str, Json], **known: Any) -> Index:
    index = Index("news", str(path), fields=FIELDS, **known)
    index.init()
    written = index.add([{"_id": id_, "_source": each} for id_, each in documents.items()], refresh=True)
    assert not written.rejected
    return index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with filled(tmp_path_factory.mktemp("grouping"), EVERYTHING) as index:
        yield index


def ids(grouped: Groups[IndexCorpus]) -> list[list[str]]:
    with grouped:
        return [[member.id for member in group.members] for group in grouped]


def connected(pairs: list[tuple[str, str]]) -> set[frozenset[str]]:
    """What pairs connect, by the plainest way there is."""
    groups: dict[str, set[str]] = {}
    for first, second in pairs:
        merged = groups.get(first, {first}) | groups.get(second, {second})
        groups |= dict.fromkeys(merged, merged)
    return {frozenset(group) for group in groups.values()}


@pytest.mark.parametrize("distance", [0, 1, 3])
def test_within_a_distance_the_groups_are_those_of_all_pairs(index: Index, distance: int) -> None:
    prints = {id_: Scheme().fingerprint(text_of(each)) for id_, each in EVERYTHING.items()}
    near = [
        (a, b) for a, b in combinations(prints, 2) if Scheme().distance(prints[a], prints[b]) <= distance
    ]  # fmt: skip
    found = ids(index.group(by="simhash", distance=distance))
    assert {frozenset(group) for group in found} == connected(near)


def test_by_similarity_each_original_is_found_with_its_copies(index: Index) -> None:
    found = {group[0]: set(group) for group in ids(index.group())}
    for i in range(20):
        expected = {f"{i}/é ", *(f"copy {i}-{k}" for k in range(4)), *(SAME if i == 3 else ())}
        assert found[f"{i}/é "] == expected
    assert len(found) == 20


def test_the_largest_group_comes_first_and_the_first_id_stands_for_it(index: Index) -> None:
    found = ids(index.group())
    assert [len(group) for group in found] == sorted(map(len, found), reverse=True)
    assert all(group[0] == min(group) for group in found)


def test_an_order_and_a_scope_are_named_as_on_the_command_line(index: Index) -> None:
    with index.group(canonical="longest") as found, index.group(within="family") as none:
        assert found.corpus.options.canonical.fields == tuple(FIELDS)
        assert (len(none), none.counts.unscoped) == (0, none.counts.documents)


def test_members_show_how_near_they_are(index: Index) -> None:
    scheme = Scheme()
    with index.group(estimate=True) as grouped:
        for group in grouped:
            for member in group.duplicates:
                first = scheme.fingerprint(text_of(EVERYTHING[member.canonical]))
                own = scheme.fingerprint(text_of(EVERYTHING[member.id]))
                assert member.distance == scheme.distance(first, own)
                # The keys hold seven bits of each value.
                assert member.similarity == pytest.approx(scheme.estimated_jaccard(first, own), abs=0.05)


def test_all_are_near_those_that_stand_for_them(index: Index) -> None:
    with index.group(similarity=0.9, estimate=True) as grouped:
        assert all((member.similarity or 0) >= 0.9 for group in grouped for member in group.duplicates)


def test_a_chain_is_one_group_in_which_several_stand_for_the_others(tmp_path: Path) -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghij", k=7)) for _ in range(160)]
    chain = {f"{i:03}": {"title": "", "body": " ".join(words[4 * i : 4 * i + 60])} for i in range(25)}
    with filled(tmp_path, chain) as index, index.group(similarity=0.75) as grouped:
        [found] = grouped
        duplicates = {each.id for group in grouped for each in group.members if not each.is_canonical}
        assert grouped.counts.duplicates == len(duplicates)
    assert sorted(member.id for member in found.members) == sorted(chain)
    standing = {member.id for member in found.members if member.is_canonical}
    assert 5 < len(standing) < 25
    assert duplicates == chain.keys() - standing == {each.id for each in found.members if each.canonical != each.id}
    before = ""
    for member in found.members:
        assert member.canonical in standing
        assert member.is_canonical or (member.similarity or 0) >= 0.75
        assert member.is_canonical or member.canonical == before
        before = member.canonical


def test_groups_do_not_depend_on_the_order_of_documents_or_the_layout(index: Index, tmp_path: Path) -> None:
    shuffled = list(EVERYTHING.items())
    random.Random(1).shuffle(shuffled)
    with filled(tmp_path, dict(shuffled), scheme=Scheme(layout=Layout("fields"))) as other:
        assert ids(other.group()) == ids(index.group())


def test_little_memory_changes_nothing(index: Index) -> None:
    assert ids(index.group(memory=16 << 20)) == ids(index.group())


def test_only_what_a_query_finds_is_grouped(index: Index) -> None:
    query = {"ids": {"values": ["0/é ", "copy 0-0", "copy 0-1", "copy 1-0"]}}
    assert [sorted(group) for group in ids(index.group(filter=query))] == [["0/é ", "copy 0-0", "copy 0-1"]]


def test_documents_without_a_fingerprint_are_in_no_group(tmp_path: Path) -> None:
    documents = {"a": DOCUMENTS["1/é "], "b": DOCUMENTS["1/é "], "empty": {"title": "", "body": ""}}
    with filled(tmp_path, documents) as index, index.group() as grouped:
        assert (grouped.counts.documents, grouped.counts.empty, len(grouped)) == (3, 1, 1)


@pytest.mark.parametrize("count", [0, 1, 1500])
def test_equal_documents_are_one_group(tmp_path: Path, count: int) -> None:
    with filled(tmp_path, {str(i): DOCUMENTS["1/é "] for i in range(count)}) as index:
        assert [len(group) for group in ids(index.group())] == ([count] if count > 1 else [])


def test_documents_that_are_all_different_make_no_group(tmp_path: Path) -> None:
    with filled(tmp_path, DOCUMENTS) as index:
        assert ids(index.group()) == []


def test_the_number_of_documents_read_is_reported(index: Index) -> None:
    reported: list[int] = []
    index.group(on_progress=reported.append).close()
    assert reported[-1] == len(EVERYTHING)


def test_garbage_is_looked_for_rarely_while_documents_are_read(index: Index) -> None:
    before, interim = gc.get_threshold(), []
    ids(index.group(on_progress=lambda _: interim.append(gc.get_threshold()[0])))
    assert set(interim) == {50_000}
    assert gc.get_threshold() == before


def test_what_cannot_be_grouped_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="bytes of memory"):
        GroupOptions(memory=1000)
    with pytest.raises(MissingError), Index("none", str(tmp_path)) as missing:
        missing.group()


# --- what is degenerate


def with_fields(path: Path, signatures: npt.NDArray[np.uint32], simhashes: npt.NDArray[np.uint64]) -> Index:
    """An index of documents with these fingerprints, whose texts are nobody's concern."""
    scheme = Scheme()
    index = Index("news", str(path), fields=FIELDS)
    index.init()
    statuses = np.zeros(len(signatures), dtype=np.uint8)
    texts = [f"text {i}" for i in range(len(signatures))]
    rows = own_fields.write(scheme, scheme.id, texts, Fingerprints(statuses, simhashes, signatures))
    actions = [Action("index", f"{i:05}", {"dedup": row}) for i, row in enumerate(rows)]
    index.engine.perform(Bulk("news", actions, refresh=True))
    return index


def boilerplate(count: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """Fingerprints of documents that share the values of the first key, and nothing else."""
    rng = np.random.default_rng(5)
    signatures = rng.integers(0, 1 << 32, (count, 128), dtype=np.uint32)
    signatures[:, :5] = signatures[0, :5]
    return signatures, rng.integers(0, 1 << 64, count, dtype=np.uint64)


def test_a_key_that_very_many_share_is_reported_and_makes_no_group(tmp_path: Path) -> None:
    with with_fields(tmp_path, *boilerplate(3000)) as index, index.group() as grouped:
        assert len(grouped) == 0
        assert {(key.name, key.documents) for key in grouped.hot_keys} == {("values 0, 1, 2, 3, 4", 3000)}
        assert grouped.counts.left_out > 3000 * 2900 / 2
        assert grouped.counts.cut_off == 0
        [(name, id_)] = grouped.corpus.keys([grouped.hot_keys[0].position])
        assert (name, len(id_)) == ("news", 5)


def test_no_more_documents_of_a_key_than_the_largest_bucket_are_compared_and_the_others_are_counted(
    tmp_path: Path,
) -> None:
    signatures, simhashes = boilerplate(300)
    signatures[7] = signatures[5]
    signatures[290] = signatures[280]
    signatures[290, 8:] = signatures[280, 8:]
    options = GroupOptions(max_bucket=10, estimate=True)
    with with_fields(tmp_path, signatures, simhashes) as index, index.group(**vars(options)) as grouped:
        assert grouped.counts.cut_off >= 290
        # They share all other keys too, which few have.
        assert sorted(member.id for group in grouped for member in group.members) == [
            "00005",
            "00007",
            "00280",
            "00290",
        ]


def test_a_group_says_how_far_its_members_are_from_their_canonical_documents(index: Index) -> None:
    scheme = Scheme()
    with index.group(similarity=0.7, estimate=True) as grouped:
        for group in list(grouped)[:6]:
            prints = {member.id: scheme.fingerprint(text_of(EVERYTHING[member.id])) for member in group.members}
            both = [(prints[member.id], prints[member.canonical]) for member in group.members]
            assert group.distance == max(scheme.distance(a, b) for a, b in both)
            assert group.similarity == pytest.approx(min(scheme.estimated_jaccard(a, b) for a, b in both), abs=0.06)


def mapped(**fields: Json) -> Json:
    return {"properties": fields}


def of(path: str, *mappings: Json) -> Json:
    """Return how the copy of a field is mapped."""
    found = CopiedFields.of({f"i{place}": each for place, each in enumerate(mappings)}, [path]).properties
    assert found
    own: Json = found["of"]
    for name in path.split("."):
        own = own["properties"][name]
    return own


@pytest.mark.parametrize(
    ("field", "copy"),
    [
        ({"type": "keyword"}, {"type": "keyword", "ignore_above": 8191}),
        ({"type": "keyword", "ignore_above": 9}, {"type": "keyword", "ignore_above": 9}),
        ({"type": "keyword", "ignore_above": 2**31 - 1}, {"type": "keyword", "ignore_above": 8191}),
        ({"type": "constant_keyword", "value": "a"}, {"type": "keyword", "ignore_above": 8191}),
        ({"type": "text", "analyzer": "cjk"}, {"type": "keyword", "ignore_above": 256}),
        ({"type": "date", "format": "yyyy"}, {"type": "date", "format": "yyyy"}),
        ({"type": "scaled_float", "scaling_factor": 9}, {"type": "scaled_float", "scaling_factor": 9}),
        ({"type": "long", "ignore_malformed": True, "index": False}, {"type": "long", "ignore_malformed": True}),
        ({"type": "boolean"}, {"type": "boolean"}),
        ({"type": "ip"}, {"type": "ip"}),
    ],
)
def test_a_copy_takes_every_value_that_the_field_takes(field: Json, copy: Json) -> None:
    assert of("site", mapped(site=field)) == copy
    assert of("by.site", mapped(by={"properties": {"site": field}})) == copy


@pytest.mark.parametrize("kind", ["geo_point", "nested", "object", "dense_vector", "integer_range"])
def test_other_types_are_refused_by_the_name_of_the_field(kind: str) -> None:
    with pytest.raises(MappingError, match=f"'place'.*'i0'.*type {kind}"):
        of("place", mapped(place={"type": kind}))


def test_dates_of_several_indices_are_read_in_the_formats_of_all() -> None:
    one, other = {"type": "date"}, {"type": "date", "format": "dd/MM/yyyy"}
    both = "strict_date_optional_time||epoch_millis||dd/MM/yyyy"
    assert of("at", mapped(at=one), mapped(), mapped(at=other)) == {"type": "date", "format": both}


@pytest.mark.parametrize(
    ("own", "canonical", "lag"),
    [
        ("2026-03-02", "2026-03-01T12:00:00Z", 0.5),
        (1772323200000, "2026-03-01", 0.0),
        (["2026-03-01", "2026-05-01"], "2026-03-03T00:00:00+00:00", -2.0),
        (None, "2026-03-01", None),
        ("2026-03-01", [], None),
        ("soon", "2026-03-01", None),
    ],
)
def test_the_lag_is_that_of_two_known_dates(own: object, canonical: object, lag: float | None) -> None:
    assert copies(["at"], {"at": own}, {"at": canonical}).get("lag_days") == lag


def copies(paths: Sequence[str], own: Json, canonical: Json) -> Json:
    """Return what a duplicate gets."""
    there = mapped(at={"type": "date"}, seen={"type": "date", "format": "epoch_second"}, site={"type": "keyword"})
    found: Json = {}
    sources = {"own": own, "canonical": canonical}
    copied = CopiedFields.of({"news": there}, paths)
    copied.add({"own": (found, "canonical")}, lambda keys, _: [{"_source": sources[key]} for key in keys])
    return found


def test_a_date_that_cannot_be_read_gives_no_lag_but_the_next_one_does() -> None:
    own, canonical = {"seen": 1772366400, "at": "2026-03-02"}, {"seen": 1, "at": "2026-03-01"}
    assert copies(["seen"], own, canonical) == {"of": {"seen": 1}}
    assert copies(["seen", "at"], own, canonical)["lag_days"] == 1.0


def test_values_are_copied_as_they_are_and_what_is_missing_is_left_out() -> None:
    assert copies(["site"], {"site": "b"}, {"site": ["a", None, "c"]}) == {"of": {"site": ["a", "c"]}}
    assert copies(["site"], {"site": "b"}, {"site": []}) == {}
    assert copies(["site", "at"], {}, {"site": "a"}) == {"of": {"site": "a"}}


def test_a_merged_update_leaves_the_wanted_fields_alone() -> None:
    there: Json = {"group": "g", "is_canonical": False, "of": {"site": "a", "at": "2026"}, "lag_days": 1.0}
    wanted = {"group": "g", "is_canonical": False, "of": {"site": "b"}}
    update = replacing(there, wanted)
    assert stored_in({**there, **update, "of": {**there["of"], **update["of"]}}) == wanted
    assert replacing(there, {"group": "g"})["of"] is None


def test_only_canonical_documents_of_earlier_versions_are_written_otherwise_now() -> None:
    canonical, duplicate = ({"is_canonical": each, "similarity": 1.0, "distance": 0} for each in (True, False))
    assert as_written_now(canonical) == {"is_canonical": True}
    assert as_written_now(duplicate) == duplicate
