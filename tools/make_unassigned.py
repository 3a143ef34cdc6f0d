"""Write es_simhash/text/unassigned.txt: the code points that Unicode 13.0 has not assigned.

Run with Python 3.10, whose unicodedata is of that version: python3.10 -m tools.make_unassigned
"""

from __future__ import annotations

import sys
import unicodedata
from itertools import groupby

from tools import ROOT

TARGET = ROOT / "es_simhash" / "text" / "unassigned.txt"


def ranges() -> list[str]:
    """Return the unassigned code points as hexadecimal ranges."""
    unassigned = (point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) == "Cn")
    found = []
    for _, run in groupby(enumerate(unassigned), key=lambda pair: pair[1] - pair[0]):
        points = [point for _, point in run]
        found.append(f"{points[0]:X}-{points[-1]:X}")
    return found


if __name__ == "__main__":
    if unicodedata.unidata_version != "13.0.0":
        sys.exit("This needs a Python with Unicode 13.0, which is Python 3.10.")
    TARGET.write_text("\n".join(ranges()) + "\n", encoding="ascii")
