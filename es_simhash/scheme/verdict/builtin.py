"""The table of rarity for where none was learnt: of general documentation in English, Chinese and Japanese.

``python -m tools.builtin_rarity`` makes its file, and says from what. The file has counts of hashed features, and no
text.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from es_simhash.scheme.verdict.rarity import Rarity

NAME = "builtin-2"
FILE = "builtin_rarity.json"


@cache
def builtin() -> Rarity:
    """Return the built-in table, which is read once."""
    return Rarity.from_json(json.loads(Path(__file__).with_name(FILE).read_bytes()))
