"""A site with a link that leads nowhere is not built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import build

_SETTINGS = """\
site_name: pages
use_directory_urls: false
theme: {font: false}
nav:
  - index.md
  - other.md
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mkdocs.yml").write_text(_SETTINGS, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[other](other.md#a-part)\n", encoding="utf-8")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## A part\n\n[one](index.md)\n", encoding="utf-8")
    return tmp_path


def test_a_site_is_built(project: Path) -> None:
    assert (build(project) / "other.html").is_file()


def test_requests_to_paste_are_in_the_site_where_pages_of_any_folder_link_to_them(project: Path) -> None:
    (project / "mappings").mkdir()
    (project / "mappings" / "1.txt").write_text("GET /\n", encoding="utf-8")
    (project / "docs" / "below").mkdir()
    (project / "docs" / "other.md").rename(project / "docs" / "below" / "other.md")
    for page, link in (("index.md", "../mappings/1.txt"), ("below/other.md", "../../mappings/1.txt")):
        (project / "docs" / page).write_text(f"# Page\n\n[file]({link})\n", encoding="utf-8")
    settings = (project / "mkdocs.yml").read_text(encoding="utf-8")
    (project / "mkdocs.yml").write_text(settings.replace("other.md", "below/other.md"), encoding="utf-8")
    site = build(project)
    assert (site / "mappings" / "1.txt").read_text(encoding="utf-8") == "GET /\n"
    for page, href in (("index.html", "mappings/1.txt"), ("below/other.html", "../mappings/1.txt")):
        assert f'href="{href}"' in (site / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[a page](nosuch.md)", "page does not exist"),
        ("[a place](other.md#nosuch)", "anchor does not exist"),
        ("![a picture](nosuch.svg)", "index.html: nothing is at 'nosuch.svg'."),
        ('<a href="nosuch.html">HTML</a>', "index.html: nothing is at 'nosuch.html'."),
        ('<a href="other.html#nosuch">HTML</a>', "index.html: nothing is at 'other.html#nosuch'."),
    ],
)
def test_a_link_that_leads_nowhere_fails_the_build(project: Path, text: str, named: str) -> None:
    with (project / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{text}\n")
    with pytest.raises(SystemExit) as failed:
        build(project)
    assert named in str(failed.value)


def test_the_navigation_has_all_pages_and_no_others(project: Path) -> None:
    (project / "docs" / "other.md").rename(project / "docs" / "left-out.md")
    (project / "docs" / "index.md").write_text("# One\n", encoding="utf-8")
    with pytest.raises(SystemExit) as failed:
        build(project)
    assert "nothing is at './other.md'" in str(failed.value)
    assert "left-out.html: the navigation in mkdocs.yml leaves it out." in str(failed.value)
