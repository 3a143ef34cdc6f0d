"""The picture of the README shows what the library answers today."""

from __future__ import annotations

from tools.overview_picture import DOCUMENTS, files, seen


def test_the_pictures_are_what_the_library_answers() -> None:
    for path, content in files().items():
        assert path.read_text(encoding="utf-8") == content, "make it anew: python -m tools.overview_picture"


def test_the_picture_separates_a_near_duplicate_from_another_document() -> None:
    what = seen()
    assert list(what.found) == ["2"]
    assert len(what.shared["2"]) > 1
    assert not what.shared["3"]
    assert set(what.held) == set(DOCUMENTS)
