"""The picture of the layers in docs/architecture.md; ``python -m tests.layer_picture`` makes it of `tests.layers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.svg import HUES, THEMES, document, path, text
from tests.layers import LAYERS, PURE

DOCS = Path(__file__).parent.parent / "docs"
NAME = "layers"
TITLE = "The modules by their layers: each imports only what stands above it, or beside it"
WAIST = "scheme"
_WIDTH, _TOP, _ROW, _BOX, _GAP = 900, 40, 29, 22, 8
_CHARACTER, _PADDING = 7.2, 18


def picture(theme: str) -> str:
    """The layers from the bottom of the imports, which is above, to their top."""
    return document(TITLE, _WIDTH, _TOP + _ROW * len(LAYERS) + 4, _parts(theme), theme)


def _parts(theme: str) -> Iterator[str]:
    yield from _legend(theme)
    for row, names in enumerate(LAYERS):
        widths = [_PADDING + _CHARACTER * len(name) for name in sorted(names)]
        left = (_WIDTH - sum(widths) - _GAP * (len(widths) - 1)) / 2
        for name, width in zip(sorted(names), widths, strict=True):
            yield from _box(name, left, _TOP + _ROW * row, width, theme)
            left += width + _GAP


def _legend(theme: str) -> Iterator[str]:
    left = 12.0
    for label, name in (("no I/O", "hamming"), ("the waist", WAIST), ("engines, files, what runs on them", "engines")):
        yield _outline(name, left, 10, 14, 14, theme)
        yield text(label, (left + 20, 22), THEMES[theme]["faint"])
        left += 44 + _CHARACTER * len(label)


def _box(name: str, left: float, top: float, width: float, theme: str) -> Iterator[str]:
    yield _outline(name, left, top, width, _BOX, theme)
    yield text(name, (left + width / 2, top + 16), THEMES[theme]["text"], "middle")


def _outline(name: str, left: float, top: float, width: float, height: float, theme: str) -> str:
    _, orange, _, blue, green = HUES[theme]
    colour = orange if name == WAIST else green if name in PURE else blue
    return (
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" rx="4" fill="{colour}" '
        f'fill-opacity="0.15" stroke="{colour}"/>'
    )


def files() -> dict[Path, str]:
    """The pictures, by the files that have them."""
    return {DOCS / path(NAME, theme): picture(theme) for theme in THEMES}


if __name__ == "__main__":
    for file, content in files().items():
        file.write_text(content, encoding="utf-8")
