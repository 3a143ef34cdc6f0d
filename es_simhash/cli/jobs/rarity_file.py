"""Files that keep how rare features are: from an index, or from other files."""

from __future__ import annotations

import json
from pathlib import Path

from es_simhash._core.json_codec import parse_json
from es_simhash.documents.files import whole_file
from es_simhash.errors import InputError, SchemeMismatchError
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.rarity import Rarity


def rarity_in(path: str | None, scheme: Scheme) -> Rarity | None:
    """Read the table that a file keeps for a scheme; None without a path."""
    if path is None:
        return None
    try:
        return LearntRarity.from_json(parse_json(Path(path).read_bytes()), scheme).rarity
    except (InputError, SchemeMismatchError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def write_rarity(path: str, learnt: LearntRarity, scheme: Scheme) -> None:
    """Write what was learnt, as a mapping has it."""
    with whole_file(path) as out:
        json.dump(learnt.to_json(scheme), out)
