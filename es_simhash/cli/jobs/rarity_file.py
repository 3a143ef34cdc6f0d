"""Files that keep how rare features are: from an index, or from an earlier deduplication."""

from __future__ import annotations

import json
from pathlib import Path

from es_simhash._core.foreign_json import parse_json
from es_simhash.cli.show.learning import sample
from es_simhash.documents.files import whole_file
from es_simhash.errors import InputError, SchemeMismatchError
from es_simhash.groups.pairs.result import Duplicates
from es_simhash.live.learning import now
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.learnt import LearntRarity


def known_rarity(path: str | None, scheme: Scheme) -> LearntRarity | None:
    """Read what a file keeps for a scheme; None without a path, or if there is no such file."""
    if path is None or not Path(path).exists():
        return None
    try:
        return LearntRarity.from_json(parse_json(Path(path).read_bytes()), scheme)
    except (InputError, SchemeMismatchError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def known_or_kept(path: str, known: LearntRarity | None, duplicates: Duplicates, scheme: Scheme) -> str:
    """Keep what was learnt in the file unless it was known; say what was done."""
    if known is not None:
        return f"How rare features are is what {path} says, learnt on {known.day} from {sample(known)}."
    if duplicates.rarity is None:
        return f"There was nothing to learn from, so {path} was not written."
    counts = duplicates.counts
    learnt = LearntRarity(duplicates.rarity, now(), counts.documents - counts.empty)
    with whole_file(path) as out:
        json.dump(learnt.to_json(scheme), out)
    return f"Learnt from {sample(learnt)} how rare features are; {path} keeps it for other runs."
