"""The metrics of runs, of engines and of jobs: what became of documents, and where the time went."""

from __future__ import annotations

from collections.abc import Sized
from typing import Literal, TypeAlias, get_args

from es_simhash.live.telemetry.metric import Metric

# What becomes of a document. The counts that jobs keep have these names.
Outcome: TypeAlias = Literal["read", "written", "current", "gone", "lost", "deleted", "rejected", "unfit", "checked"]

DOCUMENTS = Metric(
    "es_simhash_documents_total",
    "counter",
    "Documents that are done, by what became of them.",
    ("outcome",),
)
REMAINING = Metric("es_simhash_documents_remaining", "gauge", "Documents that are still to do.")
CONFLICTS = Metric("es_simhash_conflicts_total", "counter", "Writes that met changes of others, and were made again.")
REFUSALS = Metric(
    "es_simhash_refusals_total", "counter", "Writes that an overloaded engine refused, and that were sent again."
)
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
    "Time that the engine took for an operation.",
    ("operation",),
)
OPERATION_ERRORS = Metric(
    "es_simhash_engine_operation_errors_total",
    "counter",
    "Operations that failed, by the kind of the error; UnavailableError and UnreachableError are tried again.",
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
