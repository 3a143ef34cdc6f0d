"""Labelled sets with planted copies, and with what spoils texts.

- ``planted_english``, ``planted_chinese``: clusters of 2 to 40 copies of one original among generated texts, each with
  1, 2, 5 or 10% of its words replaced.
- ``chains``: the same in English, but each copy is made from any of the earlier ones, with 1 to 3% replaced.
- ``families``: pages copied with another date, time and counter, in three languages (see `benchmarks.families`).
- ``stamped``: clusters of 2 to 40 copies with up to 2% of the words replaced, each with a date and a counter.
- ``ocr_1``, ``ocr_5``, ``ocr_10``: texts with one copy in which that share of the characters is misread.
- ``framed``: texts between a header and a footer that all share, with one copy with 5% of the words replaced.
- ``redacted``: texts with one copy whose digits are replaced by X.
- ``forms``: half of the texts are twice there with other numbers, which are not duplicates; the others with the same.
- ``traditional``, ``old_spelling``, ``kana``: texts with one copy in traditional characters, in the Japanese
  orthography before 1946, or with common words in kana (`benchmarks.orthography`).

If they are not generated, texts are posts of the Rust project's weblog (rust-lang/blog.rust-lang.org); those with a
copy in another orthography are the laws and literature of `benchmarks.git_sets`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from benchmarks import orthography
from benchmarks.corpora import chinese, english
from benchmarks.families import families
from benchmarks.git_sets import Member, aozora, files_of, laws
from benchmarks.planted import edited

BLOG = ("rust-lang/blog.rust-lang.org", "0243724c2e50ad2b7ebd3d9dbc7cd88aed7605a3")
GENERATED, CLUSTERS, POSTS, COPIED = 900, 60, 500, 250
LONGEST = 2_000
SIZES = (2, 2, 3, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40)
MISREAD = {"l": "1", "1": "l", "o": "0", "0": "O", "e": "c", "c": "e", "m": "rn", "h": "b", "b": "h", "s": "5",
           "i": "l", "a": "o", "u": "n", "n": "u", "t": "f", "g": "q", "d": "cl"}  # fmt: skip
FRAME = (
    "Home | News | Sport | Business | Opinion | Weather\n"
    "Subscribe to our newsletter. Follow us on social media.\n"
    "Sign in | Register | Help | Contact us | About us | Advertise with us\n"
    "Most read today. Most shared today. Editor's choice. Archive 2011 2010 2009.\n"
    "Copyright 2012. All rights reserved. Terms of use. Privacy policy.\n"
)
_WORD = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]{1,2}")
_FRONT_MATTER = re.compile(r"\A\+\+\+\n.*?\n\+\+\+\n", re.DOTALL)
_CODE = re.compile(r"```.*?```", re.DOTALL)


def _planted(texts: Callable[[int], list[str]], is_chain: bool = False) -> Iterator[Member]:
    chosen, base = random.Random(7), texts(GENERATED)
    for cluster in range(CLUSTERS):
        copies = [base[cluster]]
        for _ in range(1, chosen.choice(SIZES)):
            original = chosen.choice(copies) if is_chain else copies[0]
            share = chosen.choice((0.01, 0.02, 0.03) if is_chain else (0.01, 0.02, 0.05, 0.1))
            copies.append(_edited(original, share, base[CLUSTERS:], chosen))
        yield from _cluster(cluster, copies)
    yield from _singles(base[CLUSTERS:])


def _stamped() -> Iterator[Member]:
    chosen, base = random.Random(31), posts(2500)[:POSTS]

    def stamp() -> str:
        day, month, year = chosen.randint(1, 28), chosen.randint(1, 12), chosen.randint(2005, 2024)
        return f"Crawled {day}.{month}.{year} views {chosen.randint(1, 99_999)} "

    for cluster in range(CLUSTERS):
        copies = [base[cluster]]
        for _ in range(1, chosen.choice(SIZES)):
            copies.append(_edited(base[cluster], chosen.uniform(0, 0.02), base[CLUSTERS:], chosen))
        yield from _cluster(cluster, [stamp() + copy for copy in copies])
    yield from _singles([stamp() + text for text in base[CLUSTERS:]])


def _ocr(share: float) -> Iterator[Member]:
    chosen = random.Random(5)

    def misread(text: str) -> str:
        return "".join(MISREAD.get(each, each) if chosen.random() < share else each for each in text)

    return _with_copies(posts(3000), misread)


def _framed() -> Iterator[Member]:
    chosen, base = random.Random(5), posts(1200)
    for member in _with_copies(base, lambda text: _edited(text, 0.05, base[COPIED:], chosen)):
        yield member._replace(text=FRAME + member.text + "\n" + FRAME)


def _redacted() -> Iterator[Member]:
    return _with_copies(posts(2000), lambda text: re.sub(r"\d", "X", text))


def _forms() -> Iterator[Member]:
    chosen = random.Random(5)

    def numbers() -> str:
        return " Ref. " + " ".join(str(chosen.randrange(10 ** chosen.randint(1, 6))) for _ in range(8))

    for number, text in enumerate(posts(800)[:POSTS]):
        filled = numbers()
        yield Member(f"{number}/0", f"{number}/0", text + filled)
        if number % 2:
            yield Member(f"{number}/1", f"{number}/1", text + numbers())
        else:
            yield Member(f"{number}/1", f"{number}/0", text.replace(" the ", " a ") + filled)


def _rewritten(members: Iterator[Member], written: Callable[[str], str]) -> Iterator[Member]:
    """Yield texts of works that are there once, some of them also as they are written otherwise."""
    by_cluster: dict[str, list[str]] = {}
    for member in members:
        by_cluster.setdefault(member.cluster, []).append(member.text)
    texts = sorted(texts[0][:LONGEST] for texts in by_cluster.values() if len(texts) == 1)
    random.Random(5).shuffle(texts)
    return _with_copies(texts, written)


def _with_copies(texts: Sequence[str], copied: Callable[[str], str]) -> Iterator[Member]:
    """Yield texts, the first of them with a copy."""
    for number, text in enumerate(texts[:POSTS]):
        yield from _cluster(number, [text, copied(text)] if number < COPIED else [text])


def _cluster(number: int, texts: Sequence[str]) -> Iterator[Member]:
    for place, text in enumerate(texts):
        yield Member(f"{number}/{place}", str(number), text)


def _singles(texts: Sequence[str]) -> Iterator[Member]:
    return (Member(f"single/{number}", f"single/{number}", text) for number, text in enumerate(texts))


def _edited(text: str, share: float, others: Sequence[str], chosen: random.Random) -> str:
    return edited(text, share, _WORD.findall(chosen.choice(others)), chosen)


def posts(longest: int) -> list[str]:
    """Return the prose of the posts of at least 800 characters, in any order, cut after ``longest`` characters."""
    texts = list(_posts())
    random.Random(5).shuffle(texts)
    return [text[:longest] for text in texts]


@cache
def _posts() -> tuple[str, ...]:
    repository, commit = BLOG
    files = files_of(repository, (commit,), r"^content/.*\.md$")
    texts = [_CODE.sub("", _FRONT_MATTER.sub("", file.content.decode("utf-8", "replace"))) for file in files]
    return tuple(text for text in texts if len(text) >= 800)


SETS: dict[str, Callable[[], Iterator[Member]]] = {
    "planted_english": partial(_planted, english),
    "planted_chinese": partial(_planted, chinese),
    "chains": partial(_planted, english, is_chain=True),
    "stamped": _stamped,
    "families": families,
    "ocr_1": partial(_ocr, 0.01),
    "ocr_5": partial(_ocr, 0.05),
    "ocr_10": partial(_ocr, 0.1),
    "framed": _framed,
    "redacted": _redacted,
    "forms": _forms,
    "traditional": lambda: _rewritten(laws(), orthography.traditional),
    "old_spelling": lambda: _rewritten(aozora(), orthography.old),
    "kana": lambda: _rewritten(aozora(), orthography.in_kana),
}
