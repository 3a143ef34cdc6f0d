"""The options that verbs share: they stand before the verb or after it, and the one after it wins.

The help of each verb lists its options under headings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import click

from es_simhash._core.batches import counts_shown
from es_simhash._core.environment import PATIENCE
from es_simhash._version import __version__
from es_simhash.cli.options.target import DISTRIBUTIONS, OriginSettings, target_of
from es_simhash.cli.show import output as exits
from es_simhash.cli.show import output as log
from es_simhash.cli.show.output import Output
from es_simhash.live import telemetry
from es_simhash.live.telemetry import Run


def listening(value: str) -> tuple[str, int]:
    """Read a port, of this machine alone unless an address stands before it: 9464, 0.0.0.0:9464 or [::]:9464."""
    from ipaddress import ip_address

    host, _, port = value.rpartition(":")
    with suppress(ValueError):
        if re.fullmatch("[0-9]{1,5}", port) and int(port) <= 65535:
            return str(ip_address(host.strip("[]") or "127.0.0.1")), int(port)
    raise click.BadParameter(f"{value!r} is not a port. Write, say, 9464, or 0.0.0.0:9464 for other machines.")


_FILE = click.Path(exists=True, dir_okay=False)
CONNECTION = (
    click.Option(
        ["--url"],
        metavar="URL|DIR",
        help="URL of the server, or directory of an embedded index.  [default: ES_SIMHASH_URL, or .es-simhash]",
    ),
    click.Option(["--profile"], metavar="NAME", help="Settings in config.toml (or set ES_SIMHASH_PROFILE)."),
    click.Option(["--cloud-id"], metavar="ID", help="A deployment in Elastic Cloud, instead of a URL."),
    click.Option(
        ["--user"],
        metavar="NAME",
        help="User to log in as; the password is asked for, or read from a file or ES_SIMHASH_PASSWORD.",
    ),
    click.Option(["--password-file"], type=_FILE, help="A file with the password."),
    click.Option(["--api-key"], metavar="KEY", help="Log in with this API key (or set ES_SIMHASH_API_KEY)."),
    click.Option(["--api-key-file"], type=_FILE, help="A file with the API key."),
    click.Option(
        ["--aws-sigv4"], metavar="REGION", help="Sign requests for this region of AWS, with boto3's credentials."
    ),
    click.Option(["--ca-certs"], type=_FILE, help="Certificate authorities to trust, as a PEM file."),
    click.Option(["--insecure"], is_flag=True, help="Accept any certificate: nothing is secret then."),
    click.Option(
        ["--distribution"], type=click.Choice(DISTRIBUTIONS), help="Distribution of a server that does not report it."
    ),
)
INDEX = (
    click.Option(["--prefix"], metavar="NAME", help="Object that holds the fingerprint fields.  [default: dedup]"),
)
WAITING = (
    click.Option(
        ["--patience"],
        type=float,
        metavar="SECONDS",
        help=f"Time for which a long job waits for a busy engine.  [default: {PATIENCE}]",
    ),
)
METRICS = (
    click.Option(
        ["--metrics-port"],
        type=listening,
        metavar="[HOST:]PORT",
        help="Show Prometheus metrics of a long job on this port while it runs.  [default HOST: 127.0.0.1]",
    ),
    click.Option(
        ["--metrics-file"],
        type=click.Path(dir_okay=False, writable=True),
        help="Write Prometheus metrics of a long job to this file, as for the textfile collector.",
    ),
)
# What a long job on an index takes.
JOB = (*WAITING, *METRICS)
OUTPUT = (
    click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, one object per line."),
    click.Option(["--quiet", "-q"], is_flag=True, help="Print only results and errors."),
    click.Option(["--verbose", "-v", "is_verbose"], is_flag=True, help="Also print details that only experts need."),
    click.Option(
        ["--log-format"],
        type=click.Choice(log.FORMATS),
        help="Format of the messages on standard error: text, or an object of JSON a line.",
    ),
)


SHARED = (*CONNECTION, *INDEX, *JOB, *OUTPUT)
_DEFAULTS = {"prefix": "dedup", "patience": PATIENCE}


class Verb(click.Command):
    """A command that prints; it gets its `Output` as ``output``. ``more`` shared options are those it takes as well."""

    shared: ClassVar[tuple[click.Option, ...]] = OUTPUT

    def __init__(self, *given: Any, more: Sequence[click.Option] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        self.taken = (*self.shared, *more)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters, the shared ones, and ``--help``."""
        own = super().get_params(ctx)
        return [*self.params, *self.taken, *own[len(self.params) :]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read its arguments; answer an option that is not known with the one that is written most like it."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            near = next(iter(error.possibilities or ()), None)
            remedy = f"Did you mean {near}?" if near else f"es-simhash {self.name} --help lists its options."
            raise click.UsageError(f"No such option: {error.option_name}. {remedy}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under their headings."""
        write_options(ctx, formatter, self.get_params(ctx))

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the objects that the shared options describe."""
        given = dict(ctx.parent.params) if ctx.parent else {}
        given = {str(option.name): given.get(str(option.name)) for option in SHARED}
        after = {name: ctx.params.pop(name) for name in given if name in ctx.params}
        given |= {name: value for name, value in after.items() if value is not None and value is not False}
        format: log.Format = given.pop("log_format") or "text"
        as_json, quiet, is_verbose = (bool(given.pop(name)) for name in ("as_json", "quiet", "is_verbose"))
        output = Output(as_json, quiet, is_verbose, Run(str(self.name)))
        with log.log_written_as(format, output.run.id):
            return self._observed(ctx, output, OriginSettings.of(given, lambda name: f"--{name.replace('_', '-')}"))

    def _observed(self, ctx: click.Context, output: Output, given: OriginSettings) -> Any:
        """Run it, and show operators how it ends."""
        run, code = output.run, exits.FINE
        run.on_stage = output.stage
        output.note("", event="started", verb=run.verb, version=__version__)
        try:
            with run.going_on(), counts_shown(output.progress, output.resumed):
                ctx.params.update(self._passed(given), **self.connected(given), output=output)
                index = ctx.params.get("index") or ctx.params.get("source") or ""
                with _published(output, index, given.values.get("metrics_port"), given.values.get("metrics_file")):
                    result = super().invoke(ctx)
            code = result if isinstance(result, int) else exits.FINE
            return result
        except BaseException as error:
            code, _ = exits.described(error)
            if not log.is_json():
                raise
            debug = bool(ctx.find_root().params.get("debug"))
            raise click.exceptions.Exit(exits.code_of(error, debug=debug)) from error
        finally:
            show_end(output, code)

    def _passed(self, given: OriginSettings) -> dict[str, Any]:
        """Return the shared options that are passed on as they are; refuse those that the verb does not take."""
        taken = {option.name for option in self.taken}
        if idle := given.names(name for name in given.values if name not in taken):
            raise click.UsageError(
                f"{self.name} does not use {' and '.join(idle)}. Drop {'it' if len(idle) == 1 else 'them'}."
            )
        return {name: given.values.get(name, default) for name, default in _DEFAULTS.items() if name in taken}

    def connected(self, given: OriginSettings) -> Mapping[str, Any]:
        """Return what the connection options stand for."""
        return {}


def show_end(output: Output, code: int) -> None:
    """Show operators how a run has ended."""
    run = output.run
    run.ended(code)
    output.note("", event="finished", exit_code=code, seconds=round(run.seconds, 3), **run.counts)
    telemetry.flush(in_haste=code not in (exits.FINE, exits.SOME_FAILED))


class ConnectionVerb(Verb):
    """A verb that takes connection options, and gets them as ``connection``."""

    shared = (*CONNECTION, *INDEX, *OUTPUT)

    def connected(self, given: OriginSettings) -> Mapping[str, Any]:
        """Pass the options on."""
        return {"connection": _connection(given)}


class EngineVerb(ConnectionVerb):
    """A verb that works on an engine, and gets its `Target` as ``target``."""

    def connected(self, given: OriginSettings) -> Mapping[str, Any]:
        """Resolve the options to a target."""
        return {"target": target_of(_connection(given), os.environ)}


def _connection(given: OriginSettings) -> OriginSettings:
    names = {option.name for option in CONNECTION}
    return replace(given, values={name: value for name, value in given.values.items() if name in names})


# The options of each heading, wherever they occur; all others are the verb's own.
HEADINGS = {
    "What to compare": (
        *("text", "id", "file", "query", "field", "scheme", "prefix", "filter", "refresh-stale"),
        *("containing", "contained", "by-groups", "similarity", "distance", "numbers", "containment"),
        *("estimate", "strip", "rarity", "labels", "sample", "histogram", "scan"),
    ),
    "Scope": ("within", "across", "window", "date", "no-scope", "scope-value"),
    "Files": ("format", "id-field", "encoding", "rejects"),
    "Long jobs": (
        *("part", "workers", "max-rate", "patience", "memory", "state", "no-refresh", "fast"),
        *("metrics-port", "metrics-file"),
    ),
    "Output": (
        *("size", "source", "output", "pairs", "report", "canonical-only", "delete-script", "kibana-url"),
        *("json", "quiet", "verbose", "log-format"),
    ),
    "Connection": (
        *("url", "profile", "user", "password-file", "api-key", "api-key-file", "cloud-id", "aws-sigv4", "ca-certs"),
        *("insecure", "distribution"),
    ),
}
OWN = "Options"


def under_headings(parameters: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Parameter]]]:
    """Yield each heading with its options, those of the verb itself first.

    >>> [heading for heading, _ in under_headings([click.Option(["--url"]), click.Option(["--write"])])]
    ['Options', 'Connection']
    """
    names = {max(each.opts, key=len).lstrip("-"): each for each in parameters if isinstance(each, click.Option)}
    placed = {heading: [name for name in known if name in names] for heading, known in HEADINGS.items()}
    # A date and fields for something else.
    if "window" not in names and "date" in placed["Scope"]:
        placed["Scope"].remove("date")
    if "breakdown" in names:
        placed["What to compare"].remove("field")
    taken = {name for known in placed.values() for name in known}
    for heading, known in {OWN: [name for name in names if name not in taken], **placed}.items():
        if known:
            yield heading, [names[name] for name in known]


def write_options(ctx: click.Context, formatter: click.HelpFormatter, parameters: Sequence[click.Parameter]) -> None:
    """Write a section for each heading that has an option to show."""
    for heading, options in under_headings(parameters):
        if records := [record for each in options if (record := each.get_help_record(ctx))]:
            with formatter.section(heading):
                formatter.write_dl(records)


@contextmanager
def _published(output: Output, index: str, port: tuple[str, int] | None, path: str | None) -> Iterator[None]:
    """Publish the metrics of a run at a port and in a file, if they are named."""
    if port is None and path is None:
        yield
        return
    from es_simhash.live.telemetry import METRICS, SUCCEEDED, Metrics, MetricsFile, on_port

    run = output.run
    # Of two files, the textfile collector takes no values with the same labels.
    file_of = {} if path is None else {"file": os.path.basename(path)}
    metrics = Metrics(METRICS, verb=run.verb, index=index, **file_of)
    run.publish(metrics)
    with ExitStack() as stack:
        if port is not None:
            output.note(f"Metrics are on {stack.enter_context(on_port(metrics, *port))}.")
        if path is not None:
            file = MetricsFile(metrics, path)
            file.keep(SUCCEEDED)
            file.write()

            def write(at_once: bool) -> None:
                if not (at_once or file.is_old):
                    return
                try:
                    file.write()
                except OSError as error:  # the job goes on
                    output.warn(
                        f"The metrics are not written: {error.filename}: {error.strerror}. Make room, or name another "
                        "file."
                    )

            run.on_change, run.on_end = partial(write, False), partial(write, True)
        yield
