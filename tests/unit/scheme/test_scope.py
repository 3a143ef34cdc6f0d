from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import InputError, Policy, Scope
from es_simhash.scheme.scope import combined, duration, duration_text, moment_in, values_in

DAY = "2026-03-01"
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["", "a", "b", "1", "true"])
VALUES = SCALARS | st.lists(SCALARS, max_size=3)
DATES = st.sampled_from([None, "never", "2026-03-01", "2026-03-02T12:00:00Z", 1772366400000, "2026-03-04"])
DOCUMENTS = st.lists(
    st.fixed_dictionaries({}, optional={"tenant": VALUES, "source": VALUES, "at": DATES}), min_size=3, max_size=3
)
SCOPES = st.builds(
    Scope.of,
    st.sampled_from([(), "tenant", ("tenant", "at")]),
    st.sampled_from([(), "source"]),
    st.just("36h"),
    st.just("at"),
) | st.sampled_from([Scope(("tenant",)), Scope(("tenant",), ("source",)), Scope((), ("source",))])


def pair(scope: Scope, one: Any, other: Any) -> bool:
    return scope.in_scope(scope.values_of(one), scope.values_of(other))


@given(DOCUMENTS, SCOPES)
def test_scopes_have_no_direction_and_lack_of_a_value_is_out_of_each(documents: list[Any], scope: Scope) -> None:
    for one in documents:
        for other in documents:
            assert pair(scope, one, other) == pair(scope, other, one)
            assert not (pair(scope, one, other) and (scope.missing(one) or scope.missing(other)))
        assert bool(scope.missing(one)) == (scope.values_of(one) is None)
        assert set(scope.missing(one)) <= set(scope.paths)


@given(DOCUMENTS)
def test_the_fields_of_within_divide_the_documents_that_have_them(documents: list[Any]) -> None:
    scope = Scope(("source", "tenant"))
    a, b, c = documents
    assert pair(scope, a, a) or scope.missing(a)
    assert pair(scope, a, c) or not (pair(scope, a, b) and pair(scope, b, c))


@given(DOCUMENTS, SCOPES, SCOPES)
def test_a_narrowed_scope_has_the_pairs_of_both(documents: list[Any], one: Scope, other: Scope) -> None:
    if set(one.within) & set(other.across) or set(one.across) & set(other.within):
        return
    both = one.narrowed(other)
    a, b, _ = documents
    assert pair(both, a, b) == (pair(one, a, b) and pair(other, a, b))
    assert both == other.narrowed(one)


@given(SCOPES)
def test_scopes_are_read_back_from_json(scope: Scope) -> None:
    assert Scope.from_json(scope.to_json()) == scope
    assert Policy.from_json(Policy(scope, "online").to_json()) == Policy(scope, "online")


@given(st.integers(1, 10**14))
def test_lengths_of_time_are_read_back(milliseconds: int) -> None:
    window = timedelta(milliseconds=milliseconds)
    assert duration(duration_text(window)) == window


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"a": "x"}, {"x"}),
        ({"a": ["x", "y", "x", None]}, {"x", "y"}),
        ({"a": [["x"], []]}, {"x"}),
        ({"a": 5}, {"5"}),
        ({"a": 5.0}, {"5"}),
        ({"a": 0.5}, {"0.5"}),
        ({"a": [True, "true"]}, {"true"}),
        ({"a": ""}, {""}),
        ({"a": None}, set()),
        ({}, set()),
        ({"a": {"b": "x"}}, set()),
        ({"a": ["x", {"b": "y"}]}, set()),
        ({"a": float("nan")}, set()),
    ],
)
def test_values_are_those_that_a_keyword_field_holds(document: Any, expected: set[str]) -> None:
    assert values_in(document, "a") == expected


def test_values_are_found_through_objects_arrays_and_dotted_names() -> None:
    for document in ({"a": {"b": "x"}}, {"a.b": "x"}, {"a": [{"b": "x"}, {"c": 1}]}):
        assert values_in(document, "a.b") == {"x"}
    assert values_in({"a": {"b": "x"}, "a.b": "y"}, "a.b") == {"x", "y"}


def test_values_are_found_however_deeply_arrays_are_nested() -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    assert values_in({"a": nested}, "a") == {"x"}
    assert moment_in({"a": [nested, "1970-01-02"]}, "a") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1970-01-02", 86_400_000),
        (1234, 1234),
        (["1970-01-03", "1970-01-02T00:00:00Z"], 86_400_000),
        ("1970-01-01T00:00:00.123Z", 123),
        (["1970-01-02", "soon"], None),
        ("soon", None),
        (10**400, None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_the_earliest_date_counts_unless_one_cannot_be_read(value: Any, expected: int | None) -> None:
    assert moment_in({"at": value}, "at") == expected


def test_a_window_has_both_its_ends() -> None:
    scope = Scope(window=timedelta(hours=72), date="at")
    first = {"at": "2026-03-01T10:00:00.123Z"}
    assert pair(scope, first, {"at": "2026-03-04T10:00:00.123Z"})
    assert not pair(scope, first, {"at": "2026-03-04T10:00:00.124Z"})


def test_sources_that_share_a_value_are_not_across() -> None:
    scope = Scope(across=("source",))
    assert pair(scope, {"source": ["a", "b"]}, {"source": "c"})
    assert not pair(scope, {"source": ["a", "b"]}, {"source": "b"})


def test_tenants_that_share_only_some_values_are_not_within() -> None:
    scope = Scope(("tenant",))
    assert pair(scope, {"tenant": ["a", "b"]}, {"tenant": ["b", "a", "a"]})
    assert not pair(scope, {"tenant": ["a", "b"]}, {"tenant": "b"})


def test_of_takes_names_and_lengths_of_time() -> None:
    assert Scope.of("tenant", ["source"], "3d", "at") == Scope(("tenant",), ("source",), timedelta(days=3), "at")
    assert Scope.of() is None
    assert Scope.of("b", window="30m", date="at") == Scope.of(("b", "b"), window=timedelta(minutes=30), date="at")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs a field"),
        ({"within": ("a..b",)}, r"cannot have the field 'a\.\.b'"),
        ({"within": ("",)}, "cannot have the field ''"),
        ({"within": (1,)}, "cannot have the field 1"),
        ({"within": "tenant"}, "Fields cannot be 'tenant'"),
        ({"within": ("a", "b"), "across": ("b",)}, "agree and differ in b"),
        ({"window": timedelta(days=1)}, "Give both"),
        ({"date": "at"}, "Give both"),
        ({"window": timedelta(0), "date": "at"}, "above 0"),
        ({"window": timedelta(microseconds=1500), "date": "at"}, "whole milliseconds"),
        ({"window": 3, "date": "at"}, "A window cannot be 3"),
        ({"window": timedelta(days=1), "date": ""}, "cannot have the field ''"),
    ],
)
def test_a_scope_that_means_nothing_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scope(**arguments)


@pytest.mark.parametrize("text", ["", "72", "3 d", "-3d", "1.5h", "3w", "999999999999d"])
def test_other_lengths_of_time_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="Write it as 72h"):
        Scope.of(window=text, date="at")


@pytest.mark.parametrize(
    "form", [None, {}, [], {"with": ["a"]}, {"within": 3}, {"within": "a"}, {"within": []}, {"window": 3, "date": "at"}]
)
def test_a_form_that_is_not_a_scope_is_refused(form: Any) -> None:
    with pytest.raises(InputError):
        Scope.from_json(form)


def test_windows_over_two_fields_are_refused() -> None:
    with pytest.raises(InputError, match="Give one over 'at'"):
        Scope(window=timedelta(1), date="at").narrowed(Scope(window=timedelta(1), date="seen"))


def test_a_policy_and_no_scope_combine() -> None:
    scope = Scope(("tenant",))
    assert combined(None, None) is None
    assert combined(scope, None) == combined(None, scope) == scope
    assert combined(scope, Scope((), ("source",))) == Scope(("tenant",), ("source",))


def test_a_policy_of_defaults_is_written_as_nothing() -> None:
    assert Policy().to_json() == {}
    assert Policy.from_json({}) == Policy()
    assert Policy(Scope(("tenant",)), "online").to_json() == {"scope": {"within": ["tenant"]}, "groups": "online"}


@pytest.mark.parametrize("form", [None, [], {"other": 1}, {"groups": "never"}, {"groups": ["online"]}, {"scope": 3}])
def test_a_form_that_is_not_a_policy_is_refused(form: Any) -> None:
    with pytest.raises(InputError):
        Policy.from_json(form)


def test_a_policy_has_a_scope_of_ours() -> None:
    with pytest.raises(InputError, match=r"Scope\.of"):
        Policy("tenant")  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4) | st.just("3d"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["scope", "groups", "within", "across", "window", "date", "x"]), inner)
    ),
    max_leaves=8,
)


@given(JSON | st.fixed_dictionaries({"scope": JSON}))
def test_what_stands_in_a_mapping_is_a_policy_or_is_refused(form: Any) -> None:
    try:
        policy = Policy.from_json(form)
    except InputError:
        return
    assert Policy.from_json(policy.to_json()) == policy
