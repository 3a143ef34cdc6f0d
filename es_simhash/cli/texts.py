"""Files that commands read as a whole: a text, a scheme, settings of an index."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

text_file_option = click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="A file with the text; - for standard input.",
)


def text_in(path: str) -> str:
    """The text in a file, or with ``-`` on standard input."""
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        name = "Standard input" if path == "-" else path
        raise click.UsageError(f"{name} is not UTF-8. Write it anew in this encoding.") from None


def json_object_in(path: str) -> dict[str, Any]:
    """The JSON object in a file."""
    return json_object(text_in(path), path, '{"mappings": {…}}')


def json_object(text: str, name: str, example: str) -> dict[str, Any]:
    """The JSON object that a text is; ``name`` says where it was given."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # also where an integer has thousands of digits
        value = None
    if not isinstance(value, dict):
        raise click.UsageError(f"{name} is no JSON object. Give one such as {example}.")
    return value
