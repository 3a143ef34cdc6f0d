"""What a release is refused for, before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from es_simhash import __version__
from tests import ROOT
from tools.release.building import check_same
from tools.release.papers import write_checksums
from tools.release.version import ReleaseError, check_changelog, released_version

PLACES = ("es_simhash/_version.py", "native/Cargo.toml", "pyproject.toml")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for place in PLACES:
        copy = tmp_path / place
        copy.parent.mkdir(exist_ok=True)
        copy.write_text((ROOT / place).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_the_version_of_the_package_is_that_of_the_release() -> None:
    assert released_version(ROOT) == __version__
    assert released_version(ROOT, tag=f"v{__version__}") == __version__


@pytest.mark.parametrize("place", PLACES)
def test_a_place_with_another_version_is_refused_by_name(sources: Path, place: str) -> None:
    path = sources / place
    path.write_text(path.read_text(encoding="utf-8").replace(__version__, "9.9.9"), encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"9\.9\.9") as refusal:
        released_version(sources)
    assert path.name in str(refusal.value)


def test_a_place_without_a_version_is_refused(sources: Path) -> None:
    (sources / "native" / "Cargo.toml").write_text("[package]\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"Cargo\.toml has 0 lines"):
        released_version(sources)


def test_a_tag_of_another_version_is_refused() -> None:
    with pytest.raises(ReleaseError, match=rf"set the tag v{__version__}"):
        released_version(ROOT, tag="v9.9.9")


def test_the_changelog_is_ready_for_the_next_release() -> None:
    check_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__, is_tagged=False)


def test_a_changelog_names_the_version_that_is_tagged() -> None:
    check_changelog("# C\n\n## 1.2.3 – 2030-01-31\n\n- New.\n", "1.2.3", is_tagged=True)
    check_changelog("# C\n\n## 1.2.3\n\n- New.\n", "1.2.3", is_tagged=True)


@pytest.mark.parametrize(
    ("head", "is_tagged"), [("Unreleased", True), ("1.2.2", True), ("1.2.2", False), ("1.2.30", True)]
)
def test_a_changelog_with_another_top_section_is_refused(head: str, is_tagged: bool) -> None:
    with pytest.raises(ReleaseError, match=r"Name it: ## 1\.2\.3"):
        check_changelog(f"# C\n\n## {head}\n\n- New.\n\n## 1.2.3\n\n- Old.\n", "1.2.3", is_tagged=is_tagged)


@pytest.mark.parametrize("text", ["", "# C\n", "# C\n\n## Unreleased\n\n## 1.2.2\n\n- Old.\n"])
def test_a_changelog_without_entries_is_refused(text: str) -> None:
    with pytest.raises(ReleaseError, match="no entries"):
        check_changelog(text, "1.2.3", is_tagged=False)


def test_builds_that_differ_in_a_name_or_a_byte_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "same").write_bytes(b"1")
        (folder / "other").write_bytes(folder.name.encode())
    (first / "alone").touch()
    check_same(first, first)
    with pytest.raises(ReleaseError, match="differ in alone, other"):
        check_same(first, second)


def test_checksums_name_every_file_as_sha256sum_does(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"abc")
    write_checksums(tmp_path)
    write_checksums(tmp_path)  # its own is not among them
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / "SHA256SUMS").read_text(encoding="ascii") == f"{known}  a.whl\n"
