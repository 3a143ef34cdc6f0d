"""Chinese words by jieba and by rjieba."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import MissingExtraError
from es_simhash.text.tokens import chinese
from es_simhash.text.tokens.chinese import Backend, cut, jieba_tokenizer, loading

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
    program = f"from es_simhash.text.tokens.chinese import cut; print(ascii(cut({text!a}, 'jieba')))"
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
