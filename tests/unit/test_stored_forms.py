"""What release 0.1 stored is read, and what it printed is printed, for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index, Scheme
from tests.support.corpus import edited
from tools import stored_forms

KEPT: dict[str, dict[str, Any]] = json.loads(stored_forms.NAMES.read_text(encoding="utf-8"))
NOW = stored_forms.names()
FOUND = json.loads(stored_forms.FOUND.read_text(encoding="utf-8"))


@pytest.fixture
def written_by_0_1(tmp_path: Path) -> Path:
    return stored_forms.unpack(tmp_path)


@pytest.mark.parametrize("part", KEPT)
def test_whatever_was_named_once_is_named_so_still(part: str) -> None:
    assert stored({name: NOW[part].get(name) for name in KEPT[part]}) == stored(KEPT[part])


def stored(form: Any) -> Any:
    """Return a form without how texts are compared, on which nothing that is stored depends."""
    if not isinstance(form, dict):
        return form
    return {name: stored(value) for name, value in form.items() if name != "verification"}


def test_new_names_are_kept_from_now_on() -> None:
    assert stored_forms.with_new(KEPT, NOW) == KEPT, "python -m tools.stored_forms"


@pytest.mark.parametrize("scheme_id", KEPT["forms of schemes"])
def test_the_form_of_a_scheme_is_read_as_the_same_scheme(scheme_id: str) -> None:
    assert Scheme.from_json(json.dumps(KEPT["forms of schemes"][scheme_id])).id == scheme_id


def test_an_index_of_0_1_answers_as_it_did(written_by_0_1: Path) -> None:
    assert stored_forms.found_in(written_by_0_1) == FOUND


def test_an_index_written_now_answers_the_same_by_another_scheme(tmp_path: Path) -> None:
    stored_forms.write_index(tmp_path / "index")
    found = stored_forms.found_in(tmp_path / "index")
    assert found.pop("scheme") != FOUND["scheme"]
    assert found == {name: value for name, value in FOUND.items() if name != "scheme"}


def test_fingerprints_in_an_index_of_0_1_are_those_made_now(written_by_0_1: Path) -> None:
    with Index("news", str(written_by_0_1)) as index:
        assert index.backfill().written == 0


def test_an_index_of_0_1_takes_documents_and_finds_them_next_to_the_old(written_by_0_1: Path) -> None:
    [third] = [each for each in stored_forms.documents() if each["_id"] == "2"]
    text = {name: value for name, value in third.items() if name != "_id"}
    with Index("news", str(written_by_0_1)) as index:
        index.add([{"_id": "new", **edited(text)}], refresh=True)
        assert {match.id for match in index.find(id="new")} == {"2", "copy"}
