""""""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core import arrays
from es_simhash.errors import HashError, SchemeError, WeightError
from es_simhash.sketches import hamming
from es_simhash.sketches import simhash as module
from es_simhash.sketches.simhash import bit_counts, bit_sums, from_sums, simhash_of_hashes, simhash_of_vector, simhashes
from es_simhash.text.features import FeatureBatch, check_weights
from es_simhash.text.hashing import HASH_FUNCTIONS, WIDTHS

# Many small fractions, whose float sums differ from the exact ones, and cancel to 0 or nearly so.
Weights = st.one_of(
    st.integers(-9, 9),
    st.sampled_from([0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.7, -0.7, 1e-12, -1e-12, 1e9, -1e9]),
)


@st.composite
def weighted_hashes(draw: st.DrawFn) -> tuple[int, list[tuple[int, float]]]:
    bits = draw(st.sampled_from([1, 2, 6, 31, 32, 63, 64, 65, 100, 127, 128]))
    return bits, draw(st.lists(st.tuples(st.integers(0, 2**bits - 1), Weights), max_size=30))


def simhash_by_definition(pairs: list[tuple[int, float]], bits: int) -> int:
    value = 0
    for bit in range(bits):
        total = sum((Fraction(w) if h >> bit & 1 else -Fraction(w) for h, w in pairs), start=Fraction(0))
        value |= (total > 0) << bit
    return value


@given(weighted_hashes())
def test_simhash_follows_its_definition_exactly_whatever_the_weights(case: tuple[int, list[tuple[int, float]]]) -> None:
    bits, pairs = case
    assert simhash_of_hashes(pairs, bits) == simhash_by_definition(pairs, bits)


@given(weighted_hashes(), st.randoms(use_true_random=False))
def test_the_order_of_features_does_not_matter(case: tuple[int, list[tuple[int, float]]], random: object) -> None:
    bits, pairs = case
    shuffled = sorted(pairs, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert simhash_of_hashes(shuffled, bits) == simhash_of_hashes(pairs, bits)


@given(st.integers(1, 128), st.data())
def test_sums_above_zero_give_one_and_others_zero(bits: int, data: st.DataObject) -> None:
    sums = data.draw(st.lists(st.integers(-1, 1), min_size=bits, max_size=bits))
    expected = int("".join("1" if value > 0 else "0" for value in sums), 2)
    assert arrays.to_ints(from_sums(np.array([sums]))) == [expected]


@given(weighted_hashes(), st.integers(0, 30))
def test_sums_of_parts_add_up_to_those_of_the_whole(case: tuple[int, list[tuple[int, float]]], cut: int) -> None:
    bits, pairs = case
    whole_numbers = [(value, round(weight)) for value, weight in pairs]

    def sums(part: list[tuple[int, int]]) -> np.ndarray:
        hashes = arrays.from_ints((value for value, _ in part), bits)
        return bit_sums(FeatureBatch(hashes, np.array([0, len(part)]), check_weights(w for _, w in part)), bits)

    together = sums(whole_numbers[:cut]) + sums(whole_numbers[cut:])
    assert arrays.to_ints(from_sums(together)) == [simhash_of_hashes(whole_numbers, bits)]


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=20), max_size=6))
def test_a_batch_gives_each_document_its_own_simhash(documents: list[list[int]]) -> None:
    offsets = np.array([0, *np.cumsum([len(document) for document in documents])], dtype=np.int64)
    hashes = np.array([value for document in documents for value in document], dtype=np.uint64)
    alone = [simhash_of_hashes([(value, 1) for value in document], 64) for document in documents]
    assert simhashes(FeatureBatch(hashes, offsets), 64).tolist() == alone
    weights = np.arange(len(hashes)) - 3
    weighted = simhashes(FeatureBatch(hashes, offsets, weights), 64).tolist()
    spans = list(pairwise(offsets.tolist()))
    pairs = [list(zip(hashes[a:b].tolist(), weights[a:b].tolist(), strict=True)) for a, b in spans]
    assert weighted == [simhash_by_definition(document, 64) for document in pairs]


def from_bits(*digits: str) -> list[int]:
    return [int(each, 2) for each in digits]


def test_example_of_weighted_words_in_six_bits() -> None:
    """美国 5, 51区 2, 飞碟 3, 灰色 1, 外星人 4."""
    hashes = arrays.from_ints(from_bits("100101", "101011", "100111", "101111", "111011"), 6)
    features = FeatureBatch(hashes, np.array([0, 5]), np.array([5, 2, 3, 1, 4]))
    assert bit_sums(features, 6).tolist() == [[15, -7, -1, 3, 5, 15]]
    assert simhashes(features, 6).tolist() == from_bits("100111")


def test_example_of_fractional_weights() -> None:
    """上海 45.11, 北京 32.09."""
    shanghai, beijing = from_bits("01011001", "11001011")
    assert simhash_of_hashes([(shanghai, 45.11), (beijing, 32.09)], 8) == shanghai


def test_example_of_a_vector_and_its_hyperplanes() -> None:
    vector = [1, 2, 0, 3, 0]
    word_hashes = from_bits("101", "011", "100", "001", "110")
    hashes = arrays.from_ints(word_hashes, 3)
    assert bit_sums(FeatureBatch(hashes, np.array([0, 5]), np.array(vector)), 3).tolist() == [[-4, -2, 6]]
    assert simhash_of_vector(dict(enumerate(vector)), 3, lambda word: word_hashes[int(word)]) == 0b001
    planes = np.array([[1 if value >> bit & 1 else -1 for value in word_hashes] for bit in (2, 1, 0)])
    assert (planes @ vector > 0).astype(int).tolist() == [0, 0, 1]


def test_example_of_a_sparse_vector_in_two_bits() -> None:
    hashes = from_bits("10", "01", "11")
    features = FeatureBatch(arrays.from_ints(hashes, 2), np.array([0, 3]), np.array([3, 2, 4]))
    assert bit_sums(features, 2).tolist() == [[5, 3]]
    assert simhash_of_vector({0: 3, 1: 2, 2: 4}, 2, lambda dimension: hashes[int(dimension)]) == 0b11


@pytest.mark.parametrize("name", HASH_FUNCTIONS)
def test_example_of_two_near_sentences_and_one_far(name: str) -> None:
    texts = ("the cat sat on the mat", "the cat sat on a mat", "we all scream for ice cream")
    grams = [[text[i : i + 2] for i in range(len(text) - 1)] for text in texts]
    first, near, far = (
        simhash_of_hashes([(value, 1) for value in arrays.to_ints(HASH_FUNCTIONS[name].hash_tokens(each, 32))], 32)
        for each in grams
    )
    assert hamming.distance(first, near) * 3 <= hamming.distance(first, far) * 2


@given(st.dictionaries(st.integers(0, 10**6), st.floats(-1e3, 1e3), max_size=30), st.floats(0.1, 50))
def test_a_vector_and_its_positive_multiple_by_a_power_of_two_have_the_same_simhash(
    vector: dict[int, float], scale: float
) -> None:
    power = 2.0 ** round(scale % 8)
    scaled = {name: value * power for name, value in vector.items()}
    assert simhash_of_vector({**scaled}) == simhash_of_vector({**vector})


def test_angles_of_vectors_show_in_the_distances() -> None:
    """The share of differing bits is the angle over pi (Charikar, 2002)."""
    rng = np.random.default_rng(5)
    shares, angles = [], []
    for mixture in np.linspace(0, 1, 40):
        a, noise = rng.normal(size=(2, 300))
        b = (1 - mixture) * a + mixture * noise
        distance = hamming.distance(*(simhash_of_vector({**dict(enumerate(v.tolist()))}, 128) for v in (a, b)))
        shares.append(distance / 128)
        angles.append(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) / np.pi)
    assert abs(np.mean(np.array(shares) - angles)) < 0.02


@pytest.mark.parametrize("bits", [1, 31, 32, 33, 64, 100, 128])
def test_a_narrower_simhash_of_a_vector_is_the_beginning_of_a_wider_one(bits: int) -> None:
    vector: dict[str | int, float] = {f"d{i}": (-1) ** i * i / 7 for i in range(50)}
    width = next(width for width in WIDTHS if width >= bits)
    assert simhash_of_vector(vector, bits) == simhash_of_vector(vector, width) >> (width - bits)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf"), "x", "5", None, [1], 10**400])
def test_weights_that_are_not_finite_numbers_are_refused(weight: object) -> None:
    with pytest.raises(WeightError):
        simhash_of_vector({"a": 1.0, "b": weight})  # type: ignore[dict-item]


def test_weights_too_large_to_add_up_are_refused() -> None:
    with pytest.raises(WeightError, match="Scale them down"):
        simhash_of_vector({"a": 1e308, "b": 1e308})


@pytest.mark.parametrize("bits", [0, -3, 129, 2.0])
def test_widths_out_of_range_are_refused(bits: object) -> None:
    with pytest.raises(SchemeError, match="from 1 to 128"):
        simhash_of_vector({"a": 1.0}, bits)  # type: ignore[arg-type]


def test_a_hash_wider_than_the_simhash_is_refused() -> None:
    with pytest.raises(HashError, match="64"):
        simhash_of_hashes([(64, 1.0)], 6)


def test_nothing_has_the_simhash_zero() -> None:
    assert simhash_of_vector({}) == 0
    assert simhashes(FeatureBatch(np.empty(0, np.uint64), np.zeros(1, np.int64)), 64).tolist() == []


def test_the_simhash_package_agrees_given_the_same_hashes() -> None:
    peer = pytest.importorskip("simhash")
    pairs = [(int(i * 0x9E3779B97F4A7C15 % 2**64), 1 + i % 7) for i in range(1, 200)]
    by_peer = peer.Simhash(
        [(str(value), weight) for value, weight in pairs], hashfunc=lambda token: int(token) if token.isdigit() else 0
    )
    assert simhash_of_hashes(pairs, 64) == by_peer.value


def counts_one_by_one(hashes: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    documents = [hashes[start:end].tolist() for start, end in pairwise(offsets)]
    return [[sum(value >> bit & 1 for value in document) for bit in range(64)] for document in documents]


# Around the sizes at which groups of 15 and runs of 17 groups end.
Sizes = st.lists(st.sampled_from([0, 0, 1, 2, 14, 15, 16, 31, 254, 255, 256, 271]), max_size=6)


@given(Sizes, st.integers(0, 2**32), st.booleans())
def test_bits_are_counted_as_one_by_one(sizes: list[int], seed: int, all_ones: bool) -> None:
    offsets = np.cumsum([0, *sizes])
    hashes = np.random.default_rng(seed).integers(0, 2**64, offsets[-1], dtype=np.uint64)
    if all_ones:
        hashes[:] = 2**64 - 1
    assert bit_counts(hashes, offsets).tolist() == counts_one_by_one(hashes, offsets)


@pytest.mark.parametrize("chunk", [1, 7, 100, 10_000])
def test_counts_do_not_depend_on_how_the_batch_is_divided(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0, *rng.integers(0, 60, 40), 0])
    hashes = rng.integers(0, 2**64, offsets[-1], dtype=np.uint64)
    whole = bit_counts(hashes, offsets)
    monkeypatch.setattr(module, "_CHUNK", chunk)
    assert np.array_equal(bit_counts(hashes, offsets), whole)


def test_a_very_long_document_is_counted_exactly() -> None:
    offsets = np.array([0, 0, 300_000, 300_001])
    hashes = np.full(300_001, 2**64 - 1, dtype=np.uint64)
    assert bit_counts(hashes, offsets).tolist() == [[0] * 64, [300_000] * 64, [1] * 64]
