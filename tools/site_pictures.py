"""Every page of the site in a browser; ``python -m tools.site_pictures`` takes pictures of them, into ``build/pages/``.

It builds the site, opens its pages as files at the widths of a phone and of a desk, and fails where one is wider than
the window, complains, or asks for something that is not of the site.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.browser import Browser, started
from tools import ROOT
from tools.site import build

DIRECTORY = ROOT / "build" / "pages"
WIDTHS = (400, 1280)
_WIDER = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) > innerWidth"


def looked_at(browser: Browser, site: Path, page: Path, width: int, colours: str = "light") -> list[str]:
    """Show a page, and return what is wrong with it."""
    browser.show(page, width=width, colours=colours)
    outside = [each for each in browser.requests if not each.startswith((site.as_uri(), "data:", "blob:", "about:"))]
    wrong = [f"asks for {each}" for each in outside] + [f"complains: {each}" for each in browser.complaints]
    if browser.value(_WIDER):
        wrong.append(f"is wider than {width} pixels")
    return [f"{page.relative_to(site)} {each}" for each in wrong]


def pictures(browser: Browser, site: Path, directory: Path) -> Iterator[str]:
    """Take a picture of each page, whole, at each width; yield what is wrong."""
    for width in WIDTHS:
        for page in sorted({*site.rglob("*.html")} - {site / "404.html"}):  # its addresses are a server's
            yield from looked_at(browser, site, page, width)
            image = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=_whole(browser, width))
            path = directory / str(width) / page.relative_to(site).with_suffix(".png")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(image["data"]))


def _whole(browser: Browser, width: int) -> dict[str, int]:
    # Chromium draws no picture of more pixels.
    height = min(browser.value("document.documentElement.scrollHeight"), 16_000)
    return {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}


def main() -> None:
    """Take the pictures; exit with what is wrong with pages."""
    site = build(ROOT)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for browser in started(Path(folder)):
            if wrong := list(pictures(browser, site, DIRECTORY)):
                raise SystemExit("\n".join(wrong))
    print(DIRECTORY.relative_to(ROOT))


if __name__ == "__main__":
    main()
