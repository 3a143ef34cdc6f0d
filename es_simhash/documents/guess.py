"""A guess which fields of documents hold their texts, ids, dates and sources, made from a sample of them.

Texts are what a person would read to decide whether two documents are the same: sentences first, and the title
of each; only documents without sentences are judged by titles or names. Ids, addresses, dates, categories and code
are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

from es_simhash._core.dates import timestamp
from es_simhash.errors import InputError

SAMPLE = 1_000


@dataclass(frozen=True)
class Guess:
    """The fields of documents by what they seem to hold; ``language`` is that of the texts, or their script."""

    texts: tuple[str, ...]
    id: str | None
    date: str | None
    source: str | None
    language: str


def guess(documents: Iterable[Mapping[str, Any]]) -> Guess:
    """Guess the fields of documents from the first of them.

    >>> guess([{"id": 7, "title": "Ferry stops", "body": "The ferry to Orm will stop for two weeks."}]).texts
    ('title', 'body')
    """
    columns = _columns(islice(documents, SAMPLE))
    texts = tuple(_texts(columns))
    others = [column for column in columns if column.path not in texts]
    sample = [value for column in columns if column.path in texts for value in column.values[:100]]
    return Guess(
        texts,
        next((column.path for column in _best(others, _ID) if column.is_id), None),
        next((column.path for column in _best(others, _DATE) if column.is_date), None),
        _source(others),
        language_of(sample),
    )


def only_text(documents: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the only field that seems to hold texts; refuse to choose among several.

    >>> only_text([{"url": "https://a.example/1", "lang": "en", "text": "It rains on the old town today."}])
    ('text',)
    """
    sample = list(islice(documents, SAMPLE))
    found = guess(sample).texts
    if len(found) == 1:
        return found
    if found:
        raise InputError(f"Several fields may hold the texts. Name those to compare, as in fields={list(found)}.")
    names = ", ".join(map(repr, dict.fromkeys(name for document in sample for name in document)))
    raise InputError(f"None of the fields seems to hold texts: {names}. Name those that do: fields=[…].")


def source_and_date(documents: Iterable[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Guess the fields of sources and dates, also if the first documents are all from one source.

    >>> source_and_date([{"site": "a.example", "published": "2026-03-01", "text": "It rains."}] * 2)
    ('site', 'published')
    """
    columns = _columns(islice(documents, SAMPLE))
    named = (column.path for column in _best(columns, _SOURCE) if column.repeats and not column.is_number)
    dated = (column.path for column in _best(columns, _DATE) if column.is_date)
    return next(named, None) or _source(columns), next(dated, None)


# ---- columns

_DEPTH, _LONGEST, _SHARE = 4, 2_000, 0.5
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+|data:\S+", re.IGNORECASE)
_NO_PROSE = re.compile(
    r"(?:https?://|www\.|data:)\S*|[\w.+-]+@[\w-]+\.[\w.]+|[/~.]?/\S+|[0-9a-fA-F-]{16,}|[\d\s.,:;/+()%$€£¥-]*|[\[{<].*[\]}>]",
    re.DOTALL,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^a-zA-Z0-9\u0080-\uffff]+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LETTERS_A_WORD = 2


@dataclass(eq=False)
class _Column:
    """The values of one field: strings in full, of other values their JSON; ``documents`` is how many there are."""

    path: str
    documents: int
    values: list[str] = field(default_factory=list)
    items: list[float] = field(default_factory=list)
    is_number: bool = True

    def add(self, value: Any) -> None:
        """Add the value of one document."""
        if isinstance(value, list):
            strings = [each for each in value if isinstance(each, str)]
            self.items.append(fmean(map(_words, strings)))
            value = " ".join(strings)
        self.is_number &= not isinstance(value, str)
        text = str(value).strip()
        if text:
            self.values.append(text[:_LONGEST])

    @cached_property
    def words_in_name(self) -> set[str]:
        """The words of the last part of the path, in small letters."""
        name = self.path.rpartition(".")[2]
        words = [word.lower() for word in _CAMEL.split(name) if word]
        return {*words, *(word.removesuffix("s") for word in words), name.lower()}

    @cached_property
    def ends_in(self) -> set[str]:
        """The last word of the path, and its last part."""
        name = self.path.rpartition(".")[2]
        return {name.lower(), _CAMEL.split(name)[-1].lower()}

    @cached_property
    def filled(self) -> float:
        """The share of the documents that have a value."""
        return len(self.values) / self.documents

    @cached_property
    def distinct(self) -> float:
        """The share of the values that differ."""
        return len(set(self.values)) / len(self.values)

    @cached_property
    def words(self) -> float:
        """The mean number of words; two ideographs, kana or hangul count as one."""
        return fmean(_words(value) for value in self.values[:200])

    @cached_property
    def weight(self) -> float:
        """The mean number of words of all documents."""
        return self.words * self.filled

    @cached_property
    def prose(self) -> float:
        """The share of the values that are not numbers, addresses, ids or code."""
        return fmean(_is_prose(value) for value in self.values[:200])

    @cached_property
    def is_tags(self) -> bool:
        """Whether the values are lists of words."""
        return bool(self.items) and fmean(self.items) < _WORDS_OF_A_TAG

    @cached_property
    def is_id(self) -> bool:
        """Whether each document has a value of its own."""
        return self.filled == 1 and self.distinct == 1 and not self.is_tags and self.words < 4

    @cached_property
    def is_date(self) -> bool:
        """Whether nearly all values are dates."""
        return self.filled > _SHARE and fmean(_is_date(value) for value in self.values[:200]) > 0.8

    @cached_property
    def is_category(self) -> bool:
        """Whether few short values stand for all."""
        return self.repeats and len(set(self.values)) > 1

    @cached_property
    def repeats(self) -> bool:
        """Whether few short values, or one, stand for all."""
        return len(set(self.values)) <= max(2, _SHARE * len(self.values)) and self.words < _SENTENCE

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts of addresses."""
        return [urlsplit(value).netloc for value in self.values if _URL.fullmatch(value)]


def _words(text: str) -> float:
    dense = len(_DENSE.findall(text))
    return dense / _LETTERS_A_WORD + len(_DENSE.sub(" ", text).split())


def _is_prose(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters >= 0.4 * len(text.replace(" ", "")) and not _NO_PROSE.fullmatch(text)


_NUMBER_DATE = re.compile(r"1\d{9}(?:\d{3})?|(?:19|20)\d{6}")
_WRITTEN_DATE = re.compile(
    r"\d{1,4}[-/.年]\s*\d{1,2}[-/.月]\s*\d{1,4}日?.{0,24}"
    r"|(?:\w{3,9},?\s+)?(?:\d{1,2}\.?\s+\w{3,9}|\w{3,9}\.?\s+\d{1,2}),?\s+\d{2,4}.{0,24}"
)


def _is_date(text: str) -> bool:
    return timestamp(text) is not None or bool(_WRITTEN_DATE.fullmatch(text) or _NUMBER_DATE.fullmatch(text))


def _columns(documents: Iterable[Mapping[str, Any]]) -> list[_Column]:
    columns, some = dict[str, _Column](), list(documents)
    for document in some:
        for path, value in _leaves(document):
            columns.setdefault(path, _Column(path, len(some))).add(value)
    return [column for column in columns.values() if column.values]


def _leaves(document: Mapping[str, Any], above: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping):
            if depth < _DEPTH:
                yield from _leaves(value, f"{path}.", depth + 1)
        elif isinstance(value, list):
            if any(isinstance(each, str) for each in value):
                yield path, value
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield path, value


def _set(words: str) -> set[str]:
    return {*words.split()}


# ---- texts

_TITLE = _set(
    "title headline head heading subject name question header product titel titre titulo título titolo nom nombre nome "
    "标题 標題 题目 題目 名称 品名 书名 書名 商品名 題名 タイトル"
)
_BODY = _set(
    "body text content contents description abstract summary review comment message post article story plot overview "
    "answer sentence sentence1 sentence2 document lyrics tweet texte texto testo inhalt beschreibung "
    "正文 内容 文章 摘要 描述 评论 評論 文本 本文 説明 レビュー テキスト"
)
_NEVER = _set(
    "author byline tag keyword category categories url link image path file filename user username email license "
    "licence label type status lang language id uuid hash slug genre utilisateur usuario benutzer "
    "作者 著者 类别 分类"
)
# What distinguishes records that have no longer text.
_OF_RECORDS = _set("address street addr 住所 地址")
_NAME = _set("name nom nombre nome")
_WORDS_OF_A_TAG, _WORDS_OF_A_NAME = 2.5, 3
_SENTENCE, _PROSE, _OF_LONGEST, _OF_MOST_DISTINCT, _FILLED = 8, 12, 0.15, 0.4, 0.1


def _texts(columns: list[_Column]) -> Iterator[str]:
    """Yield the fields of texts, in the order of the documents."""
    able = [column for column in columns if _can_be_text(column)]
    bodies = _bodies(able)
    chosen = [*bodies, *_titles(able, bodies)]
    if all(column.words < _PROSE for column in bodies):
        chosen += [column for column in able if column.ends_in & _OF_RECORDS]
    if not chosen and able:
        chosen = [max(able, key=lambda column: column.weight * column.distinct)]
    yield from (column.path for column in columns if column in chosen)


def _bodies(able: list[_Column]) -> list[_Column]:
    """Return the columns of sentences, but for those that are much shorter than the longest, or repeat more."""
    bodies = [column for column in able if column.words >= _SENTENCE or column.words_in_name & _BODY]
    longest = max((column.weight for column in bodies), default=0.0)
    most = max((column.distinct for column in bodies), default=0.0)
    bodies = [column for column in bodies if column.weight >= _OF_LONGEST * longest]
    return [column for column in bodies if column.distinct >= _OF_MOST_DISTINCT * most]


def _titles(able: list[_Column], bodies: list[_Column]) -> list[_Column]:
    """Return the title that goes with bodies, or all titles if there are no bodies."""
    titles = [column for column in able if column.ends_in & _TITLE and column not in bodies]
    titles.sort(key=lambda column: (column.path.count("."), -column.filled))
    if not bodies:
        return titles
    most = max(column.distinct for column in bodies)
    titles = [column for column in titles if column.distinct >= _OF_MOST_DISTINCT * most]
    # Together with sentences, names are often those of persons.
    titles = [column for column in titles if column.words >= _WORDS_OF_A_NAME or not column.ends_in & _NAME]
    return titles[:1]


def _can_be_text(column: _Column) -> bool:
    names_text = column.ends_in & (_BODY | _TITLE)
    return (
        not column.is_number
        and not column.is_tags
        and column.filled >= _FILLED
        and column.prose >= (0.3 if names_text else 0.5)
        and column.words >= 1
        and not (column.words_in_name & _NEVER)
        and (bool(names_text) or not column.is_category)
    )


# ---- other fields

# Words of names, the likeliest first.
_ID = [
    _set("_id"),
    _set("id"),
    _set("uuid guid"),
    _set("doi"),
    _set("isbn issn asin sku pmid ean gtin"),
    _set("key pk code number no slug 编号 番号 序号"),
    _set("url link uri permalink"),
]
_DATE = [
    _set("published pubdate publish publication 発行日 公開日 发布时间 发布日期"),
    _set("created posted issued"),
    _set("date datum fecha data 日期 日付 日時 時間 时间"),
    _set("time timestamp datetime released release"),
    _set("updated modified changed at on"),
    _set("year day 年"),
]
_SOURCE = [
    _set("source 来源 ソース 出典"),
    _set("site website domain host hostname feed newspaper"),
    _set("publisher publication journal outlet venue channel 出版社"),
    _set("brand manufacturer vendor seller"),
    _set("company organization agency platform repo repository"),
    _set("author autor auteur user username account by creator 作者 著者"),
    _set("subreddit forum list group"),
    _set("category section genre topic type 类别 分类 カテゴリ"),
    _set("country state region city"),
]


def _best(columns: list[_Column], hints: Iterable[set[str]]) -> Iterator[_Column]:
    """Yield columns in the order of the hints that their names have."""
    for words in hints:
        yield from (column for column in columns if column.words_in_name & words)


def _source(columns: list[_Column]) -> str | None:
    named = [column for column in _best(columns, _SOURCE) if column.is_category and not column.is_number]
    of_hosts = [column for column in columns if len({*column.hosts}) > 1]
    return next((column.path for column in [*named[:1], *of_hosts]), None)


# ---- language

_COMMON_WORDS = {
    "English": "the of and to in is that for it with was on",
    "German": "der die und das ist nicht ein zu mit den von auf",
    "French": "le les des est et une dans pour que du pas sur",
    "Spanish": "el los las una que por con para es del se no",
    "Portuguese": "o os uma que não com para em do da um é",
    "Italian": "il di che non una per sono gli della con è la",
    "Dutch": "de het een van en niet dat met op voor zijn is",
    "Swedish": "och att det som en på är av för med den inte",
    "Polish": "i w na nie że się z do jest to jak po",
    "Turkish": "ve bir bu için ile da de çok ne en gibi olarak",
    "Indonesian": "yang dan di untuk dengan ini itu dari pada adalah tidak ke",
    "Vietnamese": "và của là có không cho được trong một các với người",
}
_COMMON = {language: words.split() for language, words in _COMMON_WORDS.items()}
_SCRIPTS = {
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Devanagari": re.compile(r"[\u0900-\u097f]"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
}
_LEAST = 0.05


def language_of(texts: Iterable[str]) -> str:
    """Return the likeliest language of texts, or their script; empty if neither shows.

    >>> language_of(["The ferry to Orm will stop for two weeks in April."])
    'English'
    """
    counts = Counter(filter(None, map(_language, texts)))
    if not counts:
        return ""
    [(language, count)] = counts.most_common(1)
    return language if count > _SHARE * counts.total() else "several languages"


def _language(text: str) -> str:
    letters = sum(map(str.isalpha, text)) or 1
    dense = _DENSE.findall(text)
    if len(dense) > 0.2 * letters:
        if sum("\uac00" <= each <= "\ud7af" for each in dense) > len(dense) / 2:
            return "Korean"
        return "Japanese" if any("\u3040" <= each <= "\u30ff" for each in dense) else "Chinese"
    for script, letter in _SCRIPTS.items():
        if len(letter.findall(text)) > letters / 2:
            return f"{script} script"
    words = Counter(text.lower().split())
    counts = {language: sum(words[word] for word in common) for language, common in _COMMON.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= _LEAST * words.total() else ""
