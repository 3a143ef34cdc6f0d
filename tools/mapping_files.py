"""The component templates in ``mappings/``, one a preset; ``python -m tools.mapping_files`` writes them anew."""

from __future__ import annotations

import json

from es_simhash.scheme.mapping import component_template
from es_simhash.scheme.presets import PRESETS
from es_simhash.scheme.scheme import Scheme
from tools import ROOT

DIRECTORY = ROOT / "mappings"


def files() -> dict[str, str]:
    """The content of each file by its name."""
    return {f"dedup-{name}.json": _template(name) for name in PRESETS}


def _template(preset: str) -> str:
    template = component_template(
        Scheme.preset(preset).mapping(), f"es_simhash, preset {preset}: {PRESETS[preset].use}"
    )
    return json.dumps(template, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for name, text in files().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
