"""Write es_simhash/scheme/builtin_rarity.json: how rare features are in general documentation.

It is of the features that the presets compare, of texts and of short ones, folded and as they are. It is learnt from
the pages of public repositories in English, Chinese and Japanese, at the commits below. Each language has a table of
its own, and a feature is as frequent as in the language where it is the most frequent: what a third of English pages
have counts as what a third of all have. The file keeps how many pages have each feature, by the hash of the feature,
and none of their text.

Clone the repositories of `PAGES` into one folder, as owner+name or as owner+name/repo, whole or bare, and run it
whenever the features that a scheme compares change: python -m tools.builtin_rarity FOLDER
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from es_simhash.documents.files.output import whole_file
from es_simhash.scheme.rarity import FILE, NAME, Rarity
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verifier import rarity_of
from es_simhash.text.normalise import Normalisation
from tools import ROOT

TARGET = ROOT / "es_simhash" / "scheme" / "verdict" / FILE
# Shorter pages are lists of links and the like.
_CHARACTERS = 500
# How many features are kept of those that each preset compares. The file takes some 75 kB.
_MOST = {"default": 6 << 12, "short": 1 << 12}


@dataclass(frozen=True)
class Pages:
    """The pages of a repository under a folder, in Markdown, at a commit."""

    repository: str
    commit: str
    folder: str

    def texts(self, clones: Path) -> Iterator[str]:
        """Yield the text of each page of some length."""
        clone = clones / self.repository.replace("/", "+")
        git = ["git", "-C", str(clone / "repo" if (clone / "repo").is_dir() else clone)]
        listed = subprocess.check_output([*git, "ls-tree", "-r", "-z", self.commit, self.folder], text=True)
        entries = [entry.split("\t") for entry in listed.split("\0") if entry]
        names = [about.split()[2] for about, path in entries if path.endswith(".md")]
        read = subprocess.run(
            [*git, "cat-file", "--batch"], input="\n".join(names).encode(), capture_output=True, check=True
        ).stdout
        for _ in names:
            head, _, read = read.partition(b"\n")
            size = int(head.split()[2])
            text, read = read[:size].decode(), read[size + 1 :]
            if len(text) >= _CHARACTERS:
                yield text


_FASTAPI = "fastapi/fastapi", "c3f316b7e814667e8ee81e03a7330d00ee61e45c"
PAGES = {
    "en": [
        Pages("rust-lang/blog.rust-lang.org", "0243724c2e50ad2b7ebd3d9dbc7cd88aed7605a3", "content"),
        Pages(*_FASTAPI, "docs/en/docs"),
    ],
    "zh": [
        Pages(*_FASTAPI, "docs/zh/docs"),
        Pages("vuejs-translations/docs-zh-cn", "c2715ff75bae5376bc5bf212280ae76e30089fbd", "src"),
        Pages("KaiserY/trpl-zh-cn", "49df980589ccd5c1b8829b9be47439136dc34101", "src"),
    ],
    "ja": [
        Pages(*_FASTAPI, "docs/ja/docs"),
        Pages("vuejs-translations/docs-ja", "c627102bfabf8bc5ecaa6eb763b965a0a5d43a5b", "src"),
        Pages("rust-lang-ja/book-ja", "822ffbb7b5ecf28ff5393e4057c8b9189a5d3fe1", "src"),
    ],
}


def learnt(clones: Path) -> Rarity:
    """Learn a table of each language for each preset, and join them."""
    languages = [sorted({text for pages in each for text in pages.texts(clones)}) for each in PAGES.values()]
    print(", ".join(f"{len(texts):,} pages" for texts in languages), file=sys.stderr)
    joined = []
    for preset, most in _MOST.items():
        folded = Scheme.preset(preset)
        schemes = folded, replace(folded, normalisation=Normalisation())
        tables = [rarity_of(scheme, texts) for texts in languages for scheme in schemes]
        joined.append(Rarity.joined(tables, most, NAME))
    return Rarity.joined(joined, sum(_MOST.values()), NAME)


if __name__ == "__main__":
    with whole_file(str(TARGET)) as out:
        json.dump(learnt(Path(sys.argv[1])).to_json(), out)
        out.write("\n")
