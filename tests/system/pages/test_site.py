"""The site of the documentation is built without a warning, is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import es_simhash
from es_simhash import sketches
from tests import ROOT
from tests.support.browser import Browser, started

# The attributes by which elements load something; a link in the text loads nothing.
_LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built as ``make docs`` does."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class _Loaded(HTMLParser):
    """What a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if address := dict(attrs).get(_LOADING.get(tag, "")):
            self.addresses.append(address)


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for path in pages:
        page = _Loaded()
        page.feed(path.read_text(encoding="utf-8"))
        assert page.addresses
        assert [each for each in page.addresses if re.match(r"(\w+:)?//", each)] == [], path.name
        assert not re.search('class="mermaid"', path.read_text(encoding="utf-8")), "its script is on another host"
    for path in site.rglob("*.css"):
        assert not re.search(r"""(url\(|@import)\s*["']?(\w+:)?//""", path.read_text(encoding="utf-8")), path.name


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    yield from started(tmp_path)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_browser_asks_for_files_of_the_site_only(browser: Browser, site: Path, colours: str) -> None:
    browser.show(site / "index.html", width=1200, colours=colours)
    assert len(browser.requests) > 3
    assert [each for each in browser.requests if not each.startswith((site.as_uri(), "data:", "blob:"))] == []
    scheme = browser.value("document.body.dataset.mdColorScheme")
    assert scheme == {"light": "default", "dark": "slate"}[colours]


def test_all_public_names_are_in_the_reference(site: Path) -> None:
    pages = "".join((site / "reference" / f"{name}.html").read_text(encoding="utf-8") for name in ("python", "modules"))
    names = {*es_simhash.__all__, *(f"sketches.{name}" for name in sketches.__all__)}
    assert {name for name in names if f'id="es_simhash.{name}"' not in pages} == set()
