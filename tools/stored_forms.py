"""What release 0.1 stores and prints, which later releases must still read and print: ``tests/data/release-0.1``.

``python -m tools.stored_forms`` adds names that are new; what is kept there stays, and so does the index.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from es_simhash import PRESETS, Index, Scheme
from es_simhash._core.json_codec import Json
from es_simhash.cli.show import output
from es_simhash.scheme import mapping, own_fields
from tests.support.corpus import corpus, edited
from tools import ROOT

FOLDER = ROOT / "tests" / "data" / "release-0.1"
NAMES = FOLDER / "names.json"
INDEX = FOLDER / "index.tar.xz"
FOUND = FOLDER / "found.json"
# Of similarities: the built-in table of rarity, which changes their further digits, may be learnt again.
_DIGITS = 3


def names() -> dict[str, dict[str, Any]]:
    """Return all names as they are now: each part is a table whose entries no change may take away or alter."""
    kept = json.loads(NAMES.read_text(encoding="utf-8"))["forms of schemes"] if NAMES.exists() else {}
    schemes = [*(Scheme.from_json(json.dumps(form)) for form in kept.values()), *map(Scheme.preset, PRESETS)]
    return {
        "exit codes": {str(code): meaning for code, meaning in output.MEANINGS.items()},
        "forms of schemes": {scheme.id: json.loads(scheme.to_json()) for scheme in schemes},
        "mappings": {scheme.id: scheme.mapping() for scheme in schemes},
        "fields of groups": dict(mapping.PROPERTIES),
        "fields of tags": dict(own_fields.TAG_PROPERTIES),
    }


def with_new(kept: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is kept, with the entries that it does not have yet."""
    return {part: now[part] | kept.get(part, {}) for part in now}


def documents() -> list[Json]:
    """Return the documents of the index: five texts, and an edited copy of the third."""
    texts = corpus(5)
    return [*({"_id": str(i), **text} for i, text in enumerate(texts)), {"_id": "copy", **edited(texts[2])}]


def write_index(folder: Path) -> None:
    """Write an embedded index with fingerprints and groups."""
    with Index("news", str(folder), fields=["title", "body"]) as index:
        index.init()
        index.add(documents(), refresh=True)
        index.write_groups(index.group())


def found_in(folder: Path) -> Json:
    """Return what the index answers: near-duplicates, groups, and the fields of a document."""
    with Index("news", str(folder)) as index:
        return {
            "scheme": index.scheme.id,
            "fields": list(index.documents.fields),
            "near-duplicates": {
                each["_id"]: [[match.id, round(match.similarity or 0, _DIGITS)] for match in index.find(id=each["_id"])]
                for each in documents()
            },
            "groups": [[member.id for member in group.members] for group in index.group()],
        }


def unpack(folder: Path) -> Path:
    """Unpack the index that was kept, and return its folder."""
    with tarfile.open(INDEX) as archive:
        archive.extractall(folder, filter="data")
    return folder / "index"


def _keep_index() -> None:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "index"
        write_index(made)
        shutil.make_archive(str(FOLDER / "index"), "xztar", made.parent, made.name)
        FOUND.write_text(_text(found_in(made)), encoding="utf-8")


def _text(form: object) -> str:
    return json.dumps(form, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = json.loads(NAMES.read_text(encoding="utf-8")) if NAMES.exists() else {}
    NAMES.write_text(_text(with_new(kept, names())), encoding="utf-8")
    if not INDEX.exists():
        _keep_index()
