"""Where Prometheus finds the metrics of a run: on a port while it lasts, or in a file for the textfile collector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from es_simhash.errors import InputError
from es_simhash.live.telemetry.metric import Metric

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from es_simhash.live.telemetry.metrics import Metrics

_LOOPBACK = "127.0.0.1"
_SECONDS_BETWEEN_FILES = 15.0


@contextmanager
def on_port(metrics: Metrics, port: int) -> Iterator[str]:
    """Answer Prometheus on a port of this machine within the block; yield the URL. Port 0 takes a free one."""
    from prometheus_client import start_http_server

    try:
        server, _ = start_http_server(port, addr=_LOOPBACK, registry=_registry(metrics))
    except OSError as error:
        raise InputError(f"Metrics cannot be shown on port {port}: {error.strerror}. Choose another port.") from None
    try:
        yield f"http://{_LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()


class MetricsFile:
    """A file of metrics that is always whole: it is written beside its path, and renamed."""

    def __init__(self, metrics: Metrics, path: str) -> None:
        self._metrics, self._path = metrics, path
        self._written = monotonic()

    def keep(self, metric: Metric) -> None:
        """Take a gauge's value over from the file that is there, of a run before this one."""
        from prometheus_client.parser import text_string_to_metric_families

        # No file, or one that is no file of metrics, has nothing to keep.
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            for family in text_string_to_metric_families(file.read()):
                for sample in family.samples:
                    if sample.name == metric.name and sample.labels == self._metrics.common:
                        self._metrics.set(metric, sample.value)

    def write(self) -> None:
        """Write the file anew."""
        from prometheus_client import write_to_textfile

        self._written = monotonic()
        try:
            write_to_textfile(self._path, _registry(self._metrics))
        except OSError as error:
            error.filename = self._path
            raise

    @property
    def is_old(self) -> bool:
        """Whether it is time to write the file anew."""
        return monotonic() - self._written >= _SECONDS_BETWEEN_FILES


def _registry(metrics: Metrics) -> CollectorRegistry:
    return cast("CollectorRegistry", cast(Any, metrics))  # it collects, which is all that is asked of it
