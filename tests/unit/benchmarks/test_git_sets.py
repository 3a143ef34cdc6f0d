"""Sets are made of what the commits of a repository hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import git_sets
from benchmarks.git_sets import Member


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of repositories that stands for the public host."""
    monkeypatch.setattr(git_sets, "HOST", f"file://{tmp_path}/")
    monkeypatch.setattr(git_sets, "LEAST", 1)
    return tmp_path


def test_a_set_has_the_files_of_each_commit_that_match(host: Path) -> None:
    first = _commit(host / "a" / "b", {"one.md": "1", "two.txt": "2"})
    second = _commit(host / "a" / "b", {"one.md": "3", "three.md": "4\n\n"})

    files = list(git_sets.files_of("a/b", (first, second), r"\.md$"))

    assert [(file.commit, file.path, file.content) for file in files] == [
        (first, "one.md", b"1"),
        (second, "one.md", b"3"),
        (second, "three.md", b"4\n\n"),
    ]


def test_laws_are_versions_by_their_titles_and_a_file_with_another_name_is_none(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _commit(host / "LawRefBook" / "Laws", {"法/劳动法(2009-08-27).md": "old", "法/档案法.md": "same"})
    new = _commit(
        host / "LawRefBook" / "Laws",
        {"法/中华人民共和国劳动法(2018-12-29).md": "new", "法/档案法(2020-06-20).md": "same ", "案例/a.md": "case"},
    )
    monkeypatch.setattr(git_sets, "LAWS", (old, new))

    assert _clusters(git_sets.laws()) == {"劳动法": ["new", "old"], "档案法": ["same "]}


def test_works_are_editions_by_title_and_author_without_readings_and_imprint(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = {
        "cards/1/files/10_ruby_1/10.txt": "題\n人\n\n本《ほん》文［＃注］\n底本：x",
        "cards/1/files/11_txt_1/11.txt": "題\n人\n\n本文也",
        "cards/1/files/12_txt_1/12.txt": "別\n人\n\n他",
        "cards/2/files/13_txt_1/13.txt": "題\n他人\n\n本文",
    }
    commit = _commit(host / "aozorahack" / "aozorabunko_text", works, "cp932")
    monkeypatch.setattr(git_sets, "AOZORA", (commit,))

    assert _clusters(git_sets.aozora()) == {"1/題": ["本文", "本文也"], "1/別": ["他"]}


def _clusters(members: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for member in members:  # type: ignore[attr-defined]
        assert isinstance(member, Member)
        found.setdefault(member.cluster, []).append(member.text)
    return found


def _commit(repository: Path, files: dict[str, str], encoding: str = "utf-8") -> str:
    """Commit exactly these files, and return the commit."""
    if not repository.exists():
        repository.mkdir(parents=True)
        _git(repository, "init", "--quiet")
        _git(repository, "config", "uploadpack.allowFilter", "true")
        _git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    else:
        _git(repository, "rm", "-r", "--quiet", ".")
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(encoding))
    _git(repository, "add", ".")
    _git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a")
    return _git(repository, "rev-parse", "HEAD").strip()


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
