"""The site of the documentation, built whole or not at all; ``python -m tools.site`` makes it in ``site/``.

Zensical checks the links of Markdown; here the pages that it made are checked: pictures, HTML, and the navigation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools import ROOT

_TARGETS = ("href", "src", "data")


def build(project: Path) -> Path:
    """Build the site of the folder with ``mkdocs.yml``, and return its folder; exit with what is wrong with it."""
    # Without the cache, which could hide a warning that an earlier build has shown.
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    site = project / "site"
    _with_requests(project, site)
    if wrong := list(faults(site)):
        raise SystemExit("\n".join(wrong))
    return site


def _with_requests(project: Path, site: Path) -> None:
    """Copy the files of ``mappings/`` into the site, and correct the links that pages have to them."""
    if (project / "mappings").is_dir():
        shutil.copytree(project / "mappings", site / "mappings", ignore=shutil.ignore_patterns("*.md"))
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'(href="(?:\.\./)*)\.\./mappings/', r"\1mappings/", page), encoding="utf-8")


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site: links that lead nowhere, and pages that the navigation leaves out."""
    pages = {path.relative_to(site).as_posix(): _read(path) for path in sorted(site.rglob("*.html"))}
    del pages["404.html"]  # served at any address, so its links are those of the server's root
    for name, page in pages.items():
        for link in sorted(page.links):
            if not _leads(site, pages, name, link):
                yield f"{name}: nothing is at {link!r}."
    listed = {_resolved("index.html", link)[0] for link in pages["index.html"].links}
    yield from (f"{name}: the navigation in mkdocs.yml leaves it out." for name in sorted({*pages} - listed))


@dataclass
class _Page(HTMLParser):
    """The places of a page that can be linked to, and its links within the site."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids.update(value for name, value in attrs if value and name in {"id", "name"})
        found = (value for name, value in attrs if value and name in _TARGETS)
        self.links.update(each for each in found if not re.match(r"\w+:|//", each))


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _leads(site: Path, pages: dict[str, _Page], name: str, link: str) -> bool:
    path, place = _resolved(name, link)
    return (site / path).is_file() and (not place or path not in pages or place in pages[path].ids)


def _resolved(name: str, link: str) -> tuple[str, str]:
    """Return the file that a page's link leads to, by its path in the site, and the place in it."""
    address = urlsplit(link)
    path = Path("/", name).parent.joinpath(unquote(address.path)) if address.path else Path("/", name)
    parts: list[str] = []
    for part in path.parts[1:]:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts), unquote(address.fragment)


if __name__ == "__main__":
    print(build(ROOT).relative_to(ROOT))
