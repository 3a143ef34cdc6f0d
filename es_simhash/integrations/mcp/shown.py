"""What an agent is shown of documents and differences: enough to judge, and never more than fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from es_simhash.integrations.mcp.answers import Found, Near
from es_simhash.plans.explain.text_differences import marked, marked_changes
from es_simhash.scheme.rerank import Match, Matches
from es_simhash.scheme.settings import Settings

# Maximum number of characters of a value, and of values of a list.
_CHARACTERS = 500
_VALUES = 20


def shortened(value: Any) -> Any:
    """Return a value of a document, with long texts and lists cut."""
    if isinstance(value, str) and len(value) > _CHARACTERS:
        return f"{value[:_CHARACTERS]}… ({len(value) - _CHARACTERS:,} more characters)"
    if isinstance(value, Mapping):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shortened(each) for each in value[:_VALUES]]
    return value


def near(match: Match) -> Near:
    """Return a match."""
    return Near.of(match, document=shortened(match.source or {}))


def found(matches: Matches) -> Found:
    """Return the matches of a text."""
    return Found.of(matches, matches=list(map(near, matches)))


def differences(settings: Settings, a: str, b: str) -> str:
    """Return the changed parts of two texts with some context; nothing if the scheme sees none."""
    return marked(marked_changes(settings, a, b))
