from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, InputError, SchemeError, TextError, WeightError
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import STATUSES, Fingerprint
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, Layout, MinHash, SimHash
from es_simhash.scheme.verification import Verification
from es_simhash.text.hashing import HASH_FUNCTIONS, HashFunction, custom_hash
from es_simhash.text.normalise import Normalisation
from es_simhash.text.tokens import Chars, Chinese, Custom, Keywords, Runs, Words
from tests.support.fuzzing import examples
from tests.support.texts import batches

TEXT = "Near-duplicate detection finds what was copied, 轉載 and コピー, and changed a little."
EDITED = TEXT.replace("a little", "slightly")
OTHER = "Nothing in common: 完全に違う文章です。その内容も長さも別。"

OWN_HASH = custom_hash("own", lambda token: int.from_bytes(blake2b(token.encode(), digest_size=8).digest(), "big"))


SCHEMES = {
    "default": Scheme(),
    "words": Scheme(tokens=Words(2, frozenset({"The"}))),
    "wide": Scheme(simhash=SimHash(128, 8, 3)),
    "narrow": Scheme(simhash=SimHash(32, 4, 2), weights="tf"),
    "runs": Scheme(tokens=Runs(), verification=Verification(features="text")),
    "md5": Scheme(hash="md5", tokens=Chars(3)),
    "fnv1a": Scheme(hash="fnv1a", tokens=Chars(3)),
    "k-hash": Scheme(minhash=MinHash("k-hash", 64, 16, 4)),
    "weighted": Scheme(minhash=MinHash("weighted", 32, 8, 4)).with_idf([TEXT, OTHER]),
    "tfidf": Scheme(minhash=None).with_idf([TEXT, OTHER, EDITED], "tfidf"),
    "custom": Scheme(tokens=Custom("lengths", lambda t: [(w, float(len(w))) for w in t.split()]), weights="own"),
    "own hash": Scheme(hash=OWN_HASH),
}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_small_edit_stays_near_and_another_text_far(scheme: Scheme) -> None:
    first, edited, other = scheme.fingerprints([TEXT, EDITED, OTHER])
    assert scheme.exact_jaccard(TEXT, EDITED) > scheme.exact_jaccard(TEXT, OTHER)
    if scheme.simhash:
        assert scheme.distance(first, edited) < scheme.distance(first, other)
    if scheme.minhash:
        agree = [(first.signature == each.signature).mean() for each in (edited, other)]
        assert agree[0] > agree[1]
    assert scheme.exact_jaccard(TEXT, TEXT) == 1


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@examples(15)
@given(texts=batches())
def test_a_text_has_the_same_fingerprint_alone_and_among_others(scheme: Scheme, texts: list[str]) -> None:
    assert list(scheme.fingerprints(texts)) == [scheme.fingerprint(text) for text in texts]


@given(batches(), st.integers(1, 60))
def test_fingerprints_do_not_depend_on_the_size_of_chunks(texts: list[str], length: int) -> None:
    whole = list(Scheme().fingerprints(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprinting, "_CHUNK_LENGTH", length)
        assert list(Scheme().fingerprints(texts)) == whole


@given(batches())
def test_tokens_given_as_lists_have_the_fingerprint_of_their_text(texts: list[str]) -> None:
    scheme = Scheme(tokens=Words(1))
    lists = [
        spans.lists()[0] for text in texts for spans, _ in [Words(1).cut(fingerprinting.normalised(scheme, [text]))]
    ]
    assert list(scheme.fingerprints_of_tokens(lists)) == list(scheme.fingerprints(texts))


def test_weighted_tokens_are_taken_as_they_are() -> None:
    scheme = Scheme(tokens=Custom("pairs", lambda text: [(text, 1.0)]), weights="own", floor=1, minhash=None)
    light = scheme.fingerprint_tokens([("a", 1.0), ("b", 0.5)])
    assert light == scheme.fingerprint_tokens([("b", 1.0), ("a", 2.0)])
    assert light.simhash == scheme.fingerprint("a").simhash


def test_texts_are_read_only_as_fingerprints_are_asked_for() -> None:
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield TEXT

    assert len(list(islice(Scheme().fingerprints(texts()), 3))) == 3
    assert read * len(TEXT) < 1 << 19


def test_statuses_mark_empty_and_short_texts() -> None:
    scheme = Scheme(floor=3, tokens=Words(1, frozenset({"the", "a"})))
    statuses = [
        each.status for each in scheme.fingerprints(["", " \n", "the A", "one two", "x " * 50, "one two three"])
    ]
    assert statuses == ["empty", "empty", "empty", "short", "short", "ok"]
    assert scheme.fingerprint("...") == Fingerprint("empty", None, None)
    assert set(statuses) == set(STATUSES)


def test_html_is_stripped_before_all_else() -> None:
    pytest.importorskip("selectolax")
    plain, tagged = Scheme(), Scheme(html=True)
    assert tagged.fingerprint(f"<p>{TEXT}</p><script>x</script>") == plain.fingerprint(TEXT)


def test_set_weights_ignore_repetition_and_tf_does_not() -> None:
    once, repeated = "one two three four five six", "one two three four five six six six six six"
    by_set, by_tf = Scheme(tokens=Words(1), floor=1), Scheme(tokens=Words(1), weights="tf", floor=1)
    assert by_set.fingerprint(once) == by_set.fingerprint(repeated)
    assert by_tf.fingerprint(once).simhash != by_tf.fingerprint(repeated).simhash
    assert by_tf.fingerprint(once).minhash == by_tf.fingerprint(repeated).minhash


def test_sums_of_parts_give_the_simhash_of_the_whole() -> None:
    scheme = Scheme(tokens=Words(1), weights="tf", minhash=None)
    first, second = "one two three two", "four five one six"
    whole = scheme.fingerprint(f"{first} {second}").simhash
    assert scheme.simhash_of_sums(scheme.bit_sums(first) + scheme.bit_sums(second)) == whole
    with pytest.raises(SchemeError, match="no SimHash"):
        Scheme(simhash=None).bit_sums("x")


def test_texts_within_the_distance_share_as_many_block_keys_as_the_layout_promises() -> None:
    scheme = Scheme(minhash=None)
    assert scheme.simhash is not None
    first = scheme.fingerprint(TEXT)
    assert first.simhash is not None
    near = replace(first, simhash=first.simhash ^ 0b111 << 30)
    shared = set(scheme.block_keys(first)) & set(scheme.block_keys(near))
    assert len(shared) >= scheme.simhash.layout.min_shared(3)
    assert scheme.band_keys(first) == []


def test_equal_signatures_share_all_band_keys_and_empty_texts_have_none() -> None:
    scheme = Scheme()
    first, empty = scheme.fingerprints([TEXT, ""])
    assert len(set(scheme.band_keys(first))) == 36
    assert scheme.band_keys(empty) == scheme.block_keys(empty) == []
    with pytest.raises(InputError, match="not empty"):
        scheme.distance(first, empty)


# --- JSON, ids, presets ---

FUNCTIONS: dict[str, Any] = {"lengths": SCHEMES["custom"].tokens.function, "own": OWN_HASH}  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_scheme_survives_its_json_form(scheme: Scheme) -> None:
    again = Scheme.from_json(scheme.to_json(), idf=scheme.idf, functions=FUNCTIONS)
    assert again == scheme
    assert again.id == scheme.id
    assert list(again.fingerprints([TEXT, OTHER])) == list(scheme.fingerprints([TEXT, OTHER]))


def test_what_is_compared_is_written_only_if_it_is_not_the_tokens_and_plays_no_part_in_the_id() -> None:
    by_runs, by_tokens = Scheme(), Scheme(verification=Verification(features="scheme"))
    assert json.loads(by_runs.to_json())["verification"]["features"] == "text"
    assert json.loads(by_tokens.to_json())["verification"].keys().isdisjoint({"features"})
    assert Scheme.from_json(by_tokens.to_json()) == by_tokens
    assert by_runs.id == Scheme().id
    with pytest.raises(SchemeError, match="Unknown kind of features to verify by 'words'"):
        Verification(**{"features": "words"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("similarity", "numbers", "expected"),
    [(0.65, 0.5, (0.63, 0.0)), (0.5, 0.9, (0.5, 0.9)), (0.7, 0.0, (0.7, 0.0))],
)
def test_a_verification_of_an_earlier_version_is_read_as_the_rule_of_today(
    similarity: float, numbers: float, expected: tuple[float, float]
) -> None:
    form = json.loads(Scheme().to_json())
    crowding = {"least": 0.4, "step": 0.2, "nearest": 0.9, "copies": 0.85, "numbers": 0.1}
    form["verification"] |= {"features": "runs", "similarity": similarity, "numbers": numbers, "crowding": crowding}
    read = Scheme.from_json(json.dumps(form))
    assert read.id == Scheme().id
    assert read.verification == Verification(expected[0], numbers=expected[1])


@pytest.mark.parametrize(("name", "value"), [("lengths", 0.9), ("first_lines", 0.5), ("measure", "overlap")])
def test_a_verification_by_what_is_not_compared_any_more_is_refused(name: str, value: Any) -> None:
    form = json.loads(Scheme().to_json())
    form["verification"] |= {"lengths": 0.0, "first_lines": 0.0}
    assert Scheme.from_json(json.dumps(form)) == Scheme()
    form["verification"][name] = value
    with pytest.raises(SchemeError, match=f"{name} {value!r}, which this version no longer .* Write the scheme"):
        Scheme.from_json(json.dumps(form))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_its_json_form(name: str) -> None:
    scheme = Scheme.preset(name)
    assert scheme.name == name
    assert Scheme.from_json(scheme.to_json()) == scheme


CHANGES: list[dict[str, Any]] = [
    {"html": True},
    {"normalisation": Normalisation()},
    {"normalisation": Normalisation(nfkc=False)},
    {"normalisation": Normalisation(casefold=False)},
    {"normalisation": Normalisation(whitespace=False)},
    {"tokens": Chars(4)},
    {"tokens": Runs()},
    {"tokens": Chars()},
    {"tokens": Words(5)},
    {"tokens": Words(5, frozenset({"the"}))},
    {"tokens": Chinese()},
    {"tokens": Keywords(), "weights": "own"},
    {"weights": "tf"},
    {"hash": "murmur3"},
    {"simhash": None},
    {"simhash": SimHash(64, 7, 3)},
    {"simhash": SimHash(128, 6, 3)},
    {"minhash": None},
    {"minhash": MinHash("k-hash")},
    {"minhash": MinHash(size=256)},
    {"minhash": MinHash(bands=31)},
    {"minhash": MinHash(rows=2)},
    {"minhash": MinHash(key_bits=30)},
    {"floor": 9},
    {"layout": Layout("keyword")},
    {"layout": Layout(signature_bits=8)},
    {"layout": Layout(simhash="blocks")},
]


def test_the_id_changes_with_everything_that_fingerprints_depend_on() -> None:
    variants = [Scheme(), *(Scheme(**change) for change in CHANGES)]
    variants += [Scheme().with_idf([TEXT] * 2), Scheme().with_idf([OTHER] * 2), Scheme().with_idf([TEXT] * 2, "tfidf")]
    assert len({scheme.id for scheme in variants}) == len(variants)


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "a"}, {"name": "b"}),
    ({"simhash": SimHash(64, 6, 2)}, {"simhash": SimHash(64, 6, 4)}),
    ({"minhash": MinHash(similarity=0.5)}, {"minhash": MinHash(similarity=0.9)}),
    ({"layout": Layout(doc_values=False)}, {"layout": Layout(doc_values=True)}),
    ({"simhash": None, "layout": Layout(simhash="blocks")}, {"simhash": None}),
    ({"tokens": Words(1, frozenset({"The", "a"}))}, {"tokens": Words(1, frozenset({"A", "the"}))}),
    ({"simhash": None, "weights": "set"}, {"simhash": None, "weights": "tf"}),
    ({"tokens": Chinese("jieba")}, {"tokens": Chinese("rjieba")}),
    ({"hash": "poly64"}, {"hash": HASH_FUNCTIONS["poly64"]}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_id_stays_where_fingerprints_do(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = Scheme(**one), Scheme(**other)
    assert first.id == second.id
    assert list(first.fingerprints([TEXT, OTHER])) == list(second.fingerprints([TEXT, OTHER]))


def edited(**changes: Any) -> str:
    return json.dumps(json.loads(Scheme().to_json()) | changes)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("", FormatError, "not the JSON form"),
        ("[]", FormatError, "not the JSON form"),
        ("{}", FormatError, "not the JSON form"),
        (edited(format="es_simhash.scheme/2"), FormatError, "another format"),
        (edited(colour="red"), FormatError, "'colour'"),
        (edited(simhash={"width": 64}), FormatError, "width"),
        (edited(simhash=False), FormatError, "mapping"),
        (edited(html="false"), SchemeError, "html cannot be 'false'"),
        (edited(tokens="ab"), SchemeError, "is not a kind"),
        (edited(tokens={"kind": "words", "stop_words": "the"}), SchemeError, "set or a list"),
        (edited(tokens={"kind": "words", "stop_words": [1]}), SchemeError, "not a string"),
        ("[" * 100_000, FormatError, "not the JSON form"),
        ('{"format": "es_simhash.scheme/1"}', FormatError, "to have the setting 'floor'"),
        (edited(normalisation={"nfd": True}), FormatError, "nfd"),
        (edited(hash="crc32"), SchemeError, "'crc32'"),
        (edited(idf="0" * 64, weights="idf"), SchemeError, "000000000000…, but none was given"),
        (edited(tokens={"kind": "custom", "name": "mine"}), SchemeError, "'mine'"),
        (edited(floor=0), SchemeError, "whole number from 1"),
    ],
)
def test_json_that_is_not_a_scheme_is_refused(text: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Scheme.from_json(text)


def test_the_wrong_idf_table_is_refused_by_name() -> None:
    scheme, other = Scheme().with_idf([TEXT] * 2), Scheme().with_idf([OTHER] * 2)
    assert other.idf is not None
    with pytest.raises(SchemeError, match=other.idf.name[:12]):
        Scheme.from_json(scheme.to_json(), idf=other.idf)


# --- what is refused ---

WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: Scheme.preset("best"), "Choose from: default"),
    (lambda: Scheme(hash="crc32"), "Choose from: poly64"),
    (lambda: Scheme(weights="boolean"), "Choose from: set"),  # type: ignore[arg-type]
    (lambda: Scheme(weights="idf"), "Scheme.with_idf"),
    (lambda: replace(Scheme().with_idf([TEXT]), weights="set"), "idf"),
    (lambda: Scheme(weights="own"), "no weights of their own"),
    (lambda: Scheme(floor=0), "whole number from 1"),
    (lambda: Scheme(simhash=None, minhash=None), "at least one"),
    (lambda: SimHash(0), "from 1 to 128"),
    (lambda: SimHash(-64), "from 1 to 128"),
    (lambda: SimHash(129), "from 1 to 128"),
    (lambda: SimHash(64, 4, 4), "at least 5 blocks"),
    (lambda: SimHash(64, 0), "1 to 64 blocks"),
    (lambda: SimHash(64, 65), "1 to 64 blocks"),
    (lambda: SimHash(64, 6, -1), "whole number from 0"),
    (lambda: MinHash("superhash"), "one-permutation"),
    (lambda: MinHash(size=0), "from 1"),
    (lambda: MinHash(size=64), "not 64"),
    (lambda: MinHash(bands=0), "from 1"),
    (lambda: MinHash(similarity=0), "above 0, up to 1"),
    (lambda: MinHash(similarity=1.1), "above 0, up to 1"),
    (lambda: Layout("columns"), "text, keyword, fields"),  # type: ignore[arg-type]
    (lambda: Layout(simhash="bits"), "field, blocks"),  # type: ignore[arg-type]
    (lambda: Layout(signature_bits=33), "bits"),
    (lambda: Layout(doc_values="no"), "True or False"),  # type: ignore[arg-type]
    (lambda: Scheme(minhash=None, layout=Layout(signature_bits=8)), "signature_bits=0"),
    (lambda: MinHash(key_bits=32), "multiple of 6"),
    (lambda: SimHash(64, 40, 3), "at most 36 blocks"),
    (lambda: Scheme(simhash=64), "simhash cannot be 64"),  # type: ignore[arg-type]
    (lambda: Scheme(hash=None), "Choose from: poly64"),  # type: ignore[arg-type]
    (lambda: Scheme(hash=HashFunction("md5", HASH_FUNCTIONS["sha1"].hash_tokens)), "custom_hash"),
    (lambda: Scheme(tokens="words"), "tokens cannot be 'words'"),  # type: ignore[arg-type]
    (lambda: Scheme(html=1), "html cannot be 1"),  # type: ignore[arg-type]
    (lambda: Normalisation(nfkc=1), "True or False"),  # type: ignore[arg-type]
    (lambda: Words(stop_words="the"), "set or a list"),  # type: ignore[arg-type]
    (lambda: Words(stop_words=frozenset({1})), "not a string"),  # type: ignore[arg-type]
    (lambda: Scheme(tokens=Custom("own", str.split), hash=OWN_HASH), "Rename one"),
    (lambda: Chars(2**70), "1,000,000"),
    (lambda: Scheme(hash=custom_hash("short", len, bits=16), minhash=None), "wider hash"),
    (lambda: Scheme(hash=custom_hash("short", len, bits=16), simhash=SimHash(16, 4, 2)), "minhash=None"),
]


@pytest.mark.parametrize(("make", "remedy"), WRONG)
def test_settings_that_cannot_be_are_refused_with_a_remedy(make: Callable[[], object], remedy: str) -> None:
    with pytest.raises(SchemeError, match=remedy):
        make()


@pytest.mark.parametrize(
    ("text", "error"),
    [("\ud800", TextError), ("a\udc00b", TextError), (None, TextError), (b"bytes", TextError), (1, TextError)],
)
def test_what_is_not_text_is_refused(text: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Scheme().fingerprint(text)  # type: ignore[arg-type]


def test_a_wrong_text_among_many_is_named_by_its_place() -> None:
    texts = [TEXT] * 5000 + ["\ud800"] + [TEXT] * 3
    with pytest.raises(TextError, match="Text 5000 has the lone surrogate"):
        list(Scheme().fingerprints(texts))


def test_weights_that_are_not_finite_are_refused() -> None:
    scheme = Scheme(tokens=Custom("bad", lambda _: [("a", float("inf"))]), weights="own")
    with pytest.raises(WeightError, match="finite"):
        scheme.fingerprint("x")


@pytest.mark.parametrize("text", ["\x00" * 50, "a\x00b" * 20, "\ufffe\uffff" * 9, "x" * 10_000_000, "字" * 3_000_000])
def test_strange_and_huge_texts_have_a_fingerprint_or_a_status(text: str) -> None:
    first, second = Scheme().fingerprint(text), Scheme().fingerprint(text)
    assert first == second
    assert first.status in STATUSES


def test_a_huge_text_of_words_without_spaces_is_one_token() -> None:
    fingerprint = Scheme(tokens=Words(1), floor=1).fingerprint("x" * 1_000_000)
    assert fingerprint.status == "ok"
    assert fingerprint.simhash != Scheme(tokens=Words(1), floor=1).fingerprint("x" * 999_999).simhash


@pytest.mark.parametrize("bits", [65, 72, 96, 128])
def test_a_caller_s_hash_may_have_any_width(bits: int) -> None:
    wide = custom_hash("own", lambda token: OWN_HASH.hash_tokens([token], 64).tolist()[0] << (bits - 64), bits)
    one, other = Scheme(hash=OWN_HASH), Scheme(hash=wide)
    assert list(one.fingerprints([TEXT, OTHER])) == list(other.fingerprints([TEXT, OTHER]))
    assert one.exact_jaccard(TEXT, EDITED) == other.exact_jaccard(TEXT, EDITED)
    assert one.id != other.id


def test_the_id_distinguishes_functions_of_one_name_but_other_widths() -> None:
    narrow, wide = (Scheme(hash=custom_hash("h", len, bits), minhash=None) for bits in (64, 70))
    assert narrow.id != wide.id
    with pytest.raises(SchemeError, match="'bits': 64"):
        Scheme.from_json(narrow.to_json(), functions={"h": wide.hash_function})


def test_a_text_in_tokens_does_not_depend_on_the_texts_next_to_it() -> None:
    scheme = Scheme(floor=1)
    plain = ["a1", "b2", "c3"]
    first, _ = scheme.fingerprints_of_tokens([plain, [("x", 1.0)]])
    assert first == scheme.fingerprint_tokens(plain)
    assert scheme.fingerprint_tokens(tuple(plain)) == first


@pytest.mark.parametrize("wrong", ["hello", None, 3, [["a", "b", "c"], "d"], ["c", None], ["\ud800"]])
def test_tokens_that_are_none_are_refused_by_their_text(wrong: Any) -> None:
    with pytest.raises(TextError, match="Text 1 "):
        list(Scheme().fingerprints_of_tokens([["a", "b"], wrong]))


def test_what_stands_before_a_wrong_text_is_fingerprinted() -> None:
    made: list[Fingerprint] = []
    with pytest.raises(TextError, match="Text 2 "):
        made.extend(Scheme().fingerprints([TEXT, OTHER, None, TEXT]))  # type: ignore[list-item]
    fingerprints = Scheme().fingerprints([TEXT, OTHER, None])  # type: ignore[list-item]
    assert [next(fingerprints), next(fingerprints)] == list(Scheme().fingerprints([TEXT, OTHER]))


def test_the_first_of_several_wrong_texts_is_named() -> None:
    texts = [*[TEXT] * 5000, "\ud800", TEXT, None]
    with pytest.raises(TextError, match="Text 5000 has the lone surrogate"):
        list(Scheme().fingerprints(texts))  # type: ignore[arg-type]


def test_a_negative_weight_is_named_by_its_text() -> None:
    scheme = Scheme(
        tokens=Custom("signed", lambda text: [(text, -1.0 if text == "bad" else 1.0)]),
        weights="own",
        simhash=None,
        minhash=MinHash("weighted", 16, 4, 4),
    )
    with pytest.raises(WeightError, match="Text 4999 has a feature of the weight -1"):
        list(scheme.fingerprints([*["good"] * 4999, "bad"]))


def test_texts_without_any_weight_are_empty() -> None:
    scheme = Scheme(tokens=Custom("z", lambda t: [(t, 0.0)]), weights="own", minhash=MinHash("weighted", 16, 4, 4))
    assert [scheme.fingerprint(text).status for text in ("one", "two")] == ["empty", "empty"]


def test_one_text_is_not_taken_for_many() -> None:
    for many in (Scheme().fingerprints, Scheme().fingerprint_batches, Scheme().features):
        with pytest.raises(TextError, match="Give a list of texts"):
            next(iter(many("a text")))
    with pytest.raises(TextError, match="Give a list of texts"):
        Scheme().with_idf("a text")


def test_lone_surrogates_in_html_are_refused() -> None:
    pytest.importorskip("selectolax")
    with pytest.raises(TextError, match="lone surrogate"):
        Scheme(html=True).fingerprint("<p>abc \ud800 def</p>")


def test_fingerprints_of_other_schemes_are_not_compared() -> None:
    short = Scheme(minhash=MinHash(size=64, bands=16))
    fingerprint = short.fingerprint(TEXT)
    assert short.estimated_jaccard(fingerprint, fingerprint) == 1
    with pytest.raises(InputError, match="64 values"):
        Scheme().estimated_jaccard(fingerprint, fingerprint)
    with pytest.raises(InputError, match="64 values"):
        Scheme().band_keys(fingerprint)
    with pytest.raises(InputError, match="bit_sums"):
        Scheme().simhash_of_sums(Scheme(simhash=SimHash(128)).bit_sums(TEXT))


def test_signatures_estimate_the_exact_similarity() -> None:
    scheme = Scheme(minhash=MinHash(size=4096))
    first, edited = scheme.fingerprints([TEXT * 3, EDITED * 3])
    assert abs(scheme.estimated_jaccard(first, edited) - scheme.exact_jaccard(TEXT * 3, EDITED * 3)) < 0.05


@pytest.mark.parametrize("name", HASH_FUNCTIONS)
def test_schemes_can_be_sent_to_other_processes(name: str) -> None:
    scheme = Scheme(hash=name, tokens=Words(2))
    again = pickle.loads(pickle.dumps(scheme))
    assert again == scheme
    assert again.fingerprint(TEXT) == scheme.fingerprint(TEXT)


def test_a_large_floor_needs_little_memory() -> None:
    statuses = [each.status for each in Scheme(floor=5000).fingerprints([TEXT] * 3000)]
    assert set(statuses) == {"short"}


def test_the_columns_of_a_batch_are_arrays() -> None:
    (batch,) = Scheme().fingerprint_batches([TEXT, OTHER, ""])
    assert batch.simhashes is not None
    assert batch.signatures is not None
    assert batch.simhashes.shape == (3,)
    assert batch.signatures.shape == (3, 128)
    assert batch.statuses.dtype == np.uint8
    assert len(batch) == 3


def test_a_fingerprint_is_shown_in_one_line() -> None:
    shown = str(Scheme().fingerprint(TEXT))
    assert shown.startswith("Fingerprint(ok, simhash=")
    assert "128 values" in shown
