"""The alerts count, on real servers, the duplicates that each group got in the last hour."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.plans.operations import CreateIndex, Search
from es_simhash.scheme.mapping import PROPERTIES
from tests.support.dev_tools import requests
from tests.support.whole_indices import ENGINES, engine_of_kind, fill, new_names
from tools.alerts import DATE, MOST, alert_requests

pytestmark = pytest.mark.each_server

NOW = datetime.now(timezone.utc)


def of_kibana(index: str) -> Json:
    """The request that Kibana makes of a rule: x-pack/plugins/stack_alerts/server/rule_types/es_query."""
    [sent] = requests(alert_requests(index)["kibana"])
    assert isinstance(sent.body, dict)
    assert (sent.path, sent.body["rule_type_id"]) == ("/kbn:/api/alerting/rule", ".es-query")
    rule = sent.body["params"]
    assert (rule["index"], rule["aggType"], rule["groupBy"], rule["thresholdComparator"]) == (
        [index],
        "count",
        "top",
        ">=",
    )
    assert not rule["excludeHitsFromPreviousRun"]
    since = NOW - timedelta(**{{"h": "hours"}[rule["timeWindowUnit"]]: rule["timeWindowSize"]})
    window = {"range": {rule["timeField"]: {"gte": since.isoformat(), "lte": NOW.isoformat()}}}
    enough = {"buckets_path": {"compareValue": "_count"}, "script": f"params.compareValue >= {rule['threshold'][0]}L"}
    groups = {"terms": {"field": rule["termField"], "size": rule["termSize"]}}
    return {
        "size": 0,
        "query": {"bool": {"filter": [json.loads(rule["esQuery"])["query"], window]}},
        "aggs": {"groups": {**groups, "aggs": {"enough": {"bucket_selector": enough}}}},
    }


def of_opensearch(index: str) -> Json:
    """The request that the alerting plugin makes of a monitor, which selects buckets by the condition."""
    [sent] = requests(alert_requests(index)["opensearch"])
    assert isinstance(sent.body, dict)
    assert (sent.path, sent.body["monitor_type"]) == ("/_plugins/_alerting/monitors", "bucket_level_monitor")
    [monitor], [trigger] = sent.body["inputs"], sent.body["triggers"]
    assert monitor["search"]["indices"] == [index]
    now = str(int(NOW.timestamp() * 1000))
    body: Json = json.loads(json.dumps(monitor["search"]["query"]).replace("{{period_end}}", now))
    condition = trigger["bucket_level_trigger"]["condition"]
    enough = {name: condition[name] for name in ("buckets_path", "script")}
    body["aggs"][condition["parent_bucket_path"]]["aggs"] = {"enough": {"bucket_selector": enough}}
    return body


@pytest.fixture(params=ENGINES[1:])
def alerted(request: pytest.FixtureRequest) -> Iterator[Callable[..., set[str]]]:
    """Return the groups that an alert reports, given the minutes since each duplicate of groups."""
    ask = of_opensearch if request.param == "opensearch" else of_kibana
    with engine_of_kind(request.param, request) as engine, new_names(engine) as name:

        def groups(**minutes: list[int]) -> set[str]:
            index = name()
            own: Any = {"properties": {DATE: {"type": "date"}, "dedup": {"properties": PROPERTIES}}}
            engine.perform(CreateIndex(index, {"mappings": own, "settings": {"number_of_shards": 2}}))
            rows = [(group, since, False) for group, each in minutes.items() for since in each]
            rows += [(group, 1, True) for group in minutes for _ in range(MOST)]
            written = {
                str(number): {
                    DATE: (NOW - timedelta(minutes=since)).isoformat(),
                    "dedup": {"group": group, "is_canonical": is_canonical},
                }
                for number, (group, since, is_canonical) in enumerate(rows)
            }
            fill(engine, index, written)
            answer = engine.perform(Search(index, ask(index)))
            keys = [each["key"] for each in answer["aggregations"]["groups"]["buckets"]]
            return {each["group"] if isinstance(each, dict) else each for each in keys}

        yield groups


def test_a_group_that_reaches_the_number_within_an_hour_is_reported(alerted: Callable[..., set[str]]) -> None:
    assert alerted(story=[50] * MOST) == {"story"}


@pytest.mark.parametrize("minutes", [[50] * (MOST - 1), [50] * (MOST - 1) + [70] * 5, [70] * 99, [-5] * 99])
def test_a_group_with_fewer_within_the_hour_is_not(alerted: Callable[..., set[str]], minutes: list[int]) -> None:
    assert alerted(story=minutes) == set()


def test_each_group_is_reported_by_itself(alerted: Callable[..., set[str]]) -> None:
    others = {f"other{number}": [30] * (MOST // 2) for number in range(30)}
    assert alerted(one=[5] * (MOST + 7), two=[59] * MOST, **others) == {"one", "two"}
