"""The script of the pipeline makes, bit for bit, what Python makes, on real nodes and for any Unicode text."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import LONGEST_TEXT
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, Layout, MinHash, SimHash
from es_simhash.text.normalise import KINDS, Normalisation
from es_simhash.text.tokens import Chars, Runs
from tests.support.corpus import corpus
from tests.support.pipeline_script import Script, awkward_texts, code_points, every_code_point, texts
from tests.support.runs import mixed_text
from tests.support.whole_indices import servers
from tools import golden

pytestmark = [servers, pytest.mark.each_server]

DEFERRED = {"status": "deferred"}


def is_computed(scheme: Scheme) -> bool:
    return isinstance(scheme.tokens, Chars | Runs) and scheme.passages is None


COMPUTED = [name for name in PRESETS if is_computed(Scheme.preset(name))]
KEPT = [name for name in golden.SCHEMES if is_computed(golden.SCHEMES[name])]


@pytest.fixture
def script(kind: str, request: pytest.FixtureRequest) -> Script:
    return Script(request.getfixturevalue(f"{kind}_node"))


def documents_of(scheme: Scheme | str = "default", *fields: str) -> Documents:
    return Documents(Scheme.preset(scheme) if isinstance(scheme, str) else scheme, fields or ("text",))


# ---- texts


def test_every_code_point_is_treated_as_python_treats_it(script: Script) -> None:
    script.is_right_about(documents_of("short"), every_code_point())


def test_every_folded_character_is_treated_as_python_treats_it(script: Script) -> None:
    folding = Scheme(tokens=Chars(3), normalisation=Normalisation(fold=KINDS))
    script.is_right_about(documents_of(folding), every_code_point())


def test_marks_ligatures_and_what_was_not_assigned_come_out_the_same(script: Script) -> None:
    script.is_right_about(documents_of(), texts(*awkward_texts()))


@pytest.mark.parametrize("name", KEPT)
def test_presets_of_now_and_before_agree_with_the_golden_vectors(script: Script, name: str) -> None:
    vectors = json.loads(golden.FILE.read_text(encoding="utf-8"))["presets"][name]["texts"].values()
    documents = documents_of(golden.SCHEMES[name])
    made = script.made(documents, texts(*(vector["text"] for vector in vectors)))
    for vector, source in zip(vectors, made, strict=True):
        own = source["dedup"]
        assert own["status"] == vector["status"]
        assert own.get("simhash") == (vector["simhash"] if "simhash" in documents.names else None)
        assert own.get("blocks", "").split() == vector["blocks"]
        assert own.get("bands", "").split() == vector["bands"]
    script.is_right_about(documents, texts(*(vector["text"] for vector in vectors)))


@pytest.mark.parametrize("preset", COMPUTED)
def test_texts_of_every_length_in_three_languages_come_out_the_same(script: Script, preset: str) -> None:
    bodies = [document["body"] for document in corpus(12)]
    made = [body[:length] for body in bodies for length in (*range(30), 50, 100, 200, 400)]
    long = " ".join(document["body"] for document in corpus(90))
    script.is_right_about(documents_of(preset), texts(*made, long, long[: LONGEST_TEXT // 10], "ab" * 4000, "a" * 9000))


# ---- schemes

SCHEMES = {
    "folded": Scheme(normalisation=Normalisation(fold=KINDS)),
    "keys in a list": Scheme(layout=Layout(keys="keyword")),
    "keys in fields": Scheme(layout=Layout(keys="fields")),
    "blocks alone": Scheme(layout=Layout(simhash="blocks")),
    "a signature apart": Scheme(layout=Layout(signature_bits=32)),
    "a signature of few bits": Scheme(layout=Layout(signature_bits=7), minhash=MinHash(size=101, bands=9, rows=11)),
    "tf": Scheme(weights="tf"),
    "128 bits": Scheme(simhash=SimHash(128, 10, 5)),
    "70 bits by tf": Scheme(simhash=SimHash(70, 36, 5), weights="tf"),
    "31 bits": Scheme(simhash=SimHash(31, 4, 3)),
    "wide blocks": Scheme(simhash=SimHash(128, 2, 1), minhash=None),
    "MinHash alone": Scheme(simhash=None, minhash=MinHash(size=64, bands=21, rows=3, key_bits=60)),
    "narrow keys": Scheme(minhash=MinHash(size=7, bands=7, rows=1, key_bits=6)),
    "wide rows": Scheme(minhash=MinHash(size=300, bands=300, rows=1, key_bits=48)),
    "single characters": Scheme(tokens=Chars(1), floor=1),
    "long windows": Scheme(tokens=Chars(64), floor=100),
    "runs of two": Scheme(tokens=Runs(), floor=1),
    "runs of three": Scheme(tokens=Runs(dense=3), floor=1),
    "128 bits of runs by tf": Scheme(tokens=Runs(dense=3), simhash=SimHash(128, 10, 5), weights="tf"),
    "compatible forms as they are": Scheme(normalisation=Normalisation(nfkc=False)),
    "cases as they are": Scheme(normalisation=Normalisation(casefold=False)),
    "white space as it is": Scheme(normalisation=Normalisation(whitespace=False)),
    "texts as they are": Scheme(normalisation=Normalisation(False, False, False)),
    "white space alone": Scheme(normalisation=Normalisation(False, False, True)),
}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_every_kind_of_scheme_comes_out_the_same(script: Script, scheme: Scheme) -> None:
    bodies = [document["body"] for document in corpus(6)]
    spaces = [f"{space}a{space}b{space}{space}c" for space in code_points()[:0x3001] if space.isspace()]
    some = [text for number, text in enumerate(awkward_texts()) if number % 15 == 0]
    script.is_right_about(documents_of(scheme), texts("", " ", "a", "ab" * 40, *bodies, *spaces, *some))


AS_THEY_ARE = Normalisation(nfkc=False, casefold=False, whitespace=False)


@pytest.mark.parametrize("dense", [2, 3])
@given(made=st.lists(mixed_text(), min_size=50, max_size=50))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_runs_are_cut_as_python_cuts_them(script: Script, dense: Any, made: list[str]) -> None:
    for weights in ("set", "tf"):
        runs = Scheme(tokens=Runs(dense), normalisation=AS_THEY_ARE, weights=weights, floor=1)
        script.is_right_about(documents_of(runs), texts(*made))


@pytest.mark.parametrize("dense", [2, 3])
def test_a_run_may_begin_at_every_code_point(script: Script, dense: Any) -> None:
    script.is_right_about(documents_of(Scheme(tokens=Runs(dense), normalisation=AS_THEY_ARE)), every_code_point())


# ---- the text of a document

PATHS = ("title", "a.b.c", "list.x")
SHAPES: list[Json] = [
    {},
    {"title": None, "other": "x"},
    {"title": ["one", ["two", None], 3]},
    {
        "title": "A storm over the coast",
        "a": {"b": {"c": "and a second text"}},
        "list": [{"x": "1"}, {"x": ["2", "3"]}],
    },
    {"a.b.c": "dotted", "a.b": {"c": "half"}, "a": {"b.c": "the other half", "b": {"c": "none"}}},
    {"a": [{"b": [{"c": 1}, {"c": True}, {"c": False}, 7]}, "x", None], "list": {"x": 12345678901234}},
    {"title": 0.5, "list.x": [1.25, -0.0, 0.001, 9999999.5, 123.456, -3.14159]},
    {"title": "kept", "dedup": {"simhash": "forged", "more": 1}, "dedup.simhash": "forged"},
    {"title": "kept", "dedup": "no object"},
    {"title": "\u0000 🚀", "list": []},
]


@pytest.mark.parametrize("document", SHAPES, ids=str)
def test_the_text_is_read_from_all_shapes_of_documents(script: Script, document: Json) -> None:
    documents = documents_of("default", *PATHS)
    [made] = script.made(documents, [document])
    without = {name: value for name, value in document.items() if not name.startswith("dedup")}
    assert made == documents.add_fields(without)


UNLIKE: list[Any] = [
    1e16,
    1.5e-7,
    0.1 + 0.2,
    {"an": "object"},
    ["text", {"an": "object"}],
    "half of a pair \ud83d",
    "\ude80 the other half",
    "a" * (LONGEST_TEXT + 1),
    "ﷺ" * (LONGEST_TEXT // 17),
]


@pytest.mark.parametrize("value", UNLIKE, ids=lambda value: str(ascii(value))[:20])
def test_what_could_come_out_differently_is_deferred(script: Script, value: Any) -> None:
    [made] = script.made(documents_of(), [{"text": value, "other": 1}])
    assert made["dedup"] == DEFERRED
    assert made["other"] == 1


def test_the_longest_text_is_fingerprinted(script: Script) -> None:
    rng = random.Random(1)
    worst = "".join(rng.choices("İ①ﷺ\u0301語🚀", k=LONGEST_TEXT // 8))
    plain = "".join(rng.choices("abcdefgh ", k=LONGEST_TEXT))
    dense = "".join(rng.choices("语かc한🚀", k=LONGEST_TEXT // 2))
    script.is_right_about(documents_of(), texts(worst, plain))
    script.is_right_about(documents_of(Scheme(tokens=Runs(dense=3))), texts(worst, plain, dense))


# ---- a document that was fingerprinted before


def test_groups_stay_while_the_text_is_the_same(script: Script) -> None:
    documents = documents_of()
    done = documents.add_fields({"text": "A storm over the coast"})
    done["dedup"] |= {"group": "g", "is_canonical": True}
    changed = {**done, "text": "Another text altogether"}
    kept, lost = script.made(documents, [done, changed])
    assert kept == done
    assert lost == documents.add_fields({"text": changed["text"]})


def test_a_fingerprint_of_a_text_that_is_too_long_here_stays_while_it_is_that_of_the_text(script: Script) -> None:
    documents = documents_of()
    long = "".join(random.Random(1).choices("abcdefgh ", k=LONGEST_TEXT + 1))
    done = documents.add_fields({"text": long})
    others = replace(documents, scheme=Scheme.preset("short")).add_fields({"text": long})
    kept, changed, foreign = script.made(documents, [done, {**done, "text": long + "x"}, others])
    assert kept == done
    assert changed["dedup"] == foreign["dedup"] == DEFERRED
