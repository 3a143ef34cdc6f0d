"""Chinese words by jieba and by rjieba.

Keywords by jieba's TF-IDF and TextRank.

Stop words from lists and files.
"""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import median_high
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import FormatError, MissingExtraError, SchemeError, TextError, WeightError
from es_simhash.scheme.scheme import Scheme
from es_simhash.text import hashing
from es_simhash.text import tokens as chinese
from es_simhash.text import tokens as module
from es_simhash.text.features import FeatureBatch, batch, load_stop_words
from es_simhash.text.tokens import (
    KINDS,
    Backend,
    Chars,
    Chinese,
    Custom,
    Keywords,
    Method,
    Runs,
    RunsAndNumbers,
    Words,
    cut,
    jieba_tokenizer,
    keywords,
    loading,
    tokens_from_json,
    tokens_to_json,
)
from es_simhash.text.words import char_features, char_spans, run_features, run_spans, spans_from_lists
from tests.support.runs import ENDS, mixed_text, runs_of
from tests.support.texts import any_text, batches

Lists = st.lists(st.lists(any_text(6), max_size=6), max_size=5)


def n_grams(items: Any, n: int) -> list[Any]:
    """Every run of n items, or all of them if there are fewer."""
    return [items[start : start + n] for start in range(max(len(items) - n + 1, min(len(items), 1)))]


@given(batches(), st.integers(1, 9))
def test_character_n_grams_are_all_windows_of_n_code_points(texts: list[str], n: int) -> None:
    assert char_spans(batch(texts), n).lists() == [n_grams(text, n) for text in texts]


@given(batches(), st.integers(1, 9), st.sampled_from([32, 64, 128]))
def test_hashing_whole_batches_gives_the_hashes_of_the_n_grams(texts: list[str], n: int, bits: int) -> None:
    features = char_features(batch(texts), n, bits)
    tokens = [gram for text in texts for gram in n_grams(text, n)]
    assert np.array_equal(features.hashes, hashing.hash_tokens(tokens, bits))
    assert np.diff(features.offsets).tolist() == [len(n_grams(text, n)) for text in texts]


def test_runs_are_short_in_dense_scripts_and_long_in_others() -> None:
    texts = ["abcdefg", "近似重复", "漢", "abc漢", "一a二", "ab漢字c", "𠀀𛀀a", "검출 ok", ""]
    assert run_spans(batch(texts), 2).lists() == [
        ["abcde", "bcdef", "cdefg"],
        ["近似", "似重", "重复"],
        ["漢"],
        ["abc漢"],
        ["一a"],
        ["ab漢字c", "漢字", "字c"],
        ["𠀀𛀀", "𛀀a"],
        ["검출", "출 "],
        [],
    ]
    assert run_spans(batch(texts), 3).lists() == [
        ["abcde", "bcdef", "cdefg"],
        ["近似重", "似重复"],
        ["漢"],
        ["abc漢"],
        ["一a二"],
        ["ab漢字c", "漢字c"],
        ["𠀀𛀀a"],
        ["검출 ", "출 o"],
        [],
    ]


@given(st.lists(mixed_text(), max_size=8), st.sampled_from([2, 3]), st.sampled_from([32, 64, 128]))
def test_runs_of_a_batch_are_those_of_each_text_by_slicing(texts: list[str], n: int, bits: int) -> None:
    expected = [runs_of(text, n) for text in texts]
    assert run_spans(batch(texts), n).lists() == expected
    features = run_features(batch(texts), n, bits)
    assert np.array_equal(features.hashes, hashing.hash_tokens([run for runs in expected for run in runs], bits))
    assert np.diff(features.offsets).tolist() == list(map(len, expected))


def test_the_ranges_of_dense_characters_are_fixed() -> None:
    texts = [character + "abcd" for character in ENDS]
    assert run_spans(batch(texts), 2).lists() == [runs_of(text) for text in texts]


@pytest.mark.parametrize("dense", [2, 3])
def test_texts_in_one_script_have_the_very_features_of_n_grams(dense: int) -> None:
    for text, n in [("Letters only, and 12 marks.", 5), ("近似重复检测找到改动过的文章", dense)]:
        assert np.array_equal(run_features(batch([text]), dense, 64).hashes, char_features(batch([text]), n, 64).hashes)


@given(Lists)
def test_spans_keep_the_tokens_they_are_made_of(lists: list[list[str]]) -> None:
    assert spans_from_lists(lists).lists() == lists


@given(Lists, st.integers(1, 4))
def test_shingles_are_runs_of_tokens_joined_by_spaces(lists: list[list[str]], n: int) -> None:
    expected = [[" ".join(run) for run in n_grams(tokens, n)] for tokens in lists]
    assert spans_from_lists(lists).shingles(n).lists() == expected


@given(Lists, st.sets(any_text(6), max_size=3))
def test_unwanted_tokens_are_left_out(lists: list[list[str]], unwanted: set[str]) -> None:
    unwanted |= {tokens[0] for tokens in lists[:2] if tokens}
    expected = [[token for token in tokens if token not in unwanted] for tokens in lists]
    assert spans_from_lists(lists).without(unwanted).lists() == expected


def test_stop_words_are_left_out_before_words_are_joined() -> None:
    spans, _ = Words(2, frozenset({"the", "on"})).cut(batch(["the cat sat on the mat"]))
    assert spans.lists() == [["cat sat", "sat mat"]]


def test_a_caller_may_bring_tokens_or_weighted_tokens() -> None:
    halves = Custom("halves", lambda text: [text[: len(text) // 2], text[len(text) // 2 :]])
    spans, weights = halves.cut(batch(["abcd"]))
    assert spans.lists() == [["ab", "cd"]]
    assert weights is None
    counted = Custom("counted", lambda text: [(character, text.count(character)) for character in sorted(set(text))])
    spans, weights = counted.cut(batch(["", "abca"]))
    assert spans.lists() == [[], ["a", "b", "c"]]
    assert weights is not None
    assert weights.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        ([1, 2], TextError),
        ([("a", 1), "b"], TextError),
        ([("a", "x")], WeightError),
        ([("a", float("nan"))], WeightError),
    ],
)
def test_what_is_not_a_token_is_refused(tokens: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Custom("bad", lambda _: tokens).cut(batch(["x"]))


@pytest.mark.parametrize(
    "kind",
    [
        Chars(3),
        Runs(),
        Runs(dense=3),
        RunsAndNumbers(),
        Words(2, frozenset({"b", "a"})),
        Chinese("rjieba", 2),
        Keywords("textrank", 11),
    ],
)
def test_every_kind_has_a_json_form(kind: Any) -> None:
    assert tokens_from_json(tokens_to_json(kind), {}) == kind


def test_runs_of_two_have_the_form_they_had_without_the_setting() -> None:
    assert tokens_to_json(Runs(dense=2)) == {"kind": "runs"}
    assert tokens_to_json(Runs(dense=3)) == {"kind": "runs", "dense": 3}
    assert tokens_from_json({"kind": "runs"}, {}) == Runs(dense=2)


@pytest.mark.parametrize("dense", [0, 1, 4, 2.0, True, "3", None])
def test_runs_of_a_dense_script_have_two_or_three_characters(dense: Any) -> None:
    with pytest.raises(SchemeError, match="Choose 2 or 3"):
        Runs(dense)


def test_a_custom_kind_takes_its_function_by_name() -> None:
    form = tokens_to_json(Custom("lines", str.splitlines))
    assert form == {"kind": "custom", "name": "lines"}
    assert tokens_from_json(form, {"lines": str.splitlines}) == Custom("lines", str.splitlines)
    with pytest.raises(SchemeError, match="'lines'"):
        tokens_from_json(form, {})


def test_kinds_are_known_by_the_names_in_their_json() -> None:
    assert all(KINDS[name].kind == name for name in KINDS)


@pytest.mark.parametrize("make", [Chars, Words, lambda n: Chinese("jieba", n), lambda n: Keywords("tfidf", n)])
@pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
def test_sizes_below_one_are_refused(make: Any, n: Any) -> None:
    with pytest.raises(SchemeError, match="whole number from 1"):
        make(n)


@pytest.mark.parametrize(
    "form", [{"kind": "vowels"}, {}, {"kind": "chars", "m": 3}, {"kind": "chinese", "backend": "hanlp"}]
)
def test_a_form_that_cannot_be_read_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(SchemeError):
        tokens_from_json(form, {})


def test_a_batch_of_features_has_as_many_documents_as_texts() -> None:
    assert len(FeatureBatch(np.empty(0, np.uint64), np.zeros(4, np.int64))) == 3


with loading("jieba", extra="chinese"):
    import jieba
with loading("rjieba", extra="fast"):
    import rjieba

BACKENDS: tuple[Backend, ...] = ("jieba", "rjieba")

EXAMPLES = [
    ("我来到北京清华大学", "我 来到 北京 清华大学"),
    ("他来到了网易杭研大厦", "他 来到 了 网易 杭研 大厦"),  # 杭研 is not in the dictionary: the model finds it
    ("小明硕士毕业于中国科学院计算所", "小明 硕士 毕业 于 中国科学院 计算所"),
    ("「搜索引擎」，——如何？ 👍　…", "搜索引擎 如何"),
    ("见 https://github.com/a_b，端口10.0.1.5:9200", "见 https github com a b 端口 10.0 1.5 9200"),
    ("用C++和C#写的，AT&T的3.5%与T恤", "用 C++ 和 C# 写 的 AT&T 的 3.5% 与 T恤"),
    ("𠮷野家㐀鿖々〇", "𠮷 野家 㐀 鿖 々 〇"),
    ("㐀+鿖&\uf900-𠮷", "㐀 鿖 \uf900 𠮷"),
    ("１２３ ① naïve カタ 한국", "１ ２ ３ ① na ï ve カ タ 한 국"),
    ("-- ... & _ +", ""),
    ("", ""),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_words_are_those_of_the_dictionary_and_the_model_without_punctuation(
    text: str, expected: str, backend: Backend
) -> None:
    assert cut(text, backend) == expected.split()


PIECES = [
    *("我们", "研究", "生命", "起源", "杭", "研", "龦", "鿕", "々", "C++", "c#", "AT&T", "T恤", "x", "Z", "7"),
    *("3.14", "5%", "1.2.3", "a.b", "a1", "é", "ー", "１", "，", "。", "\n", "\t\r", "@/", "—", "\u3000", "😀"),
]
SIGNS_AND_RARE_IDEOGRAPHS = "+#&._%- 鿖㐀𠮷\uf900〇中a1"
mixed_texts = st.lists(st.sampled_from([*PIECES, *SIGNS_AND_RARE_IDEOGRAPHS])).map("".join)
ideographs = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF))
chinese_texts = mixed_texts | ideographs | st.text(st.sampled_from(SIGNS_AND_RARE_IDEOGRAPHS))


@given(chinese_texts)
def test_both_libraries_give_the_same_words(text: str) -> None:
    assert cut(text, "jieba") == cut(text, "rjieba")


@given(chinese_texts)
def test_words_are_jiebas_tokens_that_have_something_alphanumeric(text: str) -> None:
    tokens = jieba_tokenizer().cut(text)
    assert cut(text, "jieba") == [token for token in tokens if regex.search(r"[\p{Alphabetic}\p{N}]", token)]


def test_words_that_others_teach_the_libraries_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for attribute, value in {"FREQ": {"我来到": 1}, "total": 1, "initialized": True}.items():
        monkeypatch.setattr(jieba.dt, attribute, value)
    rjieba.add_word("我来到", 10**9, None)
    for backend in BACKENDS:
        assert cut("我来到北京", backend) == ["我", "来到", "北京"]


def test_loading_says_nothing_and_leaves_no_files(tmp_path: Path) -> None:
    """In a fresh process in which every warning is an error; with another seed of the strings' hashes."""
    text = "".join(text for text, _ in EXAMPLES)
    program = f"from es_simhash.text.tokens import cut; print(ascii(cut({text!a}, 'jieba')))"
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == ascii(cut(text, "jieba"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("library", "load", "command"),
    [
        ("jieba", jieba_tokenizer, r"pip install '[^']+\[chinese\]'"),
        ("rjieba", chinese._rjieba_cut, r"pip install '[^']+\[fast\]'"),
    ],
)
def test_without_the_library_the_error_names_the_command_that_installs_it(
    library: str, load: functools._lru_cache_wrapper[object], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"^{library} is not installed.*{command}"):
        load.__wrapped__()


def test_a_rjieba_that_gives_other_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 0.2.2 it did, and its fingerprints would have been others under the same scheme id."""
    older = SimpleNamespace(Jieba=lambda: SimpleNamespace(cut=lambda text: ["1+1", ".", "5"]))
    monkeypatch.setitem(sys.modules, "rjieba", older)
    with pytest.raises(MissingExtraError, match=r"rjieba .*0\.2\.2 or later.* pip install '[^']+\[fast\]'"):
        chinese._rjieba_cut.__wrapped__()


with loading("jieba", extra="chinese"):
    import jieba
    from jieba.posseg import POSTokenizer

METHODS: tuple[Method, ...] = ("tfidf", "textrank")

TEXT = """
线程是程序执行时的最小单位，它是进程的一个执行流，是CPU调度和分派的基本单位，一个进程可以由很多个线程组成，
线程间共享进程的所有资源，每个线程有自己的堆栈和局部变量。线程由CPU独立调度执行，在多CPU环境下就允许多个线程同时运行。
同样多线程也可以实现并发操作，每个请求分配一个线程来处理。进程 and thread, the Thread。
"""


def test_tfidf_is_the_share_of_the_text_times_the_inverse_document_frequency() -> None:
    idf_lines = (Path(jieba.__file__).parent / "analyse" / "idf.txt").read_text(encoding="utf-8").split("\n")
    idf = {word: float(value) for word, value in (line.split() for line in idf_lines if line)}
    counts = Counter(w for w in jieba_tokenizer().cut(TEXT) if len(w.strip()) > 1 and w.lower() not in {"and", "the"})
    unknown = median_high(idf.values())
    expected = {word: count / counts.total() * idf.get(word, unknown) for word, count in counts.items()}
    assert dict(keywords(TEXT, "tfidf", top=1000)) == pytest.approx(expected)


def test_textrank_is_the_rank_in_the_graph_of_nearby_nouns_and_verbs() -> None:
    words = [(pair.word, pair.flag) for pair in POSTokenizer(jieba_tokenizer()).cut(TEXT)]
    nodes = [w if flag in {"ns", "n", "vn", "v"} and len(w.strip()) > 1 else None for w, flag in words]
    edges: Counter[tuple[str, str]] = Counter()
    for i, one in enumerate(nodes):
        for other in islice(nodes, i + 1, i + 5):
            if one and other:
                edges[one, other] += 1
                edges[other, one] += 1
    total = {node: sum(count for (one, _), count in edges.items() if one == node) for node, _ in edges}
    ranks = dict.fromkeys(total, 1 / len(total))
    for _ in range(10):
        for node in sorted(ranks):
            incoming = (count / total[one] * ranks[one] for (one, other), count in edges.items() if other == node)
            ranks[node] = 0.15 + 0.85 * math.fsum(incoming)
    low, high = min(ranks.values()) / 10, max(ranks.values())
    expected = {node: (rank - low) / (high - low) for node, rank in ranks.items()}
    assert dict(keywords(TEXT, "textrank", top=1000)) == pytest.approx(expected)


@pytest.mark.parametrize("method", METHODS)
def test_the_weightiest_come_first(method: Method) -> None:
    ranked = keywords(TEXT, method, top=1000)
    assert [weight for _, weight in ranked] == sorted((weight for _, weight in ranked), reverse=True)
    for top in (1, 11, 22, len(ranked)):
        assert keywords(TEXT, method, top) == ranked[:top]


def test_words_of_the_same_weight_are_in_the_order_of_their_characters() -> None:
    assert [word for word, _ in keywords("gamma beta alpha gamma", top=2)] == ["gamma", "alpha"]


@pytest.mark.parametrize(
    ("method", "expected"),
    [("tfidf", "线程 CPU 进程 调度 多线程"), ("textrank", "线程 进程 调度 单位 操作")],
)
def test_the_keywords_of_a_text_stay_the_same(method: Method, expected: str) -> None:
    assert [word for word, _ in keywords(TEXT, method, top=5)] == expected.split()


def test_neither_the_words_nor_the_weights_depend_on_the_hash_seed() -> None:
    call = f"ascii([keywords({TEXT!a}, m) for m in {METHODS}])"
    program = f"from es_simhash.text.tokens import keywords; print({call})"
    command = [sys.executable, "-W", "error", "-c", program]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == ascii([keywords(TEXT, method) for method in METHODS])


@pytest.mark.parametrize("method", METHODS)
def test_a_text_without_words_has_no_keywords(method: Method) -> None:
    assert keywords("", method) == []
    assert keywords("，。 \n", method) == []


def test_without_jieba_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba.analyse", None)
    for load in (module._tfidf, module._textrank):
        with pytest.raises(MissingExtraError, match=r"pip install '[^']+\[chinese\]'"):
            load.__wrapped__()


def test_a_scheme_of_keywords_uses_their_weights_unless_others_are_given() -> None:
    given: dict[str, Any] = {"tokens": Keywords("tfidf", 5), "floor": 1, "minhash": None, "verification": None}
    made = Scheme(**given)
    assert made == Scheme(**given, weights="own")
    assert made.id == Scheme(**given, weights="own").id != Scheme(**given, weights="set").id
    assert Scheme.from_json(Scheme(**given, weights="set").to_json()).weights == "set"
    assert made.fingerprint(TEXT) == Scheme(**given, weights="own").fingerprint(TEXT)
    assert made.fingerprint(TEXT).simhash != Scheme(**given, weights="set").fingerprint(TEXT).simhash
    assert {Scheme(tokens=tokens).weights for tokens in (Chars(), Words(2))} == {"set"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stop_words.txt"


def test_a_file_has_one_word_a_line_and_may_have_comments_and_blank_lines(path: Path) -> None:
    path.write_text("# English\nthe\n\n  of \n\t\n# 中文\n的\nC#\nthe", encoding="utf-8")
    assert load_stop_words(path) == load_stop_words(str(path)) == {"the", "of", "的", "C#"}


def test_windows_line_ends_and_a_byte_order_mark_are_not_part_of_words(path: Path) -> None:
    path.write_bytes("\ufeffthe\r\n的\r\n".encode())
    assert load_stop_words(path) == {"the", "的"}


def test_only_line_feeds_end_lines(path: Path) -> None:
    path.write_text("a\u2028b\nc\x0bd\n", encoding="utf-8")
    assert load_stop_words(path) == {"a\u2028b", "c\x0bd"}


def test_an_empty_file_has_no_words(path: Path) -> None:
    path.write_bytes(b"")
    assert load_stop_words(path) == frozenset()


def test_bad_utf8_is_an_error_that_names_file_and_line(path: Path) -> None:
    path.write_bytes("the\n# 注\n的\n".encode() + "并且".encode("gbk"))
    with pytest.raises(
        FormatError, match=r"^Line 4 of .*stop_words\.txt is not valid UTF-8.*Convert the file to UTF-8\.$"
    ):
        load_stop_words(path)


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"stop_words\.txt cannot be read: No such file.* Give the path of a text file"
    ):
        load_stop_words(path)
