"""Telemetry of a run: its spans, and its metrics."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic, perf_counter, time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from es_simhash._core.batches import Stage, watched
from es_simhash._version import __version__
from es_simhash.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric as Family

    from es_simhash.engines.base import Engine


class Run:
    """One run of a verb: logs, spans, metrics and the server know it by its ``id``.

    ``counts`` are the latest that its job has reported. ``on_stage`` is called with each stage that is over, and its
    seconds; ``on_change`` when there is news for metrics, and ``on_end`` with the last of it.
    """

    def __init__(self, verb: str = "") -> None:
        self.id = f"es-simhash-{os.urandom(8).hex()}"
        self.verb = verb
        self.counts: dict[str, int] = {}
        self.metrics: Metrics | None = None
        self._of_engine: Metrics | None = None
        self.on_stage: Callable[[Stage, float], object] = _nothing
        self.on_change: Callable[[], object] = _nothing
        self.on_end: Callable[[], object] = _nothing
        self._begun = perf_counter()

    @property
    def seconds(self) -> float:
        """The seconds since the run began."""
        return perf_counter() - self._begun

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Show the run and its stages within the block to those who watch it."""
        with span(f"es-simhash {self.verb}", {"es_simhash.run.id": self.id}), watched(self._stage):
            yield

    def appear(self, metrics: Metrics) -> None:
        """Show the run in ``metrics``, and the operations of an engine that is opened from now on."""
        self._of_engine = metrics
        metrics.set(INFO, 1, run_id=self.id, version=__version__)
        metrics.set(STARTED, time() - self.seconds)

    def publish(self, metrics: Metrics) -> None:
        """Count in ``metrics`` what the job of the run does."""
        self.appear(metrics)
        self.metrics = metrics
        metrics.set(ENDED, 0)
        metrics.set(EXIT_CODE, -1)
        metrics.set(SUCCEEDED, 0)

    def count(self, counts: Mapping[str, int], left: int | None = None) -> None:
        """Take over the latest counts of a job, by the names of `counts_of`; ``left`` documents are still to do."""
        self.counts.update(counts)
        if not self.metrics:
            return
        for name, count in counts.items():
            metric, labels = metric_of(name)
            self.metrics.reach(metric, count, **labels)
        if left is not None:
            self.metrics.set(REMAINING, left)
        self.on_change()

    def engine(self, engine: Engine, place: str) -> Engine:
        """Return an engine whose operations are watched, if anybody watches."""
        if not self._of_engine and not are_wanted():
            return engine
        from es_simhash.live.measured_engine import WatchedEngine

        return WatchedEngine(engine, place, self._of_engine)

    def ended(self, exit_code: int) -> None:
        """Note how the run has ended."""
        if not self.metrics:
            return
        now = time()
        self.metrics.set(ENDED, now)
        self.metrics.set(EXIT_CODE, exit_code)
        if exit_code == 0:
            self.metrics.set(SUCCEEDED, now)
            self.metrics.set(REMAINING, 0)
        self.on_end()

    @contextmanager
    def _stage(self, name: Stage) -> Iterator[None]:
        begun = perf_counter()
        try:
            with span(name, {"es_simhash.run.id": self.id}):
                yield
        finally:
            seconds = perf_counter() - begun
            if self.metrics:
                self.metrics.add(STAGE_SECONDS, seconds, stage=name)
                self.on_change()
            self.on_stage(name, seconds)


def _nothing(*_: object) -> None:
    """Report to nobody."""


# Seconds that a run which has done its work waits for a collector.
_PATIENTLY = 5.0

Attributes: TypeAlias = Mapping[str, str | int]


def are_wanted() -> bool:
    """Return whether the process has set up an SDK, which receives spans; that has loaded the API."""
    if "opentelemetry.trace" not in sys.modules:
        return False
    from opentelemetry import trace

    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def span(name: str, attributes: Attributes, *, of_client: bool = False) -> AbstractContextManager[Span | None]:
    """Return a context that is a span below the current one; an error in it shows by its type, without its message.

    Messages of errors may quote what a server says, and that may quote a document.
    """
    return _span(name, attributes, of_client) if are_wanted() else nullcontext()


@contextmanager
def _span(name: str, attributes: Attributes, of_client: bool) -> Iterator[Span]:
    from opentelemetry import trace

    kind = trace.SpanKind.CLIENT if of_client else trace.SpanKind.INTERNAL
    tracer = trace.get_tracer("es_simhash", __version__)
    begun = tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    with begun as made:
        try:
            yield made
        except GeneratorExit:
            raise
        except BaseException as error:
            made.set_attribute("error.type", type(error).__qualname__)
            made.set_status(trace.StatusCode.ERROR)
            raise


def flush(in_haste: bool) -> None:
    """Send the spans that wait to be sent, since a process that ends with threads does not; ``in_haste`` for a moment.

    A collector that does not answer keeps no process from ending.
    """
    if not are_wanted():
        return
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    if hasattr(provider, "force_flush"):
        from es_simhash._core.batches import MOMENT, in_a_moment

        in_a_moment(provider.force_flush, MOMENT if in_haste else _PATIENTLY)


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


# What becomes of a document. The counts that jobs keep have these names.
Outcome: TypeAlias = Literal["read", "written", "current", "gone", "lost", "deleted", "rejected", "unfit", "checked"]

DOCUMENTS = Metric(
    "es_simhash_documents_total",
    "counter",
    "Documents processed, by outcome.",
    ("outcome",),
)
REMAINING = Metric("es_simhash_documents_remaining", "gauge", "Documents remaining.")
CONFLICTS = Metric("es_simhash_conflicts_total", "counter", "Writes repeated after conflicts with other writers.")
REFUSALS = Metric("es_simhash_refusals_total", "counter", "Writes repeated after an overloaded engine refused them.")
CHARACTERS = Metric("es_simhash_text_characters_total", "counter", "Characters of the texts that were fingerprinted.")
STAGE_SECONDS = Metric(
    "es_simhash_stage_seconds_total",
    "counter",
    "Time spent in each stage; those of threads overlap.",
    ("stage",),
)
OPERATION_SECONDS = Metric(
    "es_simhash_engine_operation_duration_seconds",
    "histogram",
    "Time of the engine for an operation.",
    ("operation",),
)
OPERATION_ERRORS = Metric(
    "es_simhash_engine_operation_errors_total",
    "counter",
    "Failed operations, by error; UnavailableError and UnreachableError are tried again.",
    ("operation", "error_type"),
)
INFO = Metric(
    "es_simhash_run_info", "gauge", "The run, by the id in logs, traces and the server.", ("run_id", "version")
)
STARTED = Metric("es_simhash_run_start_timestamp_seconds", "gauge", "When the run began.")
ENDED = Metric("es_simhash_run_end_timestamp_seconds", "gauge", "When the run ended; 0 while it is under way.")
EXIT_CODE = Metric("es_simhash_run_exit_code", "gauge", "The exit code of the run; -1 while it is under way.")
SUCCEEDED = Metric(
    "es_simhash_last_success_timestamp_seconds", "gauge", "When a run last ended with the exit code 0; 0 for never."
)

# What every run shows that publishes metrics, and what a job shows as well.
OF_RUNS = (OPERATION_SECONDS, OPERATION_ERRORS, INFO, STARTED)
METRICS = (
    DOCUMENTS,
    REMAINING,
    CONFLICTS,
    REFUSALS,
    CHARACTERS,
    STAGE_SECONDS,
    *OF_RUNS,
    ENDED,
    EXIT_CODE,
    SUCCEEDED,
)

_OTHERS = {"conflicts": CONFLICTS, "refusals": REFUSALS, "characters": CHARACTERS}
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def counts_of(job: object) -> dict[str, int]:
    """Return the counts that the progress of a job has, by their names here: numbers, or lists of documents."""
    found = {name: getattr(job, name, None) for name in (*OUTCOMES, *_OTHERS)}
    counts = {name: len(value) if isinstance(value, Sized) else value for name, value in found.items()}
    return {name: count for name, count in counts.items() if count is not None}


def metric_of(count: str) -> tuple[Metric, dict[str, str]]:
    """Return the metric of a count, and its labels."""
    return (_OTHERS[count], {}) if count in _OTHERS else (DOCUMENTS, {"outcome": count})


_SECONDS_BETWEEN_FILES = 15.0


@contextmanager
def on_port(metrics: Metrics, host: str, port: int) -> Iterator[str]:
    """Answer Prometheus at an address of this machine within the block; yield the URL. Port 0 takes a free one."""
    from prometheus_client import start_http_server

    try:
        server, _ = start_http_server(port, addr=host, registry=_registry(metrics))
    except OSError as error:
        raise InputError(
            f"Metrics cannot be shown on port {port} of {host}: {error.strerror}. Choose another port or address."
        ) from None
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()


class MetricsFile:
    """A file of metrics that is always whole: it is written next to its path, and renamed."""

    def __init__(self, metrics: Metrics, path: str) -> None:
        self._metrics, self._path = metrics, path
        self._written = monotonic()

    def keep(self, metric: Metric) -> None:
        """Take a gauge's value over from the file that is there, of a run before this one."""
        from prometheus_client.parser import text_string_to_metric_families

        # No file, or one that is not a file of metrics, has nothing to keep.
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            for family in text_string_to_metric_families(file.read()):
                for sample in family.samples:
                    if sample.name == metric.name and sample.labels == self._metrics.common:
                        self._metrics.set(metric, sample.value)

    def write(self) -> None:
        """Rewrite the file."""
        from prometheus_client import write_to_textfile

        self._written = monotonic()
        try:
            write_to_textfile(self._path, _registry(self._metrics))
        except OSError as error:
            error.filename = self._path
            raise

    @property
    def is_old(self) -> bool:
        """Whether it is time to rewrite the file."""
        return monotonic() - self._written >= _SECONDS_BETWEEN_FILES


def _registry(metrics: Metrics) -> CollectorRegistry:
    return cast("CollectorRegistry", cast(Any, metrics))  # it collects, which is all that is asked of it
