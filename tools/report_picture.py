"""The picture of the README: the report that ``try`` writes; ``python -m tools.report_picture`` takes it.

It is as wide as a phone, so that it can be read wherever the README is shown.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.browser import Browser, started
from tools import ROOT

DIRECTORY = ROOT / "docs" / "pictures"
_MARGIN = 12
WIDTH, HEIGHT, SCALE = 400, 800, 2


def report(folder: Path) -> Path:
    """Write the report on the example."""
    page = folder / "report.html"
    arguments = ["try", "examples/news.jsonl", "--json", "--report", str(page)]
    subprocess.run([sys.executable, "-m", "es_simhash", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return page


def picture(browser: Browser, page: Path, colours: str) -> bytes:
    """Return the beginning of the largest groups as PNG."""
    browser.show(page, width=WIDTH, colours=colours)
    top = browser.value("document.querySelector('details').offsetTop") - _MARGIN
    clip = {"x": 0, "y": top, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
    return base64.b64decode(browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])


def main() -> None:
    """Take the pictures in both themes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = report(Path(folder))
        for browser in started(Path(folder)):
            for colours in ("light", "dark"):
                path = DIRECTORY / f"report-{colours}.png"
                path.write_bytes(picture(browser, page, colours))
                print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
