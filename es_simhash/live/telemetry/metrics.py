"""The values of metrics, and how Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from es_simhash.errors import MissingExtraError
from es_simhash.live.telemetry.metric import Metric

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family


class Metrics:
    """The values of some metrics, in a registry of their own; several threads may use them.

    Each value also has the labels ``common`` to all, such as the index that a job goes through.

        requests = Metric("es_simhash_requests_total", "counter", "Requests answered.", ("status",))
        metrics = Metrics([requests], index="articles")
        metrics.add(requests, status="200")
        metrics.exposition()  # the bytes that `/metrics` answers
    """

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, metrics: Iterable[Metric], **common: str) -> None:
        try:
            import prometheus_client
        except ImportError:
            raise MissingExtraError("prometheus-client", "metrics") from None
        self._registry = prometheus_client.CollectorRegistry(auto_describe=False)
        self.common = common
        self._made: dict[Metric, Any] = {}
        self._totals: dict[tuple[str, ...], float] = {}
        self._lock = Lock()
        kinds = {
            "counter": prometheus_client.Counter,
            "gauge": prometheus_client.Gauge,
            "histogram": prometheus_client.Histogram,
        }
        for metric in metrics:
            more: dict[str, Any] = {"buckets": metric.buckets} if metric.kind == "histogram" else {}
            labels = (*common, *metric.labels)
            made = kinds[metric.kind](metric.name, metric.help, labels, registry=self._registry, **more)
            self._made[metric] = made
            if common and not metric.labels and metric.kind != "gauge":
                made.labels(**common)  # shown as 0 from the start, so that rates have a beginning

    def add(self, metric: Metric, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        self._at(metric, labels).inc(amount)

    def reach(self, metric: Metric, total: float, **labels: str) -> None:
        """Raise a counter to a total that somebody else counts; a lower one changes nothing."""
        key = (metric.name, *labels.values())
        with self._lock:
            before = self._totals.get(key, 0.0)
            self._totals[key] = max(before, total)
        self._at(metric, labels).inc(max(0.0, total - before))

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._at(metric, labels).set(value)

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """Add one observation to a histogram."""
        self._at(metric, labels).observe(value)

    def exposition(self) -> bytes:
        """Write all values in Prometheus' text format."""
        from prometheus_client import generate_latest

        text: bytes = generate_latest(self)
        return text

    def collect(self) -> Iterator[Family]:
        """Yield the families of values, as collectors of prometheus-client do."""
        for family in self._registry.collect():
            # When each counter was made is a second series that nobody asks for.
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family

    def _at(self, metric: Metric, labels: dict[str, str]) -> Any:
        made, all_labels = self._made[metric], {**self.common, **labels}
        return made.labels(**all_labels) if all_labels else made
