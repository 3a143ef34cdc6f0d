"""Bars as a picture: one number a row, the rows of this package in a colour of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.svg import HUES, THEMES, document, text

_WIDTH, _LEFT, _RIGHT = 900, 230, 90
_TOP, _ROW, _BAR = 34, 26, 16
_OURS = "es_simhash"


@dataclass(frozen=True)
class Bars:
    """Numbers by their labels, from 0 on; ``unit`` is written above them."""

    title: str
    unit: str
    numbers: Mapping[str, float]

    def svg(self, theme: str) -> str:
        """The picture."""
        return document(self.title, _WIDTH, _TOP + _ROW * len(self.numbers) + 6, self._parts(theme), theme)

    def _parts(self, theme: str) -> Iterator[str]:
        colours, most = THEMES[theme], max(self.numbers.values())
        yield text(self.unit, (_LEFT, 20), colours["text"])
        for row, (label, number) in enumerate(self.numbers.items()):
            y = _TOP + _ROW * row
            width = (_WIDTH - _LEFT - _RIGHT) * number / most
            fill = HUES[theme][3] if label.startswith(_OURS) else colours["faint"]
            yield text(label, (_LEFT - 10, y + 13), colours["text"], "end")
            yield f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{fill}"/>'
            yield text(f"{number:,.0f}", (_LEFT + width + 8, y + 13), colours["text"])
