"""Neither threads nor kernels change a result."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.documents.frame import Frame
from es_simhash.errors import DocumentError, EsSimhashError, InputError, TextError
from es_simhash.groups.corpus import default_threads
from es_simhash.groups.groups import Counts, Groups
from es_simhash.groups.of_texts import TextCorpus, dedup, group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs import fingerprint_store
from es_simhash.groups.pairs.compare import Comparison, Missed
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import hashed_features
from es_simhash.scheme.rarity import builtin
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import MinHash, Settings, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Verifier
from es_simhash.text.features import FeatureBatch, IdfTable
from es_simhash.text.tokens import Chars, Custom, Words
from tests.support import standing_documents
from tests.support.fuzzing import examples
from tests.support.standing_documents import BY_RANK, ranked

# By its plain features, which are easily computed again.
SCHEME = replace(Scheme.preset("default"), verification=Verification.of_fingerprints(0.6))
LITTLE = 1 << 20


def words(rng: np.random.Generator, count: int) -> list[str]:
    return ["".join(map(chr, rng.integers(97, 123, 6))) for _ in range(count)]


def families(seed: int, count: int = 60, copies: int = 3) -> list[str]:
    """Texts of 60 words, each with some near copies in which 1 to 9 words are others, and shuffled."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        original = words(rng, 60)
        texts.append(" ".join(original))
        for _ in range(copies):
            edited = list(original)
            for place in rng.choice(60, int(rng.integers(1, 10)), replace=False):
                edited[place] = words(rng, 1)[0]
            texts.append(" ".join(edited))
    return [texts[i] for i in rng.permutation(len(texts))]


def run(texts: list[str], scheme: Scheme = SCHEME, **options: Any) -> Groups[TextCorpus]:
    documents = ((f"id{i}", text) for i, text in enumerate(texts))
    return group_texts(documents, scheme, GroupOptions(**{"threads": 1} | options))


def together(found: Groups[TextCorpus]) -> list[list[int]]:
    return sorted(sorted(each) for each in found.positions())


def pairs(found: Groups[TextCorpus]) -> dict[tuple[int, int], Any]:
    return {(int(pair["first"]), int(pair["second"])): pair for batch in found.pairs() for pair in batch}


def components(count: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    heads = list(range(count))
    for a, b in sorted(edges):
        old, new = max(heads[a], heads[b]), min(heads[a], heads[b])
        heads = [new if head == old else head for head in heads]
    members: dict[int, list[int]] = {}
    for document, head in enumerate(heads):
        members.setdefault(head, []).append(document)
    return [group for group in members.values() if len(group) > 1]


def jaccards(texts: list[str], least: float) -> dict[tuple[int, int], float]:
    """The pairs of texts, which are words in lower case, that share enough of their character 5-grams."""
    grams = [{text[i : i + 5] for i in range(len(text) - 4)} for text in texts]
    alike = {}
    for (a, left), (b, right) in combinations(enumerate(grams), 2):
        similarity = len(left & right) / len(left | right)
        if similarity >= least:
            alike[a, b] = similarity
    return alike


def test_verified_pairs_are_those_that_comparing_all_texts_finds() -> None:
    texts = families(1, 40)
    alike = jaccards(texts, 0.7)
    with run(texts, similarity=0.7) as found:
        assert {pair: float(row["similarity"]) for pair, row in pairs(found).items()} == alike
        assert all(row["is_exact"] for row in pairs(found).values())
        assert together(found) == components(len(texts), list(alike))


@pytest.mark.parametrize(
    ("scheme", "options"), [(SCHEME, {"estimate": True}), (replace(SCHEME, verification=None), {})]
)
def test_fingerprints_decide_on_request_and_where_the_scheme_says_no_more(
    scheme: Scheme, options: dict[str, Any]
) -> None:
    texts = families(2)
    with run(texts, scheme, similarity=0.7, **options) as found:
        assert found.counts.verified == 0
        assert not any(row["is_exact"] for row in pairs(found).values())
        assert {pair for pair, similarity in jaccards(texts, 0.85).items()} <= set(pairs(found))


@pytest.mark.parametrize(
    "verification",
    [
        Verification(),
        Verification.of_fingerprints(0.55, weights="rarity"),
        Verification(0.4, "jaccard"),
        Verification(0.5, weights="scheme", numbers=1),
    ],
    ids=str,
)
def test_texts_decide_by_default_as_the_scheme_says(
    verification: Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With a value a key, all pairs that have anything in common are compared.
    monkeypatch.setattr(fingerprint_store, "_MOST_VALUES", 1)
    texts = [f"{text} {i % 3}" for i, text in enumerate(families(3, 20))]
    scheme = Scheme(verification=verification)
    rarity = builtin() if verification.weights == "rarity" else None
    verifier = Verifier(scheme, verification, rarity)
    both = np.array(list(combinations(range(len(texts)), 2))).T
    reported = zip(both.T.tolist(), verifier.similarities(texts, both).tolist(), strict=True)
    expected = {(a, b): similarity for (a, b), similarity in reported if similarity >= verification.similarity}
    assert expected
    with run(texts, scheme) as found:
        assert {pair: float(row["similarity"]) for pair, row in pairs(found).items()} == expected
    with run(texts, scheme, similarity=0.9) as found:
        assert set(pairs(found)) == {pair for pair, similarity in expected.items() if similarity >= 0.9}


@pytest.mark.parametrize("bits", [64, 128])
def test_pairs_by_simhash_are_exactly_those_within_the_distance(bits: int) -> None:
    scheme = replace(SCHEME, simhash=SimHash(bits, 8, 7))
    texts = families(3)
    prints = list(scheme.fingerprints(texts))
    expected = {
        (a, b): scheme.distance(prints[a], prints[b])
        for a, b in combinations(range(len(texts)), 2)
        if scheme.distance(prints[a], prints[b]) <= 7
    }
    with run(texts, scheme, by="simhash") as found:
        assert {pair: int(row["distance"]) for pair, row in pairs(found).items()} == expected
        assert "similarity" not in (next(found.pairs()).dtype.names or ())


def test_pairs_by_both_are_those_by_one_or_the_other() -> None:
    texts = families(4)
    with run(texts, by="simhash", distance=5) as found:
        near = set(pairs(found))
    with run(texts, similarity=0.8) as found:
        alike = set(pairs(found))
    with run(texts, distance=5, similarity=0.8) as found:
        assert set(pairs(found)) == near | alike
        assert near | alike > near


@pytest.mark.parametrize("options", [{}, {"by": "simhash"}])
def test_the_result_does_not_depend_on_memory(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    texts = families(5, 40) + ["the same text in many places"] * 50
    with run(texts, **options) as found:
        ample = pairs(found)
        counts = found.counts
    # Less than anyone can ask for, so that a few documents need files and pieces.
    monkeypatch.setattr("es_simhash.groups.corpus._BYTES_A_NUMBER", LITTLE // 50)
    monkeypatch.setattr("es_simhash.groups.pairs.compare._SHARE", LITTLE // 50)
    monkeypatch.setattr("es_simhash.groups.pairs.stored_rows._SHARE", LITTLE)
    with run(texts, memory=LITTLE, **options) as found:
        assert pairs(found) == ample
        assert found.counts == counts


@pytest.mark.parametrize("options", [{}, {"by": "both"}])
def test_the_result_does_not_depend_on_threads(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    texts = families(6, 40)
    with run(texts, **options) as found:
        alone, counts = [each for some in found.pairs() for each in some.tolist()], found.counts
    threads = set()
    by_fingerprints = Comparison._by_fingerprints

    def noting(comparison: Comparison, codes: Any) -> Any:
        threads.add(get_ident())
        return by_fingerprints(comparison, codes)

    monkeypatch.setattr(Comparison, "_by_fingerprints", noting)
    monkeypatch.setattr("es_simhash.groups.pairs.compare._COMPARED_AT_ONCE", 8)
    with run(texts, threads=3, **options) as found:
        assert [each for some in found.pairs() for each in some.tolist()] == alone
        assert found.counts == counts
    assert get_ident() not in threads


def test_identical_texts_are_chained_and_compared_no_further() -> None:
    texts = ["one and the same text", "quite another one, 1234567", "one and the same text", "one and the same text"]
    with run(texts) as found:
        assert set(pairs(found)) == {(0, 2), (2, 3)}
        assert all(row["similarity"] == 1 and row["is_exact"] for row in pairs(found).values())
        assert together(found) == [[0, 2, 3]]
        assert found.counts.identical == 2
        assert found.counts.near == found.counts.compared == 0
        assert found.is_canonical.tolist() == [True, True, False, False]


@pytest.mark.parametrize("options", [{}, {"by": "simhash"}])
def test_texts_that_differ_in_case_only_are_near_but_not_identical(options: dict[str, Any]) -> None:
    with run(["One and the same text", "ONE AND the same text"], **options) as found:
        assert found.counts.identical == 0
        assert found.counts.near == 1


@pytest.mark.parametrize(
    ("count", "options"), [(100_000, {}), (100_000, {"by": "simhash"}), (20_000, {"memory": LITTLE})]
)
def test_very_many_copies_are_one_group(count: int, options: dict[str, Any]) -> None:
    with run(["the same words again and again"] * count, **options) as found:
        assert [len(each) for each in found.positions()] == [count]
        assert found.counts.identical == found.counts.duplicates == count - 1
        assert found.counts.left_out == 0


def test_fingerprints_that_very_many_share_make_one_group_and_the_rest_is_counted() -> None:
    count = 3_000
    # Case does not count, so all have the same features, but no two texts are equal.
    text = "the quick brown fox jumps over the lazy dog"
    letters = [i for i, letter in enumerate(text) if letter != " "]
    texts = []
    for number in range(count):
        raised = {letters[bit] for bit in range(12) if number >> bit & 1}
        texts.append("".join(letter.upper() if i in raised else letter for i, letter in enumerate(text)))
    with run(texts) as found:
        assert [len(each) for each in found.positions()] == [count]
        assert found.counts.identical == 0
        assert found.counts.near < 10 * count
        assert found.counts.left_out > count


def test_features_of_a_text_are_made_a_few_times_however_many_texts_share_its_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [0]

    def counted(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
        made[0] += len(texts)
        return hashed_features(settings, texts)

    rng = np.random.default_rng(7)
    frame = words(rng, 200)
    # In an order of its own, each text shares some keys with any other.
    texts = [" ".join(rng.permutation([*frame, *words(rng, 20)])) for _ in range(300)]
    texts.append(f"{texts[0]} {words(rng, 1)[0]}")
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")  # what numpy does can be counted
    monkeypatch.setattr(fingerprinting, "hashed_features", counted)
    with run(texts, Scheme.preset("default")) as found:
        assert together(found) == [[0, 300]]
        assert found.counts.verified > 25 * len(texts)
    # For the fingerprints, and to compare them; a few once more, to see what is missed.
    assert made[0] <= 2 * len(texts) + 10


def test_near_duplicates_are_found_behind_a_boilerplate_that_all_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.groups.corpus.ALL", 4)
    boilerplate = " ".join(words(np.random.default_rng(6), 120))
    texts = [f"{boilerplate} {text}" for text in families(6, 50, 1)]
    with run(texts, similarity=0.9) as found:
        assert set(pairs(found)) == set(jaccards(texts, 0.9))
        assert found.counts.left_out > len(texts)


def test_distinct_texts_have_no_pairs() -> None:
    rng = np.random.default_rng(7)
    texts = [" ".join(words(rng, 30)) for _ in range(500)]
    with run(texts) as found:
        assert list(found.pairs()) == []
        assert together(found) == []
        assert found.is_canonical.all()


def test_empty_texts_are_kept_and_counted() -> None:
    with run(["", "a text with words", "  \n", ""]) as found:
        assert together(found) == []
        assert found.is_canonical.tolist() == [True] * 4
        assert found.counts.empty == 3
        assert found.counts.documents == 4


@pytest.mark.parametrize("texts", [[], ["one document only"], [""], ["", ""]])
def test_few_documents_are_fine(texts: list[str]) -> None:
    with run(texts) as found:
        assert found.counts.documents == len(found.is_canonical) == len(texts)
        assert list(found.ids()) == []
        assert list(found.corpus.ids()) == [f"id{i}" for i in range(len(texts))]


def test_groups_have_the_ids_of_their_documents() -> None:
    with run(["a text that is here twice", "some other text", "a text that is here twice"]) as found:
        assert list(found.ids()) == [["id0", "id2"]]


def test_short_texts_are_found_as_well() -> None:
    with run(["abc", "xyz", "ABC!", "abc"], Scheme.preset("short"), similarity=0.5) as found:
        assert (0, 3) in pairs(found)


@pytest.mark.parametrize(
    "scheme",
    [
        Scheme(tokens=Words(2)),
        Scheme(tokens=Chars(3), minhash=MinHash("k-hash", bands=42, rows=3)),
        Scheme(minhash=MinHash(bands=128, rows=1, similarity=0.5)),
        Scheme(tokens=Words(), weights="tf", minhash=MinHash("weighted", size=64, bands=16)),
        Scheme(tokens=Custom("words", str.split), floor=2),
        Scheme(tokens=Words(), hash="md5"),
    ],
    ids=["words", "k-hash", "many bands", "weighted", "custom", "md5"],
)
def test_every_kind_of_scheme_finds_near_copies(scheme: Scheme) -> None:
    scheme = replace(scheme, verification=Verification.of_fingerprints(0.8))
    texts = families(8, 5, 0)
    copies = [text.replace("e", "i", 1) for text in texts]
    with run(texts + copies, scheme, similarity=0.8) as found:
        assert [0, len(texts)] in [group[:1] + group[-1:] for group in together(found)]
        for (a, b), row in pairs(found).items():
            if scheme.weights == "set" or (scheme.minhash and scheme.minhash.is_weighted):
                both = texts + copies
                assert row["similarity"] == scheme.exact_jaccard(both[a], both[b])


def test_idf_weights_do_not_change_what_minhash_finds() -> None:
    texts = families(9, 10)
    weighted = SCHEME.with_idf(texts)
    assert isinstance(weighted.idf, IdfTable)
    with run(texts, estimate=True) as plain, run(texts, weighted, estimate=True) as found:
        assert pairs(found) == pairs(plain)


def test_progress_is_reported_up_to_the_last_document() -> None:
    reported: list[int] = []
    documents = ((str(i), "word " * 40) for i in range(10_000))
    with group_texts(documents, SCHEME, GroupOptions(threads=1), reported.append):
        pass
    assert reported == sorted(reported)
    assert reported[-1] == 10_000
    assert len(reported) > 1


def test_a_text_that_cannot_be_used_is_named_by_its_position() -> None:
    texts = ["fine"] * 9_000 + ["\ud800"]
    with pytest.raises(TextError, match="Text 9000 has the lone surrogate"):
        run(texts)
    with pytest.raises(TextError, match="Text 1 is a NoneType"):
        run(["fine", None])  # type: ignore[list-item]


@pytest.mark.parametrize("document", ["ab", ("id", "text", "more"), (1, "text"), None])
def test_a_document_that_is_not_a_pair_is_named_by_its_position(document: Any) -> None:
    with pytest.raises(DocumentError, match="Text 1 is not a pair"):
        group_texts([("a", "text"), document], SCHEME)


def test_an_error_of_the_source_reaches_the_caller(tmp_path: Path) -> None:
    def broken() -> Any:
        yield "a", "text"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        group_texts(broken(), SCHEME, GroupOptions(directory=tmp_path, memory=LITTLE))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": 100}, "too few. Allow at least"),
        ({"similarity": "far"}, "Unknown level 'far'"),
        ({"threads": 0}, "cannot be 0 threads"),
        ({"by": "simhash", "similarity": 0.5}, "means nothing"),
        ({"similarity": 1.5}, "Choose one above 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EsSimhashError, match=message):
        group_texts([], SCHEME, GroupOptions(**options))


# --- which documents make a group, and which is kept


def chain(count: int) -> list[tuple[str, str]]:
    """Texts, each like the next."""
    words = ["".join(random.Random(i).choices("abcdefghij", k=7)) for i in range(4 * count + 60)]
    return [(f"{i:03}", " ".join(words[4 * i : 4 * i + 60])) for i in range(count)]


def groups_of(documents: list[tuple[str, str]], rank: Any = None, **options: Any) -> list[list[str]]:
    with group_texts(ranked(documents, rank), SCHEME, GroupOptions(canonical=BY_RANK, **options)) as found:
        return list(found.ids())


def test_a_chain_is_one_group_in_which_several_stand_for_the_others() -> None:
    documents = chain(25)
    with group_texts(documents, SCHEME, GroupOptions(similarity=0.75)) as found:
        assert [len(group) for group in found.ids()] == [25]
        standing = standing_documents.standing(found)
        assert 5 < found.is_canonical.sum() == found.counts.documents - found.counts.duplicates < 25
    assert sum(map(len, standing)) <= 25
    texts = dict(documents)
    for first, *others in standing:
        assert min(SCHEME.exact_jaccard(texts[first], texts[other]) for other in others) > 0.7


@given(st.integers(0, 10_000), st.integers(5, 30), st.sampled_from([0.6, 0.75, 0.85]))
@examples(60)
def test_every_duplicate_is_near_the_document_that_stands_for_it(seed: int, count: int, similarity: float) -> None:
    documents, chosen = chain(count), random.Random(seed)
    documents += [(f"again {id_}", text) for id_, text in chosen.sample(documents, 3)]
    chosen.shuffle(documents)
    ranks = [chosen.randrange(4) for _ in documents]
    with group_texts(
        ranked(documents, ranks.__getitem__), SCHEME, GroupOptions(similarity=similarity, threads=1, canonical=BY_RANK)
    ) as found:
        rows, groups = members_of(found), list(found.ids())
        verifier = Verifier(SCHEME, Verification.of_fingerprints(0.6), None)
        assert found.counts.duplicates == sum(not row["is_canonical"] for row in rows)
        standing = {id_: first for first, *others in standing_documents.standing(found) for id_ in (first, *others)}
    texts, order = dict(documents), {id_: (ranks[place], place) for place, (id_, _) in enumerate(documents)}
    by_id = {row["id"]: row for row in rows}

    def similar(one: str, other: str) -> float:
        return float(verifier.similarities([texts[one], texts[other]], np.array([[0], [1]]))[0])

    for row in rows:
        assert standing.get(row["id"], row["id"]) == row["canonical"]
        assert row["is_canonical"] == (row["id"] == row["canonical"])
        assert by_id[row["canonical"]]["is_canonical"]
        assert by_id[row["canonical"]]["group"] == row["group"]
        if not row["is_canonical"]:
            assert order[row["canonical"]] < order[row["id"]]
            assert row["similarity"] >= similarity
            assert row["similarity"] == pytest.approx(similar(row["canonical"], row["id"]))
    for group in groups:
        assert min(group, key=order.__getitem__) == group[0]
        stand = [id_ for id_ in group if by_id[id_]["is_canonical"]]
        assert all(similar(a, b) < similarity for a, b in combinations(stand, 2))


def members_of(found: Groups[TextCorpus]) -> list[dict[str, Any]]:
    return polars.DataFrame(found.to_arrow()).to_dicts()


def test_the_document_of_the_least_rank_is_kept() -> None:
    text = chain(1)[0][1]
    documents = [("a", text), ("b", text + " x"), ("c", text), ("other", "nothing of the kind, and short")]
    ranks = [2, 1, 2, 0]
    assert groups_of(documents, ranks.__getitem__) == [["b", "a", "c"]]
    with group_texts(ranked(documents, ranks.__getitem__), SCHEME, GroupOptions(canonical=BY_RANK)) as found:
        assert found.is_canonical.tolist() == [False, True, False, True]


def test_of_a_key_no_more_than_the_largest_bucket_are_compared() -> None:
    text = chain(1)[0][1]
    documents = [(str(i), f"{text} {i}") for i in range(60)]
    with group_texts(documents, Scheme(), GroupOptions(max_bucket=5)) as found:
        assert found.counts.cut_off > 0
        assert found.counts.near < 60


def test_where_texts_decide_by_another_measure_pairs_meet_from_the_similarity_of_the_minhash_on() -> None:
    """Half a text has all its features in common with the whole, but only half of those that both have."""
    wholes = [" ".join(words(np.random.default_rng(seed), 60)) for seed in range(30)]
    texts = [text for whole in wholes for text in (whole, whole[: len(whole) // 2])]
    verification = Verification.of_fingerprints(0.63, "balanced")
    scheme = replace(SCHEME, minhash=MinHash(bands=42, rows=3, similarity=0.45), verification=verification)
    with run(texts, scheme) as found:
        assert set(pairs(found)) == {(2 * number, 2 * number + 1) for number in range(30)}


def ideographs(rng: np.random.Generator, count: int) -> list[str]:
    return [chr(0x4E00 + number) for number in rng.integers(0, 2_000, count)]


def test_texts_are_compared_by_runs_however_low_the_similarity_that_signatures_estimate() -> None:
    """With every eighth character changed, three of four pairs of characters stay, but few n-grams of five."""
    rng = np.random.default_rng(1)
    wholes = [ideographs(rng, 400) for _ in range(20)]
    changed = [list(whole) for whole in wholes]
    for each in changed:
        each[::8] = ideographs(rng, 50)
    texts = ["".join(text) for both in zip(wholes, changed, strict=True) for text in both]
    minhash = MinHash(bands=100, rows=1, similarity=0.2)
    expected = {(2 * number, 2 * number + 1) for number in range(20)}
    by_runs = replace(Verification.of_fingerprints(0.57), features="text")
    for verification, found in ((by_runs, expected), (replace(by_runs, features="scheme"), set())):
        with run(texts, replace(SCHEME, minhash=minhash, verification=verification)) as result:
            assert set(pairs(result)) == found


ROWS = [
    {"id": "a", "text": "It rains on the town.", "site": "x", "at": "2026-03-02"},
    {"id": "b", "text": "It rains on the town!", "site": "x", "at": "2026-03-01"},
    {"id": "c", "text": "It rains on the town …", "site": "y", "at": "2026-01-01"},
]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"canonical": "oldest:at"}, ["cba"]),
        ({"canonical": "order:site=y", "within": "site"}, ["ab"]),
        ({"canonical": "longest", "fields": "text"}, ["cab"]),
        ({"within": ["site"]}, ["ab"]),
        ({"within": "site", "scope": Scope(across=("at",))}, ["ab"]),
        ({"across": "site", "window": "30d", "date": "at"}, []),
    ],
)
def test_orders_and_scopes_are_named_as_on_the_command_line(options: Any, expected: list[str]) -> None:
    with dedup(ROWS, similarity="versions", **options) as found:
        assert ["".join(each.id for each in group.members) for group in found] == expected
    frame = Frame(polars.DataFrame(ROWS), options.pop("fields", ()))
    with dedup(frame, similarity="versions", **options) as found:
        assert len(found) == len(expected)


def test_names_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="Choose from: first, longest, oldest:FIELD"):
        dedup(ROWS, canonical="eldest:at")
    with pytest.raises(InputError, match="Name them by --field, or by fields in Python"):
        dedup(ROWS, canonical="longest")
    with pytest.raises(InputError, match="needs the field of the dates"):
        dedup(ROWS, window="30d")


def test_the_notes_say_whether_near_duplicates_seem_to_be_missing() -> None:
    counts = Counts(9, 0, 0, 0, 0, 0, 0, 0, left_out=7)
    assert len(counts.notes) == 1
    [note] = replace(counts, missed=Missed(5, 0, 0, 0, 2)).notes
    assert note.endswith("with very many others; no near-duplicates seem to be missing.")
    [_, note] = replace(counts, missed=Missed(5, 2, 4, 1, 8)).notes
    assert "may lack about 4 pairs (1 to 8). To find them, remove the shared text" in note


THREADED = Scheme.preset("default")
TEXTS = [sha256(bytes([i % 250, i % 37])).hexdigest() for i in range(9_000)]


def test_the_result_depends_neither_on_threads_nor_on_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for native in ("1", "0"):
        monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
        for threads in (1, 3):
            with group_texts(((text, text) for text in TEXTS), THREADED, GroupOptions(threads=threads)) as found:
                pairs = [batch.tobytes() for batch in found.pairs()]
                results.append((found.counts, pairs, found.firsts.tolist()))
    assert all(each == results[0] for each in results)


@pytest.mark.parametrize("native", ["0", "1"])
def test_threads_name_a_text_that_cannot_be_used_by_its_position(native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    texts: list[Any] = [*TEXTS, "\ud800", *TEXTS]
    options = GroupOptions(threads=2)
    with (
        pytest.raises(TextError, match="Text 9000 has the lone surrogate"),
        group_texts(((str(i), t) for i, t in enumerate(texts)), THREADED, options),
    ):
        pass


def test_all_cores_are_used_by_default() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)
