"""Labelled sets made from the history of public git repositories.

- ``peps``: Python's enhancement proposals in three years (python/peps). Those of the same number are duplicates.
- ``opensearch_docs``: pages of OpenSearch's documentation in three releases
  (opensearch-project/documentation-website). Those with the same path are duplicates; pages made from one form are not.
- ``laws``: Chinese laws (LawRefBook/Laws). Versions of one law, by its title without the date, are duplicates; the
  regulations that cities copy from each other are not.
- ``aozora``: Japanese literature (aozorahack/aozorabunko_text). Editions of one work, in old and new orthography, are
  duplicates, by title, subtitle and author; the other texts are works of the same authors.
- ``react_ja``, ``tantivy``, ``rustsec``: Japanese pages (reactjs/ja.react.dev), source files (quickwit-oss/tantivy) and
  short advisories that are made from one form (RustSec/advisory-db) in two or three years. Those with the same path are
  duplicates.
- ``reviews`` are not labelled: the 100,000 film reviews of aclImdb (Maas et al., "Learning word vectors for sentiment
  analysis", ACL 2011), and nor are the passages of some 600 characters of ``passages_ja`` (the literature),
  ``passages_zh`` (the laws), ``passages_ru`` and ``passages_hi`` (fastapi/fastapi).

Texts are cut after `LONGEST` characters.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

HOST = "https://github.com/"
LONGEST = 40_000
LEAST = 200

PEPS = ("a0d411a7e334ddede263fdf9862f06bfc035f21c", "ae2bd4d5ca1351668e3b89c30d92701de0856e6e",
        "ba4deeb7969588d937da609008d05bb83a47b1ab")  # fmt: skip
OPENSEARCH = ("65efef6578aa984c6d396d9d65d92645634da509", "abeb673559512416a900635189ae0d295a789cbc",
              "ccb1f16df949e24dbf6600c1bdb364d0c6b05fba")  # fmt: skip
LAWS = ("352b86117f30370c3bb9bc4df7eca461535f2d1e", "318d624517cf7e0ed06355db8a79530ec0b52aa7",
        "2f4c5c23716267af9dbebbbbd6cbbf732b101981")  # fmt: skip
AOZORA = ("0984f7dc18a2270bdfd2ff99bf14fd1b3ebb4f65",)

REACT_JA = ("2bbea1a3e53bdba8f65b688a3b997f9c3a907249", "ca987648c60ae1f97711c40812ec54b2050e3212",
            "7f38231d9d5dddaae6ac51da7d0f173d697f835c")  # fmt: skip
TANTIVY = ("801905d77fce653742a90df396b375dbf4ddf3bd", "70f0b039f5ea92ec6c38be4904f774b9d3444e65")
RUSTSEC = ("efef3b953e286dc0923d7de5e577c711585abeee", "aa04921a0e662802097cc8ded5be2d011054ded1",
           "2e25d9665f10de885c81a9fb9d51a289f625b05f")  # fmt: skip

REVIEWS = ("5e499e525d155c94d35c6e414aed62ef6efc7fb4",)
FASTAPI = ("c3f316b7e814667e8ee81e03a7330d00ee61e45c",)
PASSAGE, PASSAGES, FROM = 600, 100_000, 3_500

# Of laws and works in one version, this many are taken, so that all pairs can be compared.
SINGLE_LAWS, WORKS = 2_600, 1_600
# Titles that different works of an author share.
_GENERIC = (
    "序",
    "序文",
    "はしがき",
    "無題",
    "詩",
    "短歌",
    "俳句",
    "日記",
    "手紙",
    "あとがき",
    "感想",
    "書簡",
    "雑記",
    "雑感",
)
_FETCH_BLOBS = ("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                "--filter", "blob:none", "--stdin", "origin")  # fmt: skip
_DATED = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LEGEND = re.compile(r"\A-{20,}\n.*?\n-{20,}\n", re.DOTALL)
_RUBY = re.compile(r"《[^》]*》|［＃[^］]*］|｜")


class Member(NamedTuple):
    """A document, and the cluster of its duplicates."""

    id: str
    cluster: str
    text: str


class File(NamedTuple):
    """A file of a commit."""

    commit: str
    path: str
    content: bytes


def peps() -> Iterator[Member]:
    """Yield the proposals of at least 1,000 characters, but the index."""
    for file in files_of("python/peps", PEPS, r"pep-(?!0000)\d{4}\.(rst|txt)$"):
        text = file.content.decode("utf-8", "replace")
        if len(text) >= 1000:
            yield _member(file, re.findall(r"\d{4}", file.path)[-1], text)


def opensearch_docs() -> Iterator[Member]:
    """Yield the pages without their front matter."""
    return _by_path("opensearch-project/documentation-website", OPENSEARCH, r"^_(?!layouts|includes).*\.md$", 300)


def laws() -> Iterator[Member]:
    """Yield the laws in several versions, and some of the others."""
    by_title: dict[str, dict[str, Member]] = defaultdict(dict)
    for file in reversed(list(files_of("LawRefBook/Laws", LAWS, r"^(?!案例|DLC/案例|\.).*(?<!_index)\.md$"))):
        text = file.content.decode("utf-8", "replace")
        title = _title_of_law(Path(file.path).stem)
        if len(text) >= LEAST:
            # A file that got another name or another blank is the same version.
            by_title[title].setdefault(re.sub(r"\s", "", text), _member(file, title, text))
    versions = [list(each.values()) for each in by_title.values()]
    single = sorted((each[0] for each in versions if len(each) == 1), key=lambda member: member.id)
    yield from (member for each in versions if len(each) > 1 for member in each)
    yield from random.Random(1).sample(single, min(SINGLE_LAWS, len(single)))


def react_ja() -> Iterator[Member]:
    """Yield the pages without their front matter."""
    return _by_path("reactjs/ja.react.dev", REACT_JA, r"^src/content/.*\.md$", 300)


def tantivy() -> Iterator[Member]:
    """Yield the source files."""
    return _by_path("quickwit-oss/tantivy", TANTIVY, r"\.rs$", 500)


def rustsec() -> Iterator[Member]:
    """Yield the advisories."""
    return _by_path("RustSec/advisory-db", RUSTSEC, r"^crates/.*\.(md|toml)$", 300)


def _by_path(name: str, commits: Sequence[str], path: str, least: int) -> Iterator[Member]:
    for file in files_of(name, commits, path):
        text = _FRONT_MATTER.sub("", file.content.decode("utf-8", "replace"))
        if len(text) >= least:
            yield _member(file, file.path, text)


def _title_of_law(name: str) -> str:
    title = _DATED.sub("", name).replace("中华人民共和国", "")
    return re.sub(r"[\s、，《》〈〉<>()（）“”\"的]", "", title)


def aozora() -> Iterator[Member]:
    """Yield the works in several editions, and others of the same authors."""
    by_title: dict[tuple[str, str], dict[str, Member]] = defaultdict(dict)
    for file in files_of("aozorahack/aozorabunko_text", AOZORA, r"\.txt$"):
        head, text = _parts_of_work(file.content.decode("cp932", "replace").replace("\r\n", "\n"))
        author = file.path.split("/")[1]
        if len(head) > 1 and len(text) >= LEAST and head[0] not in _GENERIC:
            title = "/".join(head[:-1])  # with the subtitle, without the author's name
            # An edition may be there with readings and without.
            by_title[author, title][Path(file.path).name.split("_")[0]] = _member(file, f"{author}/{title}", text)
    works = {title: list(each.values()) for title, each in by_title.items()}
    editions = [each for each in works.values() if 1 < len(each) <= 4]
    authors = {each[0].cluster.split("/")[0] for each in editions}
    single = [each[0] for (author, _), each in works.items() if len(each) == 1 and author in authors]
    count = sum(map(len, editions))
    yield from (member for each in editions for member in each)
    yield from random.Random(2).sample(single, min(max(WORKS - count, 0), len(single)))


def reviews() -> Iterator[Member]:
    """Yield the reviews, labelled ones and others."""
    path = r"^aclImdb/(train|test)/(pos|neg|unsup)/\d+_\d+\.txt$"
    for file in files_of("arvindsankar/Group-labels-to-individual-labels", REVIEWS, path):
        yield _member(file, file.path, file.content.decode("utf-8", "replace"))


def passages(name: str, commits: Sequence[str], path: str, encoding: str = "utf-8") -> Iterator[Member]:
    """Yield passages of some of the files, up to a number."""
    files = [(file.path, file.content.decode(encoding, "replace")) for file in files_of(name, commits, path)]
    random.Random(1).shuffle(files)
    found = (
        Member(f"{place}#{number}", f"{place}#{number}", passage)
        for place, text in files[:FROM]
        for number, passage in enumerate(_passages(text))
    )
    return islice(found, PASSAGES)


def _passages(text: str) -> Iterator[str]:
    passage = ""
    for line in text.splitlines(keepends=True):
        passage += line
        if len(passage) >= PASSAGE:
            if len(passage) <= 5 * PASSAGE:
                yield passage
            passage = ""


def _parts_of_work(text: str) -> tuple[list[str], str]:
    """Return the lines before the first blank one, and the text without legend, readings, notes and imprint."""
    head, _, rest = text.partition("\n\n")
    rest = _LEGEND.sub("", rest.lstrip()).partition("\n底本：")[0]
    return [re.sub(r"\s", "", line) for line in head.split("\n") if line.strip()], _RUBY.sub("", rest).strip()


def _member(file: File, cluster: str, text: str) -> Member:
    return Member(f"{file.commit[:8]}/{file.path}", cluster, text[:LONGEST])


def files_of(name: str, commits: Sequence[str], path: str) -> Iterator[File]:
    """Yield the files of each commit of a repository on GitHub whose paths match; only these are fetched."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder)
        _git(repository, "init", "--quiet", "--bare")
        _git(repository, "remote", "add", "origin", HOST + name)
        _git(repository, "fetch", "--quiet", "--depth", "1", "--filter", "blob:none", "origin", *commits)
        wanted = [(commit, *each) for commit in commits for each in _listed(repository, commit, path)]
        blobs = "".join(f"{blob}\n" for blob in sorted({blob for _, _, blob in wanted})).encode()
        # One by one, as git would fetch them when they are read, takes hours.
        _git(repository, *_FETCH_BLOBS, given=blobs)
        output = _git(repository, "cat-file", "--batch", given="".join(f"{blob}\n" for *_, blob in wanted).encode())
        start = 0
        for commit, place, _ in wanted:
            end = output.index(b"\n", start)
            size = int(output[start:end].rsplit(b" ", 1)[1])
            yield File(commit, place, output[end + 1 : end + 1 + size])
            start = end + 1 + size + 1


def _listed(repository: Path, commit: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the paths that match, with the ids of their contents."""
    for line in _git(repository, "ls-tree", "-r", "-z", commit).decode().split("\0")[:-1]:
        description, _, place = line.partition("\t")
        if re.search(path, place):
            yield place, description.split()[2]


def _git(repository: Path, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, input=given, stdout=subprocess.PIPE).stdout
