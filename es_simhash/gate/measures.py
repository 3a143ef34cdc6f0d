"""The metrics of a gate, for Prometheus; without the extra ``metrics`` nothing is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from es_simhash.errors import MissingExtraError
from es_simhash.gate.gate import Gate
from es_simhash.gate.requests import Answer
from es_simhash.gate.verdict import Verdict
from es_simhash.live.telemetry.metrics import OF_RUNS, Metric, Metrics

DOCUMENTS = Metric(
    "es_simhash_gate_documents_total", "counter", "Documents answered, by verdict.", ("operation", "verdict")
)
REQUESTS = Metric("es_simhash_gate_requests_total", "counter", "Requests answered, by status.", ("path", "status"))
BATCHES = Metric(
    "es_simhash_gate_batch_duration_seconds", "histogram", "Time to judge, note and write a batch of documents."
)
PENDING = Metric("es_simhash_gate_pending_documents", "gauge", "Accepted documents that the index does not show yet.")
WAITING = Metric("es_simhash_gate_waiting_documents", "gauge", "Documents that wait to be judged.")
JOURNAL = Metric("es_simhash_gate_journal_bytes", "gauge", "Size of the journal.")
EXPIRED = Metric(
    "es_simhash_gate_expired_documents_total", "counter", "Accepted documents forgotten before the index had them."
)
SET_ASIDE = Metric(
    "es_simhash_gate_set_aside_records", "gauge", "Records in rejected.jsonl, which the gate cannot use."
)

METRICS = (DOCUMENTS, REQUESTS, BATCHES, PENDING, WAITING, JOURNAL, EXPIRED, SET_ASIDE)


def metrics_of(index: str) -> Metrics:
    """Return the metrics of the gate of an index, and of the engine that it works on; nothing is counted yet."""
    return Metrics((*METRICS, *OF_RUNS), verb="gate", index=index)


class Measures:
    """The values of the metrics of one gate, which count in ``metrics``, or by default in new ones."""

    content_type = Metrics.content_type

    def __init__(self, gate: Gate, metrics: Metrics | None = None) -> None:
        self._gate = gate
        self._missing: MissingExtraError | None = None
        self._metrics = metrics
        try:
            self._metrics = metrics or metrics_of(gate.name)
        except MissingExtraError as error:
            self._missing = error

    def batch(self, size: int, seconds: float) -> None:
        """Note a batch."""
        if self._metrics:
            self._metrics.observe(BATCHES, seconds)

    def answers(self, answers: Sequence[Answer], writes: bool) -> None:
        """Note answers."""
        if self._metrics:
            operation = "add" if writes else "check"
            kinds = Counter(each.kind if isinstance(each, Verdict) else "unknown" for each in answers)
            for kind, count in kinds.items():
                self._metrics.add(DOCUMENTS, count, operation=operation, verdict=kind)

    def request(self, path: str, status: int) -> None:
        """Note a request."""
        if self._metrics:
            self._metrics.add(REQUESTS, path=path, status=str(status))

    def exposition(self, waiting: int) -> bytes:
        """Write all values; raise without the extra."""
        if self._metrics is None:
            assert self._missing
            raise self._missing
        self._metrics.set(PENDING, self._gate.pending)
        self._metrics.set(WAITING, waiting)
        self._metrics.set(JOURNAL, self._gate.journal_bytes)
        self._metrics.set(SET_ASIDE, self._gate.set_aside)
        self._metrics.reach(EXPIRED, self._gate.expired)
        return self._metrics.exposition()
