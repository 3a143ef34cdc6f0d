"""Keywords by jieba's TF-IDF and TextRank."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import median_high
from typing import Any

import pytest

from es_simhash.errors import MissingExtraError
from es_simhash.scheme.scheme import Scheme
from es_simhash.text.tokens import chinese as module
from es_simhash.text.tokens.chinese import Method, jieba_tokenizer, keywords, loading
from es_simhash.text.tokens.kinds import Chars, Keywords, Words

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
    program = f"from es_simhash.text.tokens.chinese import keywords; print({call})"
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
