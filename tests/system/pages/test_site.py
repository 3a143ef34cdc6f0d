"""The site of the documentation is built without a warning, is whole, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import es_simhash
from es_simhash import sketches
from tests import ROOT
from tests.support.browser import Browser, started
from tools.site import build
from tools.site_pictures import WIDTHS, looked_at

# The attributes by which elements load something; a link in the text loads nothing.
_LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


# Types into the search, which the theme puts into a shadow tree, and returns where its results lead.
_SEARCH = """
new Promise((found) => {
  document.querySelector(".md-search__button").click()
  const look = () => {
    const inside = [...document.querySelectorAll("body > div")].map((each) => each.shadowRoot).find(Boolean)
    const input = inside?.querySelector("input")
    if (input && !input.value) {
      input.value = "hamming distance"
      input.dispatchEvent(new Event("input", { bubbles: true }))
    }
    const links = [...(inside?.querySelectorAll("ol a, li a") ?? [])].map((each) => each.href)
    links.length ? found(links) : requestAnimationFrame(look)
  }
  look()
})
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built as ``make docs`` does, in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("mkdocs.yml", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    for name in ("es_simhash", "tools", "mappings"):
        (folder / name).symlink_to(ROOT / name)
    return build(folder)


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


def test_the_search_works_where_pages_are_opened_as_files(browser: Browser, site: Path) -> None:
    browser.show(site / "index.html", width=1280, colours="light")
    answer = browser.call("Runtime.evaluate", expression=_SEARCH, awaitPromise=True, returnByValue=True)
    links = answer["result"]["value"]
    assert all(link.startswith(site.as_uri()) for link in links)
    assert (site / "reference" / "modules.html").as_uri() + "#es_simhash.sketches.hamming" in links
    assert browser.complaints == []


@pytest.mark.parametrize(
    ("width", "colours"),
    [
        pytest.param(width, colours, marks=() if (width == WIDTHS[0]) == (colours == "dark") else pytest.mark.nightly)
        for width in WIDTHS
        for colours in ("light", "dark")
    ],
)
def test_pages_fit_the_window(browser: Browser, site: Path, width: int, colours: str) -> None:
    for page in ("index", "benchmarks", "cli", "reference/python", "tutorials/data-frames"):
        assert looked_at(browser, site, site / f"{page}.html", width, colours) == []


def test_a_page_that_does_not_fit_is_reported(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "wide.html"
    page.write_text('<div style="width: 900px">wide</div><img src="https://far.example/x.png">', encoding="utf-8")
    asks, *others = looked_at(browser, tmp_path, page, 400)
    assert asks == "wide.html asks for https://far.example/x.png"
    assert others[-1] == "wide.html is wider than 400 pixels"


def test_all_public_names_are_in_the_reference(site: Path) -> None:
    pages = "".join((site / "reference" / f"{name}.html").read_text(encoding="utf-8") for name in ("python", "modules"))
    names = {*es_simhash.__all__, *(f"sketches.{name}" for name in sketches.__all__)}
    assert {name for name in names if f'id="es_simhash.{name}"' not in pages} == set()
