"""OpenTelemetry spans, where the process has set OpenTelemetry up; nothing of it is loaded where it has not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

from es_simhash._version import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Span

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
        from es_simhash._core.prefetch import MOMENT, in_a_moment

        in_a_moment(provider.force_flush, MOMENT if in_haste else _PATIENTLY)
