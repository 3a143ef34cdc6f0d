"""The fields that duplicates get of their canonical documents: how they are mapped, and what is copied."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.errors import MappingError
from es_simhash.groups.of_index.copied_fields import CopiedFields
from es_simhash.scheme.mapping import as_written_now, replacing, stored_in


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
