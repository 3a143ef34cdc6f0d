"""The version of a release: the same wherever it must be written, and in the changelog."""

from __future__ import annotations

import re
from pathlib import Path

# Where the version is written. The first is the one that all else must agree with; Cargo and the extra cannot read it.
_PLACES = {
    "es_simhash/_version.py": r'^__version__ = "(.+)"$',
    "native/Cargo.toml": r'^version = "(.+)"$',
    "pyproject.toml": r'^native = \["es-simhash-native==(.+)"\]$',
}


class ReleaseError(Exception):
    """The sources contradict themselves; the message says where, and what to write."""


def released_version(root: Path, tag: str | None = None) -> str:
    """Return the version, and refuse places that have another, or a tag of another."""
    found = {place: _version_in(root / place, pattern) for place, pattern in _PLACES.items()}
    first, version = next(iter(found.items()))
    for place, other in found.items():
        if other != version:
            raise ReleaseError(f"{place} has version {other}, {first} {version}. Write the same in both.")
    if tag is not None and tag != f"v{version}":
        raise ReleaseError(f"The tag is {tag}, the version {version}. Change {first}, or set the tag v{version}.")
    return version


def _version_in(path: Path, pattern: str) -> str:
    found = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    if len(found) != 1:
        raise ReleaseError(f"{path.name} has {len(found)} lines like {pattern}. Write one.")
    return str(found[0])


def check_changelog(text: str, version: str, *, is_tagged: bool) -> None:
    """Refuse a changelog whose top section is not that of the version; before the tag it may be `Unreleased`."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    head, _, entries = sections[0].partition("\n") if sections else ("", "", "")
    if not re.search(r"^- ", entries, re.MULTILINE):
        raise ReleaseError("The top section of CHANGELOG.md has no entries. Write what users will notice.")
    named = re.fullmatch(rf"{re.escape(version)}( – \d{{4}}-\d\d-\d\d)?", head)
    if not named and (is_tagged or head != "Unreleased"):
        raise ReleaseError(f"The top section of CHANGELOG.md is {head!r}. Name it: ## {version} – YYYY-MM-DD")
