"""Metrics by Prometheus' conventions: what is measured, under which name, with which labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]

# Seconds: from an answer of the embedded engine to a request that a busy server takes a minute for.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True)
class Metric:
    """A metric: its name, with the base unit and for a counter ``_total``; its help; its labels.

    A label has few values, all known in advance: never an id, a text, or what a client sends.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = SECONDS
