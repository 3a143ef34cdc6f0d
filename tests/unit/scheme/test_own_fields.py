from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given

from es_simhash._core import arrays
from es_simhash._core.json_codec import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import STATUSES, Fingerprints
from es_simhash.scheme.own_fields import KINDS
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import KeyForm, Layout, MinHash, SimHash
from tests.support.fuzzing import examples, json_values
from tests.support.texts import any_text, batches

TEXT = "Near-duplicate detection finds what was copied, 轉載 and コピー, and changed a little."

LAYOUTS = {
    "text": Layout("text"),
    "keyword": Layout("keyword"),
    "fields": Layout("fields"),
    "signature apart": Layout("keyword", signature_bits=8),
    "no doc values": Layout("fields", doc_values=False),
    "blocks alone": Layout(simhash="blocks"),
}
SCHEMES = {
    **{name: Scheme(layout=layout) for name, layout in LAYOUTS.items()},
    **{f"simhash, {name}": Scheme(layout=LAYOUTS[name], minhash=None) for name in ("text", "keyword", "fields")},
    **{
        f"blocks alone, {keys}": Scheme(layout=Layout(keys, simhash="blocks"), minhash=None)
        for keys in get_args(KeyForm)
    },
    **{f"minhash, {name}": Scheme(layout=LAYOUTS[name], simhash=None) for name in ("text", "keyword", "fields")},
    "32 bits": Scheme(simhash=SimHash(32, 4, 2)),
    "128 bits": Scheme(simhash=SimHash(128, 8, 3)),
}

each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def written(scheme: Scheme, *texts: str) -> list[Json]:
    """The fields of a few texts."""
    [batch] = scheme.fingerprint_batches(texts)
    return list(own_fields.write(scheme, scheme.id, texts, batch))


def mapped_dynamically(stored: Json, properties: Json) -> Iterator[str]:
    """The fields for which an engine that maps what it does not know would add a mapping of its own."""
    for name, value in stored.items():
        values = value if isinstance(value, list) else [value]
        if name not in properties or not all(isinstance(each, str) for each in values):
            yield name


@each_scheme
def test_what_is_written_has_exactly_the_mapped_names(scheme: Scheme) -> None:
    [stored] = written(scheme, TEXT)
    assert set(stored) == set(own_fields.properties(scheme)) == set(own_fields.names(scheme))
    assert not list(mapped_dynamically(stored, own_fields.properties(scheme)))


@each_scheme
def test_an_empty_text_has_no_fingerprint_but_a_status(scheme: Scheme) -> None:
    ok, empty, last = written(scheme, TEXT, " \n", TEXT)
    assert empty == {"content": own_fields.content_hash(" \n"), "scheme": scheme.id, "status": "empty"}
    assert ok == last
    assert ok["status"] == "ok"


def test_a_short_text_has_a_fingerprint_and_its_status() -> None:
    [stored] = written(Scheme(), "title")
    assert stored["status"] == "short"
    assert set(stored) == set(own_fields.names(Scheme()))


@each_scheme
@examples(10)
@given(texts=batches())
def test_each_text_has_the_fields_that_it_has_alone(scheme: Scheme, texts: list[str]) -> None:
    if texts:
        assert written(scheme, *texts) == [stored for text in texts for stored in written(scheme, text)]


# --- the mapping ---

SEARCHED = {"type": "keyword", "doc_values": False}
SPACED = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
READ = {"type": "keyword", "index": False, "doc_values": False}
COUNTED = {"type": "keyword", "index": False}
ALWAYS = {"content": READ, "scheme": {"type": "keyword"}, "status": {"type": "keyword"}}


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (Layout("text"), {"simhash": COUNTED, "blocks": SPACED, "bands": SPACED}),
        (Layout("keyword"), {"simhash": COUNTED, "blocks": SEARCHED, "bands": SEARCHED}),
        (
            Layout("fields"),
            {"simhash": COUNTED, "block0": SEARCHED, "block1": SEARCHED, "band0": SEARCHED, "band1": SEARCHED},
        ),
        (Layout(signature_bits=4), {"simhash": COUNTED, "blocks": SPACED, "bands": SPACED, "signature": READ}),
        (Layout(doc_values=False), {"simhash": READ, "blocks": SPACED, "bands": SPACED}),
        (Layout(simhash="blocks"), {"blocks": SPACED, "bands": SPACED}),
    ],
    ids=str,
)
def test_each_layout_has_its_mapping(layout: Layout, expected: Json) -> None:
    scheme = Scheme(simhash=SimHash(64, 2, 1), minhash=MinHash(bands=2), layout=layout)
    assert own_fields.properties(scheme) == expected | ALWAYS


def test_only_what_is_computed_is_mapped() -> None:
    assert own_fields.names(Scheme(minhash=None)) == ["simhash", "blocks", "content", "scheme", "status"]
    assert own_fields.names(Scheme(simhash=None)) == ["bands", "content", "scheme", "status"]


def test_a_mapping_is_the_caller_s_own_to_change() -> None:
    before = own_fields.properties(Scheme())
    own_fields.properties(Scheme())["status"]["ignore_above"] = 8
    try:
        assert "ignore_above" not in before["scheme"]
        assert "ignore_above" not in own_fields.properties(Scheme())["status"]
    finally:
        own_fields.properties(Scheme())["status"].pop("ignore_above", None)


# --- how a fingerprint lies in its fields ---


@pytest.mark.parametrize("bits", [5, 32, 33, 64, 128])
def test_the_simhash_is_written_in_all_its_hexadecimal_digits(bits: int) -> None:
    scheme = Scheme(simhash=SimHash(bits, 4, 2), minhash=None)
    values = [1, 2**bits - 1, 0]
    batch = Fingerprints(np.zeros(3, dtype=np.uint8), arrays.from_ints(values, bits), None)
    simhashes = [stored["simhash"] for stored in own_fields.write(scheme, scheme.id, ["a", "b", "c"], batch)]
    assert [int(digits, 16) for digits in simhashes] == values
    assert {len(digits) for digits in simhashes} == {(bits + 3) // 4}
    assert simhashes[0] == "1".zfill((bits + 3) // 4)


@pytest.mark.parametrize("name", ["32 bits", "128 bits", "text"])
def test_the_simhash_is_that_of_the_text(name: str) -> None:
    scheme = SCHEMES[name]
    [stored] = written(scheme, TEXT)
    assert int(stored["simhash"], 16) == scheme.fingerprint(TEXT).simhash


def test_keys_lie_as_the_layout_says() -> None:
    forms = {name: written(SCHEMES[name], TEXT)[0] for name in ("text", "keyword", "fields")}
    blocks = Scheme().block_keys(Scheme().fingerprint(TEXT))
    bands = Scheme().band_keys(Scheme().fingerprint(TEXT))
    assert len(blocks) == 6
    assert len(bands) == 36
    assert (forms["text"]["blocks"], forms["text"]["bands"]) == (" ".join(blocks), " ".join(bands))
    assert (forms["keyword"]["blocks"], forms["keyword"]["bands"]) == (blocks, bands)
    assert [forms["fields"][f"block{i}"] for i in range(6)] == blocks
    assert [forms["fields"][f"band{i}"] for i in range(36)] == bands


@each_scheme
def test_a_fingerprint_is_read_as_it_was_written(scheme: Scheme) -> None:
    [stored] = written(scheme, TEXT)
    read = own_fields.read_all(scheme, scheme.id, [stored])
    fingerprint = scheme.fingerprint(TEXT)
    assert (read.places, read.contents) == ([0], [own_fields.content_hash(TEXT)])
    if scheme.simhash:
        assert read.simhashes is not None
        assert arrays.to_ints(read.simhashes) == [fingerprint.simhash]
    if scheme.minhash:
        expected = scheme.minhash.layout.signatures_of_keys(["".join(scheme.band_keys(fingerprint))])
        assert read.keyed is not None
        assert read.keyed.tolist() == expected.tolist()


@each_scheme
def test_documents_without_a_fingerprint_have_none_to_read(scheme: Scheme) -> None:
    assert own_fields.read_all(scheme, scheme.id, [{}, written(scheme, "")[0]]).places == []


@pytest.mark.parametrize("name", ["text", "keyword", "fields"])
def test_the_nulls_of_a_deferred_document_read_as_no_fingerprint(name: str) -> None:
    scheme = SCHEMES[name]
    deferred = own_fields.deferred(scheme) | {"scheme": scheme.id}
    assert own_fields.read_all(scheme, scheme.id, [deferred]).places == []


@each_scheme
def test_a_document_has_every_key_by_which_its_own_fingerprint_is_searched(scheme: Scheme) -> None:
    [stored] = written(scheme, TEXT)
    fingerprint = scheme.fingerprint(TEXT)
    blocks, bands = (own_fields.terms(scheme, kind, fingerprint) for kind in KINDS)
    assert [key for _, key in blocks] == scheme.block_keys(fingerprint)
    assert [key for _, key in bands] == scheme.band_keys(fingerprint)
    for name, key in blocks + bands:
        held = stored[name]
        assert key in (held.split() if isinstance(held, str) else held)


@each_scheme
def test_an_empty_text_has_nothing_to_be_searched_by(scheme: Scheme) -> None:
    empty = scheme.fingerprint("")
    assert [own_fields.terms(scheme, kind, empty) for kind in KINDS] == [[], []]


def test_a_signature_apart_is_that_of_the_text_cut_to_its_bits() -> None:
    scheme = Scheme(layout=Layout(signature_bits=32))
    [stored] = written(scheme, TEXT)
    whole = scheme.fingerprint(TEXT).minhash or b""
    assert stored["signature"] == urlsafe_b64encode(whole).decode().rstrip("=")
    [cut] = written(Scheme(layout=Layout(signature_bits=8)), TEXT)
    assert cut["signature"] == urlsafe_b64encode(whole[::4]).decode().rstrip("=")


# --- texts that are equal, and texts that changed ---


@pytest.mark.parametrize(
    ("text", "expected"),
    # The SHA-256 of "abc", ba7816bf 8f01cfea…, is the example of FIPS 180-2.
    [("", "47DEQpj8"), ("abc", "ungWv48B"), ("轉載", "2jUEWS7T")],
)
def test_content_hashes_never_change(text: str, expected: str) -> None:
    assert own_fields.content_hash(text) == expected


@given(any_text())
def test_a_content_hash_is_the_beginning_of_the_sha256(text: str) -> None:
    digits = urlsafe_b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
    assert own_fields.content_hash(text) == digits[:8]


def test_texts_of_equal_features_are_distinguished_by_their_content() -> None:
    one, other = written(Scheme(), TEXT, TEXT.upper())
    assert one["bands"] == other["bands"]
    assert one["content"] != other["content"]


@each_scheme
def test_deferred_empties_all_fields_but_the_status(scheme: Scheme) -> None:
    deferred: dict[str, Any] = own_fields.deferred(scheme)
    assert set(deferred) == set(own_fields.properties(scheme))
    assert deferred.pop("status") == own_fields.DEFERRED
    assert set(deferred.values()) == {None}


def test_deferred_is_not_a_status_of_a_fingerprint() -> None:
    assert own_fields.DEFERRED not in STATUSES


@given(value=json_values(["block_1", "bands", "blocks", "content"]))
def test_what_others_wrote_where_our_object_belongs_is_not_a_key(value: Any) -> None:
    own = own_fields.object_in({"dedup": value}, "dedup")
    assert own == (value if isinstance(value, dict) else {})
    for kind in ("block", "band"):
        for keys in own_fields.keys_in(own, kind).values():
            assert all(isinstance(key, str) for key in keys)
