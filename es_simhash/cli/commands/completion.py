"""``es-simhash completion``: completing commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    Example: es-simhash completion bash >> ~/.bashrc
    """
    from es_simhash.cli.program import app

    completion = get_completion_class(shell)
    assert completion
    print(completion(app, {}, "es-simhash", "_ES_SIMHASH_COMPLETE").source())
