"""Stored forms, changed by somebody or something else, are read as they were written, or refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import EsSimhashError, FormatError, InputError, SchemeError
from es_simhash.plans.open_index import KnownIndex, open_index
from es_simhash.scheme import own_fields, rerank
from es_simhash.scheme.mapping import merge
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Matches, compare
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout
from es_simhash.sketches.minhash.common import SignatureCodec
from es_simhash.text.features import IdfTable
from tests.support.fuzzing import damaged, damaged_bytes, json_values, scalars

SCHEMES = [
    Scheme(),
    Scheme(layout=Layout(keys="fields", signature_bits=8)),
    Scheme(layout=Layout(keys="keyword")),
    Scheme(layout=Layout(simhash="blocks")),
    Scheme(simhash=None),
    Scheme(minhash=None),
]
TEXT = "a storm hit the coast last night and trains stood still"
FORM = json.loads(Scheme().to_json())


class TestSchemes:
    @given(form=damaged(FORM, json_values()) | json_values(list(FORM)))
    def test_a_damaged_scheme_is_another_scheme_or_is_refused(self, form: Any) -> None:
        try:
            scheme = Scheme.from_json(json.dumps(form))
        except (SchemeError, InputError):
            return
        assert Scheme.from_json(scheme.to_json()) == scheme
        assert scheme.fingerprint(TEXT).status

    @given(content=damaged_bytes(Scheme().to_json().encode()) | st.binary())
    def test_so_is_one_whose_characters_are_damaged(self, content: bytes) -> None:
        try:
            scheme = Scheme.from_json(content.decode(errors="surrogateescape"))
        except (SchemeError, InputError):
            return
        assert Scheme.from_json(scheme.to_json()) == scheme

    @pytest.mark.parametrize("text", ["1" * 5000, "[" * 100_000, '{"format": ' + "1" * 5000 + "}"])
    def test_one_that_python_cannot_read_is_refused(self, text: str) -> None:
        with pytest.raises(FormatError, match=r"Scheme\.to_json"):
            Scheme.from_json(text)


class TestFields:
    @given(data=st.data(), scheme=st.sampled_from(SCHEMES))
    def test_damaged_fields_of_hits_are_foreign_or_lack_nothing(self, data: st.DataObject, scheme: Scheme) -> None:
        stored = next(own_fields.write(scheme, scheme.id, [TEXT], next(scheme.fingerprint_batches([TEXT]))))
        hits = [{"_index": "i", "_id": "1", "_source": {"dedup": data.draw(damaged(stored, json_values()))}}]
        before = copy.deepcopy(hits)
        found = matches_of(scheme, hits)
        assert repr(hits) == repr(before)
        assert found.foreign + len(found) == 1
        assert all(match.distance is None or 0 <= match.distance <= 64 for match in found)
        assert all(match.similarity is None or -1 <= match.similarity <= 1 for match in found)

    @given(stored=json_values(["scheme", "simhash", "bands"], [Scheme().id]))
    def test_hits_with_anything_in_place_of_the_fields_are_foreign(self, stored: Any) -> None:
        assert matches_of(Scheme(), [{"_index": "i", "_id": "1", "_source": {"dedup": stored}}]).foreign == 1


def matches_of(scheme: Scheme, hits: list[Any]) -> Matches:
    """All hits that can be compared, however far away they are."""
    compared = compare(
        scheme, scheme.id, scheme.fingerprint(TEXT), hits, prefix="dedup", content=own_fields.content_hash(TEXT)
    )
    return rerank.matches_of(rerank.Measured(compared), Criteria(64, -1.0))


class TestSignatures:
    @given(text=st.text(max_size=12) | st.text("AZaz09-_=+/ \n", min_size=10, max_size=12) | scalars)
    def test_only_the_text_of_a_signature_is_one(self, text: Any) -> None:
        codec = SignatureCodec(5, 13)
        try:
            signature = codec.from_text(text)
        except FormatError:
            return
        assert codec.to_text(signature) == text

    @given(stored=st.binary(max_size=12))
    def test_only_its_bytes_are_one(self, stored: bytes) -> None:
        codec = SignatureCodec(5, 13)
        try:
            signatures = codec.unpack(np.frombuffer(stored, np.uint8)[np.newaxis])
        except FormatError:
            return
        assert codec.pack(signatures).tobytes() == stored


class TestIdfTables:
    TABLE = IdfTable(9, np.array([3, 5, 2**63], np.uint64), np.array([1, 2, 3], np.uint32), 4)

    @given(stored=damaged_bytes(TABLE.to_bytes()) | st.binary())
    def test_a_damaged_table_is_refused_or_is_another(self, stored: bytes) -> None:
        try:
            table = IdfTable.from_bytes(stored)
        except InputError:
            return
        assert IdfTable.from_bytes(table.to_bytes()) == table
        assert table.weights_of(np.array([0, 3], np.uint64)).tolist()

    @given(header=damaged({"documents": 9, "features": 3, "unseen": 4}, json_values()))
    def test_so_is_one_whose_header_is_damaged(self, header: Any) -> None:
        magic, _, arrays = self.TABLE.to_bytes().split(b"\n", 2)
        try:
            table = IdfTable.from_bytes(b"\n".join([magic, json.dumps(header).encode(), arrays]))
        except InputError:
            return
        assert IdfTable.from_bytes(table.to_bytes()) == table


def answer(plan: Any, mappings: Any) -> None:
    """Give a plan the mappings that it asks for, and the settings of an index that it finds no fields in."""
    next(plan)
    plan.send(mappings)
    plan.send({})


class TestMappings:
    MAPPING = Scheme().mapping(fields=["title"])

    @given(
        meta=damaged(MAPPING["_meta"], json_values()) | json_values(["es_simhash", "dedup", "id", "scheme", "fields"])
    )
    def test_what_a_mapping_says_of_its_fields_is_used_or_refused(self, meta: Any) -> None:
        mappings = {"articles": {**self.MAPPING, "_meta": meta}}
        before = copy.deepcopy(mappings)
        with pytest.raises((StopIteration, EsSimhashError)) as ended:
            answer(open_index("articles", KnownIndex()), mappings)
        if isinstance(ended.value, StopIteration):
            assert ended.value.value.documents.scheme.id == meta["es_simhash"]["dedup"]["id"]
            assert list(ended.value.value.documents.fields) == meta["es_simhash"]["dedup"]["fields"]
        assert repr(mappings) == repr(before)

    @given(
        meta=damaged(MAPPING["_meta"], json_values()) | json_values(["es_simhash", "dedup", "id", "scheme", "fields"])
    )
    def test_fields_are_brought_into_a_mapping_whatever_it_says_of_others_or_refused(self, meta: Any) -> None:
        present = {"_meta": meta, "properties": {}}
        before = copy.deepcopy(present)
        try:
            change = merge("articles", present, self.MAPPING)
        except EsSimhashError:
            return
        assert change.body
        assert change.body["_meta"]["es_simhash"]["dedup"] == self.MAPPING["_meta"]["es_simhash"]["dedup"]
        assert repr(present) == repr(before)
