"""The labelled sets: where they come from, and whether the rule's constants were chosen on them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

# How it was used: the constants were chosen on the set, one of several; results were seen, but did not choose; or
# the first result came after the last choice.
Looked: TypeAlias = Literal["chosen on", "seen", "never"]


class About(NamedTuple):
    """Where a set comes from, and what was looked at."""

    origin: str
    looked: Looked


SETS = {
    "en_biblio_dedupe": About("records of literature from several databases", "chosen on"),
    "zh_tidb_docs_revisions": About("Chinese documentation in three versions, many pages rewritten", "chosen on"),
    "fastapi_docs": About("documentation in five languages, two versions", "chosen on"),
    "py_package_versions": About("source files of Python packages, two versions", "chosen on"),
    "laws": About("versions of Chinese laws, among templates", "chosen on"),
    "aozora": About("Japanese literature in old and new orthography", "chosen on"),
    "opensearch_docs": About("documentation in three releases, among forms", "chosen on"),
    "peps": About("Python's proposals in three years", "chosen on"),
    "bible_chapters": About("two translations: paraphrase, *which is not claimed*", "chosen on"),
    "planted_english": About("2–40 copies of one original", "chosen on"),
    "planted_chinese": About("2–40 copies of one original", "chosen on"),
    "chains": About("copies of copies", "chosen on"),
    "stamped": About("2–40 copies, each with a date and a counter", "chosen on"),
    "families": About("2–100 copies in three languages, with a date, a time and a counter", "chosen on"),
    "react_ja": About("Japanese documentation in three years, partly translated later", "never"),
    "tantivy": About("Rust sources, six years apart", "never"),
    "rustsec": About("short advisories made from one form", "never"),
}
NOISE = {
    "ocr_1": About("1% of the characters misread", "seen"),
    "ocr_5": About("5% misread", "seen"),
    "ocr_10": About("10% misread", "seen"),
    "framed": About("a header and a footer that all share", "seen"),
    "redacted": About("digits replaced by X", "seen"),
    "forms": About("filled with the same numbers, or others", "seen"),
    "traditional": About("Chinese in traditional characters", "never"),
    "old_spelling": About("Japanese as before 1946", "never"),
    "kana": About("Japanese words in kana", "never"),
}
YOURS = About("yours", "never")


def about(name: str) -> About:
    """Return what is known of a set."""
    return SETS.get(name) or NOISE.get(name) or YOURS
