"""Requests as people paste them into the Dev Tools of Kibana or OpenSearch Dashboards."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from es_simhash._core.json_codec import Json

if TYPE_CHECKING:
    from es_simhash.documents.painless.stored_scripts import StoredScript

_TEXT = r'"(?:[^"\\]|\\.)*"'
# A list of texts and numbers alone, or a text.
_PART = re.compile(rf"\[\s+(?:(?:{_TEXT}|[-\d.]+),?\s+)+\]|{_TEXT}")


def request(method: str, path: str, body: Json, *comments: str) -> str:
    """Return a request below its comments; texts of several lines stand between triple quotes."""
    # Only ASCII, which no clipboard and no editor changes.
    written = _PART.sub(_shortened, json.dumps(body, indent=2))
    return "\n".join([*(f"# {each}" for each in comments), f"{method} {path.removeprefix('/')}", written, ""])


def script_request(script: StoredScript) -> str:
    """Return the request that stores a script or a search template, below its purpose and its parameters."""
    use = f"{script.use[0].upper()}{script.use[1:]}. Parameters: {', '.join(script.parameters)}"
    optional = f"; optional: {', '.join(script.optional)}" if script.optional else ""
    return request("PUT", script.path, script.body, f"{use}{optional}.")


def _shortened(found: re.Match[str]) -> str:
    """Write a list on one line, and a text of several lines as it is."""
    if found[0].startswith("["):
        return re.sub(r"\n\s*", "", re.sub(r",\n\s*", ", ", found[0]))
    text: str = json.loads(found[0])
    return f'"""{text}"""' if "\n" in text else found[0]
