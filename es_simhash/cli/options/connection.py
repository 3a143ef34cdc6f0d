"""The options that verbs share, before or after the verb; the one after it wins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import click

from es_simhash._core.stages import counts_shown
from es_simhash._version import __version__
from es_simhash.cli.options.profiles import DISTRIBUTIONS
from es_simhash.cli.options.setting_origins import Given
from es_simhash.cli.options.target import target_of
from es_simhash.cli.show import exits, log
from es_simhash.cli.show.output import Output
from es_simhash.live.telemetry import spans
from es_simhash.live.telemetry.run import Run


class ConnectionOption(click.Option):
    """An option that only ``es-simhash help connection`` lists."""

    def get_help_record(self, ctx: click.Context) -> None:
        """Keep it out of each verb's help."""

    def record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return what help says of it."""
        return super().get_help_record(ctx)


_FILE = click.Path(exists=True, dir_okay=False)
CONNECTION = (
    click.Option(
        ["--url"],
        metavar="URL|DIR",
        help="URL of the server, or directory of an embedded index (see: es-simhash help connection).",
    ),
    click.Option(["--profile"], metavar="NAME", help="Settings in config.toml (or set ES_SIMHASH_PROFILE)."),
    ConnectionOption(["--cloud-id"], metavar="ID", help="A deployment in Elastic Cloud, instead of a URL."),
    ConnectionOption(
        ["--user"],
        metavar="NAME",
        help="User to log in as; the password is asked for, or read from a file or ES_SIMHASH_PASSWORD.",
    ),
    ConnectionOption(["--password-file"], type=_FILE, help="A file with the password."),
    ConnectionOption(["--api-key"], metavar="KEY", help="Log in with this API key (or set ES_SIMHASH_API_KEY)."),
    ConnectionOption(["--api-key-file"], type=_FILE, help="A file with the API key."),
    ConnectionOption(
        ["--aws-sigv4"], metavar="REGION", help="Sign requests for this region of AWS, with boto3's credentials."
    ),
    ConnectionOption(["--ca-certs"], type=_FILE, help="Certificate authorities to trust, as a PEM file."),
    ConnectionOption(["--insecure"], is_flag=True, help="Accept any certificate: nothing is secret then."),
    ConnectionOption(
        ["--distribution"], type=click.Choice(DISTRIBUTIONS), help="Distribution of a server that does not report it."
    ),
)
OUTPUT = (
    click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, one object per line."),
    click.Option(["--quiet", "-q"], is_flag=True, help="Print only results and errors."),
    click.Option(
        ["--log-format"],
        type=click.Choice(log.FORMATS),
        help="Format of the messages on standard error: text, or an object of JSON a line.",
    ),
)


class Verb(click.Command):
    """A command that prints; it gets its `Output` as ``output``."""

    shared: ClassVar[tuple[click.Option, ...]] = OUTPUT

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters, the shared ones, and ``--help``."""
        own = super().get_params(ctx)
        return [*self.params, *self.shared, *own[len(self.params) :]]

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the objects that the shared options describe."""
        given = dict(ctx.parent.params) if ctx.parent else {}
        given = {str(option.name): given.get(str(option.name)) for option in (*CONNECTION, *OUTPUT)}
        after = {name: ctx.params.pop(name) for name in given if name in ctx.params}
        given |= {name: value for name, value in after.items() if value is not None and value is not False}
        format: log.Format = given.pop("log_format") or "text"
        output = Output(bool(given.pop("as_json")), bool(given.pop("quiet")), Run(str(self.name)))
        with log.written(format, output.run.id):
            return self._observed(ctx, output, Given.of(given, lambda name: f"--{name.replace('_', '-')}"))

    def _observed(self, ctx: click.Context, output: Output, connection: Given) -> Any:
        """Run it, and show operators how it ends."""
        run, code = output.run, exits.FINE
        run.on_stage = output.stage
        output.note("", event="started", verb=run.verb, version=__version__)
        try:
            with run.going_on(), counts_shown(output.progress):
                ctx.params.update(self.connected(connection), output=output)
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

    def connected(self, connection: Given) -> Mapping[str, Any]:
        """Refuse connection options before the verb."""
        if idle := connection.names(connection.values):
            raise click.UsageError(f"{self.name} works without an engine. Drop {' and '.join(idle)}.")
        return {}


def show_end(output: Output, code: int) -> None:
    """Show operators how a run has ended."""
    run = output.run
    run.ended(code)
    output.note("", event="finished", exit_code=code, seconds=round(run.seconds, 3), **run.counts)
    spans.flush(in_haste=code not in (exits.FINE, exits.SOME_FAILED))


class ConnectionVerb(Verb):
    """A verb that takes connection options, and gets them as ``connection``."""

    shared = (*CONNECTION, *OUTPUT)

    def connected(self, connection: Given) -> Mapping[str, Any]:
        """Pass the options on."""
        return {"connection": connection}


class EngineVerb(ConnectionVerb):
    """A verb that works on an engine, and gets its `Target` as ``target``."""

    def connected(self, connection: Given) -> Mapping[str, Any]:
        """Resolve the options to a target."""
        return {"target": target_of(connection, os.environ)}
