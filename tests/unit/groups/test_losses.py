"""Losses: how much goes, by values, and alarms where it goes for a reason other than copies."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.families import family
from es_simhash import Scheme, dedup
from es_simhash._core.json_codec import Json
from es_simhash.groups.loss_counts import LEAST, NONE, Loss, Values, percent, values_to_count
from es_simhash.groups.losses import Losses, look_at, losses_of, reasons_of
from examples.corpus import Writer, language
from tests.support.filled_forms import filled
from tests.support.planted_losses import KINDS, REASONS, SITE, clean, planted
from tests.support.texts import any_text

SCHEME = Scheme()


def losses(rows: list[Json], **options: Any) -> Losses:
    fields = values_to_count(rows[:200])
    for row in rows:
        for values in fields:
            values.add(row)
    with dedup([(row["id"], row["body"]) for row in rows], scheme=SCHEME, threads=1, **options) as found:
        return losses_of(found, fields)


# ---- alarms


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_goes_for_another_reason_than_copies_raises_one_alarm(kind: str) -> None:
    [alarm] = losses(planted(kind)).alarms
    assert (alarm.field, alarm.value, alarm.reason) == ("site", SITE, REASONS[kind])
    assert 1 <= len(alarm.examples) <= 3
    assert all(each.startswith("bad") for each in alarm.examples)


@pytest.mark.parametrize("languages", [("en",), ("zh",), ("ja",), ("en", "zh", "ja")])
@pytest.mark.parametrize("seed", range(3))
def test_true_copies_raise_none(languages: tuple[str, ...], seed: int) -> None:
    found = losses(clean(900, seed, languages))
    assert found.share > 0.2
    assert found.alarms == ()
    assert {*found.certificate.reasons} == {"copies"}


@pytest.mark.parametrize("code", ["en", "zh", "ja"])
def test_stamped_and_edited_copies_raise_none(code: str) -> None:
    texts = [text for seed in range(60) for text in family(code, 400, 0.02, 5, seed)]
    found = losses([{"id": str(number), "body": text} for number, text in enumerate(texts)])
    assert found.share > 0.7
    assert found.alarms == ()


def test_one_text_under_the_header_of_each_site_raises_none() -> None:
    rng, own = random.Random(4), language("en")
    stories = [own.body(Writer(own, rng).story(8)) for _ in range(30)]
    sites = [" ".join(own.body(Writer(own, rng).story(1)).split()[:8]) for _ in range(6)]
    rows = [
        {"id": f"{story}/{site}", "site": f"{site}.example", "body": f"{sites[site]}\n{stories[story]}"}
        for story in range(30)
        for site in range(6)
    ]
    found = losses(rows)
    assert found.share > 0.8
    assert [each for each in found.alarms if each.reason != "copies"] == []


def test_a_source_that_mirrors_others_is_named_as_true_copies() -> None:
    rows = clean(300)
    mirror = [{**row, "id": f"mirror {row['id']}", "site": "mirror.example"} for row in rows]
    [alarm] = losses([*rows, *mirror]).alarms
    assert (alarm.value, alarm.share, alarm.reason) == ("mirror.example", 1.0, "copies")


def test_without_fields_all_documents_are_looked_at_and_an_alarm_is_not_repeated() -> None:
    rows = [{"id": row["id"], "body": row["body"]} for row in planted("filled-in forms", 400)]
    found = losses(rows)
    assert [each.field for each in found.by] == [None, None]
    [alarm] = found.alarms
    assert alarm.reason == "form"


def test_no_texts_no_reason() -> None:
    [alarm] = losses(planted("filled-in forms"), estimate=True).alarms
    assert (alarm.value, alarm.reason) == (SITE, None)
    assert "Compare texts" in alarm.sentence


@pytest.mark.parametrize("count", [1, 2, LEAST - 1])
def test_a_few_documents_raise_no_alarm(count: int) -> None:
    rows = [{"id": str(number), "site": "a.example", "body": "Page not found"} for number in range(count)]
    found = losses(rows)
    assert (found.documents, found.duplicates, found.alarms) == (count, count - 1, ())


def test_what_two_texts_share_is_boilerplate_if_other_groups_share_it() -> None:
    rng, own = random.Random(1), language("en")
    footer = " ".join(own.body(Writer(own, rng).story(3)).split())
    texts = [f"{own.body(Writer(own, rng).story(1))} {footer}" for _ in range(8)]
    looked = [look_at(SCHEME, texts[place : place + 2], 2) for place in range(0, 8, 2)]
    assert [each.reason for each in looked] == ["copies"] * 4
    assert reasons_of(looked) == ["boilerplate"] * 4
    assert reasons_of(looked[:1]) == ["copies"]


# ---- counts


def test_losses_are_counted_by_value_and_add_up() -> None:
    rows = planted("logs")
    found = losses(rows)
    by = {each.by: each for each in found.by}
    sites = Counter(row["site"] for row in rows)
    assert {loss.value: loss.documents for loss in by["source"].values} == dict(sites)
    assert sum(loss.duplicates for loss in by["source"].values) == found.duplicates
    assert {*by} == {"source", "year", "language", "length"}
    for each in found.by:
        assert abs(sum(loss.documents for loss in each.values) - found.documents) <= len(each.values)
    assert by["language"].is_estimate
    assert not by["source"].is_estimate


def test_the_same_documents_give_the_same_losses() -> None:
    rows = planted("tables")
    assert losses(rows).to_json() == losses(rows).to_json()


def test_a_certificate_measures_random_pairs() -> None:
    found = losses(clean()).certificate
    assert found.pairs == sum(found.reasons.values()) == 30
    assert 0 < found.equal < 30
    assert found.lowest is not None
    assert found.median is not None
    assert 0.4 < found.lowest <= found.median <= 1
    unique = losses([{"id": "1", "body": "One text."}]).certificate
    assert (unique.pairs, unique.lowest, unique.reasons) == (0, None, {})


def test_more_than_a_share_is_named_by_value_or_for_all() -> None:
    rows = planted("logs")
    values = Values("field", "site")
    for row in rows:
        values.add(row)
    with dedup([(row["id"], row["body"]) for row in rows], threads=1) as groups:
        found = losses_of(groups, [values])
    name, loss = found.over(0.9) or ("", Loss("", 0, 0))
    assert (name, loss.documents) == (f"site {SITE!r}", 200)
    assert found.over(1) is None
    assert losses(rows).over(found.share) is None
    assert losses(rows).over(found.share - 0.01) == ("all documents", found.total)


@pytest.mark.parametrize(
    ("value", "year"),
    [
        ("2024-03-01", "2024"),
        ("1. März 1999", "1999"),
        ("20240301", "2024"),
        (2019, "2019"),
        (1_709_251_200_000, "2024"),
        ("2024年3月1日", "2024"),
        ("soon", NONE),
        (1 << 20_000, NONE),
        (float("nan"), NONE),
        ({"a": 1}, NONE),
        (True, "1970"),
    ],
    ids=range(11),
)
def test_years_are_read_from_dates(value: Any, year: str) -> None:
    values = Values("year", "date")
    values.add({"date": value})
    assert [*values.names] == [year]


def test_values_are_bounded_in_number_and_length() -> None:
    values = Values("field", "a.b")
    for number in range(3_000):
        values.add({"a": {"b": [f"{number}" * 1_000]}})
    assert len(values.names) <= 1_001
    assert max(map(len, values.names)) <= 100
    assert len(values.codes) == 3_000


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_value_can_be_noted(value: Any) -> None:
    for by in ("field", "year"):
        values = Values(by, "x")
        values.add({"x": value})
        assert len(values.codes) == 1


@given(st.lists(any_text(), max_size=9), st.integers(1, 1000))
def test_any_texts_can_be_looked_at(texts: list[str], size: int) -> None:
    [reason] = reasons_of([look_at(SCHEME, texts, size)])
    assert isinstance(reason, str)


def test_forms_are_seen_in_each_language() -> None:
    for code in ("en", "zh", "ja"):
        seen = Counter(look_at(SCHEME, filled(code, template, 6), 40).reason for template in range(4))
        assert seen["form"] >= 3, (code, seen)


@pytest.mark.parametrize(("share", "written"), [(0, "0%"), (1, "100%"), (0.9997, "99.97%"), (0.5, "50%")])
def test_a_share_that_is_not_all_does_not_look_so(share: float, written: str) -> None:
    assert percent(share) == written
