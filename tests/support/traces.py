"""Spans that OpenTelemetry's SDK collects in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Traces:
    """The spans that have ended."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    @property
    def by_id(self) -> dict[int, ReadableSpan]:
        return {span.context.span_id: span for span in self.spans if span.context}

    def path(self, span: ReadableSpan) -> list[str]:
        """The names of the spans around a span, from the outermost one, and its own."""
        above = self.path(self.by_id[span.parent.span_id]) if span.parent else []
        return [*above, span.name]

    def everything(self) -> str:
        """All that an exporter would send."""
        return json.dumps([json.loads(span.to_json()) for span in self.spans])


@contextmanager
def collected() -> Iterator[Traces]:
    """Collect the spans within the block, as if the process had set the SDK up."""
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with patch("opentelemetry.trace.get_tracer_provider", lambda: provider):  # a process can have only one
        yield Traces(exporter)
