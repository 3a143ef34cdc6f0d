"""Fields that the compiled kernels write are those that numpy writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import words_per_code
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents, fingerprinted
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprints
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, KeyForm, Layout, MinHash, Settings, SimHash, SimHashForm, reads_texts
from es_simhash.sketches.minhash.common import VALUE_BITS, estimates
from tests import ROOT
from tests.support.texts import any_text

kernels = pytest.importorskip("es_simhash_native")

GOLDEN = json.loads((ROOT / "tests" / "data" / "golden.json").read_text(encoding="utf-8"))["presets"]["default"]


def by_kernels(settings: Settings, texts: Sequence[str], fingerprints: Fingerprints) -> list[Json] | None:
    return own_fields.write_by_kernels(settings, "id", texts, fingerprints)


def by_numpy(settings: Settings, texts: Sequence[str], fingerprints: Fingerprints) -> list[Json]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ES_SIMHASH_NATIVE", "0")
        return list(own_fields.write(settings, "id", texts, fingerprints))


@st.composite
def any_settings(draw: st.DrawFn) -> Settings:
    bits = draw(st.integers(1, 128))
    blocks = draw(st.integers(-(-bits // 64), min(36, bits)))
    size = draw(st.sampled_from([1, 3, 128, 300]))
    key_bits = draw(st.integers(1, 10)) * 6
    rows = draw(st.integers(1, min(size, key_bits)))
    minhash = MinHash("k-hash", size, draw(st.integers(1, size // rows)), rows, key_bits)
    part = draw(st.sampled_from(["simhash", "minhash", "both"]))
    signature_bits = 0 if part == "simhash" else draw(st.integers(0, 32))
    return Settings(
        simhash=None if part == "minhash" else SimHash(bits, blocks, 0),
        minhash=None if part == "simhash" else minhash,
        layout=Layout(
            draw(st.sampled_from(get_args(KeyForm))),
            signature_bits,
            simhash=draw(st.sampled_from(get_args(SimHashForm))),
        ),
    )


def any_fingerprints(settings: Settings, count: int, seed: int) -> Fingerprints:
    random = np.random.default_rng(seed)
    simhashes = signatures = None
    if settings.simhash:
        bits = settings.simhash.bits
        words = random.integers(0, 2**64, (count, words_per_code(bits)), np.uint64)
        words[:, 0] >>= np.uint64(-bits % 64)
        simhashes = words[:, 0].copy() if bits <= 64 else words
    if settings.minhash:
        signatures = random.integers(0, 2**32, (count, settings.minhash.size), np.uint32)
    return Fingerprints(random.integers(0, 3, count).astype(np.uint8), simhashes, signatures)


@given(any_settings(), st.lists(any_text(), min_size=1, max_size=4), st.integers(0, 99))
def test_fields_are_those_of_numpy(settings: Settings, texts: list[str], seed: int) -> None:
    fingerprints = any_fingerprints(settings, len(texts), seed)
    found, expected = by_kernels(settings, texts, fingerprints), by_numpy(settings, texts, fingerprints)
    assert found == expected
    assert [list(each) for each in found or []] == [list(each) for each in expected]


@pytest.mark.parametrize("length", [0, 63, 64, 65, 4095, 4096, 4097, 20_000])
@pytest.mark.parametrize("character", ["a", "é", "漢", "😀"])
def test_texts_of_any_length_have_the_content_hash_of_numpy(character: str, length: int) -> None:
    settings = Settings()
    fingerprints = any_fingerprints(settings, 1, 0)
    assert by_kernels(settings, [character * length], fingerprints) == by_numpy(
        settings, [character * length], fingerprints
    )


def test_keys_are_the_golden_ones() -> None:
    for golden in GOLDEN["texts"].values():
        if golden["status"] != "empty":
            first = MinHash(bands=32, rows=4, key_bits=30)
            settings = Settings(minhash=first, layout=Layout(signature_bits=32))
            signature = own_fields.signature_codec(settings).from_text(golden["minhash"])
            simhash = np.array([int(golden["simhash"], 16)], np.uint64)
            fingerprints = Fingerprints(np.array([0], np.uint8), simhash, signature[np.newaxis])
            [fields] = by_kernels(Settings(minhash=first), [golden["text"]], fingerprints) or []
            assert fields["simhash"] == golden["simhash"]
            assert fields["blocks"].split() == golden["blocks"]
            assert fields["bands"].split() == golden["bands"]


def test_columns_that_do_not_fit_are_left_to_numpy() -> None:
    settings, texts = Settings(), ["one", "two"]
    fitting = any_fingerprints(settings, 2, 0)
    assert by_kernels(settings, texts, fitting) is not None
    assert fitting.simhashes is not None
    assert fitting.signatures is not None
    for wrong in (
        replace(fitting, statuses=fitting.statuses[:1]),
        replace(fitting, statuses=fitting.statuses + np.uint8(3)),
        replace(fitting, simhashes=None),
        replace(fitting, simhashes=fitting.simhashes[:1]),
        replace(fitting, signatures=None),
        replace(fitting, signatures=fitting.signatures[:, :8]),
        replace(fitting, signatures=fitting.signatures.astype(np.uint64)),
        replace(fitting, simhashes=np.repeat(fitting.simhashes, 2)[::2]),
        replace(fitting, signatures=np.asfortranarray(fitting.signatures)),
    ):
        assert by_kernels(settings, texts, wrong) is None
    assert by_kernels(settings, ["one", "\ud800"], fitting) is None
    narrow = replace(settings, simhash=SimHash(40, 4, 0), minhash=None)
    assert by_kernels(narrow, texts, replace(fitting, simhashes=np.full(2, 2**40, np.uint64))) is None


# What may stand in a field instead of what was written there: much of it is nearly right.
CHANGED = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=3),
    st.sampled_from(["0", "000000000000000000000000000000000000000a", "A", "\ud800", "é", [], [""], ["", ""], [1], {}]),
)


@st.composite
def any_objects(draw: st.DrawFn, settings: Settings) -> list[Any]:
    """The fields of a few documents; some may be changed."""
    count = draw(st.integers(0, 3))
    objects: list[Any] = []
    if count:
        objects += by_numpy(settings, ["text"] * count, any_fingerprints(settings, count, draw(st.integers(0, 99))))
        objects += draw(st.lists(CHANGED, max_size=1))
    for fields in objects[: draw(st.integers(0, count))]:
        name = draw(st.sampled_from(sorted(fields)))
        fields[name] = draw(CHANGED | changed(fields[name]) | changed(fields[name]))
        if draw(st.booleans()):
            del fields[draw(st.sampled_from(sorted(fields)))]
    return objects


def changed(value: Any) -> st.SearchStrategy[Any]:
    """Values that differ a little."""
    if isinstance(value, list):
        return st.sampled_from([value[1:], [*value, value[0]], [" ".join(value)], " ".join(value), [*value[1:], 5]])
    characters = st.sampled_from("Aaf09_-+ =\n.é")
    inserted = st.builds(lambda place, new: value[:place] + new + value[place:], st.integers(0, len(value)), characters)
    replaced = st.builds(
        lambda place, new: value[:place] + new + value[place + 1 :], st.integers(0, len(value) - 1), characters
    )
    return st.one_of(inserted, replaced, replaced, st.sampled_from([value.split(" "), value[1:], value[:-1], [value]]))


@given(st.data())
def test_fingerprints_are_read_back_as_by_numpy(data: st.DataObject) -> None:
    settings = data.draw(any_settings())
    objects = data.draw(any_objects(settings))
    size = settings.minhash.size if settings.minhash else 0
    own = np.array(data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=size, max_size=size)), dtype=np.uint32)
    found = own_fields.read_all(settings, "id", objects, own.tobytes() if size else None)
    expected = own_fields._read_all(settings, "id", objects)
    if settings.minhash:
        bits = settings.layout.signature_bits or settings.minhash.layout.value_bits
        values = expected.signatures if settings.layout.signature_bits else expected.keyed
        assert values is not None
        assert (found.similarities is None) == (bits == VALUE_BITS)
        if found.similarities is not None:
            assert found.similarities.tolist() == estimates(own[: values.shape[1]], values, bits).tolist()
    assert found.places == expected.places
    assert found.contents == expected.contents
    for name in ("simhashes", "keyed", "signatures"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert one.tolist() == other.tolist()


@given(st.sampled_from([Scheme(), *map(Scheme.preset, PRESETS), Scheme(html=True)]), any_text(60))
def test_one_text_has_the_fingerprint_and_fields_that_it_has_among_many(scheme: Scheme, text: str) -> None:
    documents = Documents(scheme, ["body"])
    [made] = fingerprinted(documents, [text])
    assert made == next(fingerprinted(documents, [text, ""]))
    assert (own_fields.of_text(scheme, scheme.id, text) is None) == (not reads_texts(scheme))


def test_without_the_kernels_numpy_writes_the_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
    assert by_kernels(Settings(), [], any_fingerprints(Settings(), 0, 0)) is None
    assert own_fields.read_all(Settings(), "id", [{}]).places == []
