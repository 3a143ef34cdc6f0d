"""What commands print, compared with the schema of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from tools.output_schemas import output_schema


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(output_schema())


def check_output(printed: dict[str, list[dict[str, Any]]]) -> None:
    """Raise if lines of JSON, by the commands that printed them, are not as the schema says."""
    _validator().validate(printed)
