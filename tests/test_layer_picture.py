"""The picture of the layers shows those that hold today."""

from __future__ import annotations

from benchmarks.svg import shown
from tests.layer_picture import DOCS, NAME, TITLE, files
from tests.layers import LAYERS


def test_the_pictures_are_those_of_the_layers() -> None:
    for path, content in files().items():
        assert path.read_text(encoding="utf-8") == content, "make it anew: python -m tests.layer_picture"


def test_the_page_shows_them() -> None:
    assert shown(NAME, TITLE) in (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_every_module_is_there() -> None:
    for content in files().values():
        assert all(f">{name}</text>" in content for names in LAYERS for name in names)
