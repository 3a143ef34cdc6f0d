"""What a pipeline is made of, and for which schemes there is one.

What the script knows of Unicode is what normalisation in Python does.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import pytest

from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import LARGEST_N, folding, name_of, pipeline, source, unassigned_bounds
from es_simhash.errors import InputError, SchemeError
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import PRESETS, MinHash, SimHash
from es_simhash.text.normalise import is_unassigned
from es_simhash.text.tokens import Chars, Runs, Words
from tests.support.corpus import corpus

# What servers take of a script, by default.
MOST_BYTES = 65_535
TEXTS = [document["body"] for document in corpus(6)]


def test_the_script_is_one_for_all_schemes_and_far_smaller_than_servers_allow() -> None:
    scripts = {
        pipeline("news", Documents(scheme, ["text"]))["processors"][0]["script"]["source"]
        for scheme in (Scheme(), Scheme.preset("short"), Scheme.preset("strict"), Scheme(tokens=Runs(dense=3)))
    }
    assert scripts == {source()}
    assert len(source().encode()) < MOST_BYTES / 3


def test_all_of_it_is_json() -> None:
    body = pipeline("news", Documents(Scheme(), ["a.b", "c"], "fingerprint"))
    assert json.loads(json.dumps(body)) == body
    parameters = body["processors"][0]["script"]["params"]
    assert (parameters["prefix"], parameters["sources"]) == ("fingerprint", [["a", "b"], ["c"]])
    assert parameters["scheme"]["id"] == Scheme().id


def test_a_second_object_of_fields_has_a_pipeline_of_its_own() -> None:
    assert name_of("news") != name_of("news", "dedup2")
    one, other = (pipeline("news", Documents(Scheme(), ["text"], prefix)) for prefix in ("dedup", "dedup2"))
    assert one["description"] != other["description"]


REFUSED = {
    "html": Scheme(html=True),
    "tokens": Scheme(tokens=Words(2)),
    "weights": Scheme().with_idf(TEXTS),
    "hash": Scheme(hash="sha256"),
    "minhash": Scheme(minhash=MinHash(kind="k-hash")),
}


@pytest.mark.parametrize(("part", "scheme"), REFUSED.items(), ids=REFUSED)
def test_a_scheme_that_a_script_cannot_do_is_refused_with_the_part(part: str, scheme: Scheme) -> None:
    with pytest.raises(SchemeError, match=rf"\({part}\)") as refused:
        pipeline("news", Documents(scheme, ["text"]))
    assert "backfill" in str(refused.value)
    other_parts = [each for each in REFUSED if each != part]
    assert not any(f"({each})" in str(refused.value) for each in other_parts)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_a_pipeline_or_are_refused_for_their_tokens_or_passages(preset: str) -> None:
    scheme = Scheme.preset(preset)
    documents = Documents(scheme, ["text"])
    if isinstance(scheme.tokens, Chars | Runs) and not scheme.passages:
        assert pipeline("news", documents)
    else:
        reason = "keys of passages" if scheme.passages else scheme.tokens.kind
        with pytest.raises(SchemeError, match=f"'{preset}'.*{reason}"):
            pipeline("news", documents)


def test_the_longest_windows_are_named() -> None:
    scheme = Scheme(tokens=Chars(LARGEST_N), simhash=SimHash())
    assert pipeline("news", Documents(scheme, ["text"]))
    with pytest.raises(SchemeError, match=f"at most {LARGEST_N} characters"):
        pipeline("news", Documents(replace(scheme, tokens=Chars(LARGEST_N + 1)), ["text"]))


@pytest.mark.parametrize("fields", [["_id"], ["title", "_routing.x"]])
def test_source_fields_that_a_script_would_mistake_are_refused(fields: Sequence[str]) -> None:
    with pytest.raises(InputError, match="what the server notes of a document"):
        pipeline("news", Documents(Scheme(), fields))


CODE_POINTS = range(0x110000)


def test_the_bounds_separate_assigned_code_points_from_others() -> None:
    bounds = unassigned_bounds()
    assert bounds == sorted(set(bounds))
    wrong = [point for point in CODE_POINTS if is_unassigned(chr(point)) != bisect_right(bounds, point) % 2]
    assert wrong == []


def test_the_runs_fold_every_assigned_code_point() -> None:
    table = folding()
    folded = {}
    runs = (table[name] for name in ("starts", "ends", "steps", "distances"))
    for start, end, step, distance in zip(*runs, strict=True):
        for point in range(start, end + 1, step):
            folded[point] = chr(point + distance) if distance else table["expansions"][str(point)]
    assert table["starts"] == sorted(table["starts"])
    changed = {point: chr(point).casefold() for point in CODE_POINTS if chr(point).casefold() != chr(point)}
    assert folded == {point: text for point, text in changed.items() if not is_unassigned(chr(point))}
