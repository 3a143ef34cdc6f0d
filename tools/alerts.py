"""Requests for alerts: a group gets many duplicates within an hour.

Kibana has rules, OpenSearch monitors; both count the duplicates that each group got in the last hour, by
their dates.
"""

from __future__ import annotations

import json

from es_simhash._core.json_codec import Json
from es_simhash.cli.commands.scripts import request
from es_simhash.cli.reports.dashboards import UI
from es_simhash.scheme.mapping import DEFAULT_PREFIX, GROUP, IS_CANONICAL

MOST = 20
DATE = "published"
_GROUP = f"{DEFAULT_PREFIX}.{GROUP}"
_DUPLICATES: Json = {"term": {f"{DEFAULT_PREFIX}.{IS_CANONICAL}": False}}


def alert_requests(index: str) -> dict[UI, str]:
    """Return the request of each UI that sets up the alert for an index."""
    name = f"{index}: {MOST} duplicates of a group within an hour"
    about = (
        f"Replace {index} with the name of your index, {DATE} with its date field, {MOST} with another number.",
        "Then add what it shall do, such as a mail, in the UI. Groups must be written as documents come in.",
    )
    made: dict[UI, tuple[str, Json, str]] = {
        "kibana": ("kbn:/api/alerting/rule", rule(index, name), "For Kibana from 8.8 on: a rule."),
        "opensearch": ("_plugins/_alerting/monitors", monitor(index, name), "For OpenSearch Dashboards: a monitor."),
    }
    return {ui: request("POST", path, body, title, *about) for ui, (path, body, title) in made.items()}


def rule(index: str, name: str) -> Json:
    """Return the rule of Kibana, which adds the hour and the groups to the query."""
    params = {
        "searchType": "esQuery",
        "index": [index],
        "timeField": DATE,
        "esQuery": json.dumps({"query": _DUPLICATES}),
        "size": 1,
        "timeWindowSize": 1,
        "timeWindowUnit": "h",
        "aggType": "count",
        "groupBy": "top",
        "termField": _GROUP,
        "termSize": 100,
        "thresholdComparator": ">=",
        "threshold": [MOST],
        # Each run counts the whole hour, also what an earlier run has counted.
        "excludeHitsFromPreviousRun": False,
    }
    return {
        "name": name,
        "rule_type_id": ".es-query",
        "consumer": "stackAlerts",
        "schedule": {"interval": "5m"},
        "params": params,
        "actions": [],
    }


def monitor(index: str, name: str) -> Json:
    """Return the monitor of OpenSearch, which fills in the time, and reads the groups page by page."""
    hour = {"gte": "{{period_end}}||-1h", "lte": "{{period_end}}", "format": "epoch_millis"}
    query = {"bool": {"filter": [_DUPLICATES, {"range": {DATE: hour}}]}}
    groups = {"composite": {"size": 1000, "sources": [{"group": {"terms": {"field": _GROUP}}}]}}
    condition = {
        "parent_bucket_path": "groups",
        "buckets_path": {"duplicates": "_count"},
        "script": {"lang": "painless", "source": f"params.duplicates >= {MOST}"},
    }
    return {
        "type": "monitor",
        "monitor_type": "bucket_level_monitor",
        "name": name,
        "enabled": True,
        "schedule": {"period": {"interval": 5, "unit": "MINUTES"}},
        "inputs": [{"search": {"indices": [index], "query": {"size": 0, "query": query, "aggs": {"groups": groups}}}}],
        "triggers": [{"bucket_level_trigger": {"name": name, "severity": "3", "condition": condition, "actions": []}}],
    }
