"""Golden vectors: fingerprints that no change may alter. ``python -m tools.golden`` writes them again, and the tables
of docs/fingerprints.md with them; do that only for what is new."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from hashlib import sha256
from typing import Any

from es_simhash import PRESETS, Documents, Layout, MinHash, Passages, Scheme, SimHash
from es_simhash._core.arrays import to_ints
from es_simhash.sketches.minhash.common import SignatureCodec
from es_simhash.text import Chars, Keywords, Normalisation, Runs, Words
from es_simhash.text.hashing import HASH_FUNCTIONS, WIDTHS, HashFunction
from es_simhash.text.words import DENSE
from tools import ROOT

FILE = ROOT / "tests" / "data" / "golden.json"
DOCUMENTATION = ROOT / "docs" / "fingerprints.md"

HASHES = HASH_FUNCTIONS.items()
FEATURES = ["", "a", "ab", "the c", "重复的文档", "👍🏽 ok", "a word of more than sixteen units"]
TEXTS = {
    "English": "The quick brown fox jumps over the lazy dog, and then it does so again and again.",
    "Chinese": "近似重复检测：两篇文章只改动了几个字，就应当被找出来。",
    "Japanese": "ほぼ同じ文書を見つける。ｶﾀｶﾅとカタカナは同じ、ＡＢＣとabcも同じ。",
    "accents": "Crème brûlée — cre\u0300me bru\u0302le\u0301e, ﬁn de siècle, STRASSE, Straße.",
    "emoji": "👩‍🚀 launched 🚀🚀🚀 at 10:00 👍🏽",
    "white space": "  one\ttwo\n\nthree\u3000four\u00a0five  ",
    "unassigned": "seq\u0323\u1dfa one \u0378 two\ua7c0 three",
    "unusual spaces": "\ufeffzero\u001cone\u0085two\u180ethree\u200bfour \u0130stanbul \u03a3\u0391\u03a3 \u03c2",
    "short": "Hi!",
    "empty": " \n\t ",
}


# Long enough for several windows of words.
LONG_TEXTS = {
    "English": " ".join(f"Word {number} of {number % 7} isn't that of {number * number}." for number in range(12)),
    "Chinese": "".join(f"第{number}句话说的是{'甲乙丙丁戊己庚'[number % 7]}，不是别的。" for number in range(6)),
    "Japanese": "".join(f"{number}番目の文は{'アカサタナ'[number % 5]}ページのＡＢＣです。" for number in range(6)),
    "too short": "Five words are no passage.",
}
_PASSAGES = (Passages(), Passages(words=3, window=4, key_bits=60))
_TOKENS = {"runs": Runs(), "runs of 3": Runs(dense=3)}
# What indices may have been made with: the first default, what was a preset, and the presets as they are now.
_FIRST = Scheme(normalisation=Normalisation(), tokens=Chars(), minhash=MinHash(bands=32, rows=4, key_bits=30))
SCHEMES = {
    "default": _FIRST,
    "short": replace(
        _FIRST, tokens=Chars(3), simhash=SimHash(64, 8, 5), minhash=MinHash(bands=42, rows=3, key_bits=30), floor=4
    ),
    "passages": replace(_FIRST, passages=Passages()),
    "chinese-keywords": replace(_FIRST, tokens=Keywords("tfidf", 22), weights="own", minhash=None, floor=4),
    "strict": replace(_FIRST, minhash=None, layout=Layout(simhash="blocks")),
    "records": _FIRST,
    "code": replace(_FIRST, tokens=Words(2)),
    "strict with a SimHash in a field": replace(_FIRST, minhash=None, layout=Layout(doc_values=False)),
} | {f"{name}, second": Scheme.preset(name) for name in PRESETS}


def golden() -> dict[str, Any]:
    """All vectors as they are now."""
    return {
        "hashes": {name: {token: _hashes(function, token) for token in FEATURES} for name, function in HASHES},
        "presets": {name: _fingerprints(scheme) for name, scheme in SCHEMES.items()},
        "passages": {f"{each.words} {each.window} {each.key_bits}": _passages(each) for each in _PASSAGES},
        "tokens": {name: _fingerprints(replace(_FIRST, tokens=tokens)) for name, tokens in _TOKENS.items()},
    }


def _hashes(function: HashFunction, token: str) -> dict[str, str]:
    return {str(bits): f"{to_ints(function.hash_tokens([token], bits))[0]:0{bits // 4}x}" for bits in WIDTHS}


def _fingerprints(scheme: Scheme) -> dict[str, Any]:
    vectors = {}
    for name, text in TEXTS.items():
        fingerprint = scheme.fingerprint(text)
        signature = fingerprint.signature[None]
        vectors[name] = {
            "text": text,
            "status": fingerprint.status,
            "simhash": None if fingerprint.simhash is None else f"{fingerprint.simhash:016x}",
            "minhash": SignatureCodec(signature.size).to_texts(signature)[0] if signature.size else None,
            "blocks": scheme.block_keys(fingerprint),
            "bands": scheme.band_keys(fingerprint),
        }
    return {"id": scheme.id, "texts": vectors}


def _passages(passages: Passages) -> dict[str, Any]:
    scheme = replace(_FIRST, passages=passages)
    made = Documents(scheme, ["text"]).add_fields_to_all({"text": text} for text in LONG_TEXTS.values())
    texts = {
        name: {"text": text, "passages": fields["dedup"].get("passages", "").split()}
        for (name, text), fields in zip(LONG_TEXTS.items(), made, strict=True)
    }
    return {"id": scheme.id, "texts": texts}


def tables(vectors: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the documentation that are made of the vectors, by the names of their marks."""
    default = vectors["presets"]["default, second"]
    hashes = [f"| `{token}` | `{widths['64']}` |" for token, widths in vectors["hashes"]["poly64"].items() if token]
    rows = ["| text | status | SimHash | MinHash | block keys | band keys |", "|---|---|---|---|---|---|"]
    for vector in default["texts"].values():
        cells = [f"`{_shown(vector['text'])}`", vector["status"]]
        if vector["simhash"]:
            signature = SignatureCodec(128).from_text(vector["minhash"])
            cells.append(f"`{vector['simhash']}`")
            cells.append(f"`{sha256(signature.astype('<u4').tobytes()).hexdigest()[:16]}`")
            cells += [f"`{keys[0]}` … `{keys[-1]}`" for keys in (vector["blocks"], vector["bands"])]
        rows.append(f"| {' | '.join(cells + [''] * (6 - len(cells)))} |")
    return {
        "dense": f"U+{', '.join(f'{first:04X}–{last:04X}' for first, last in sorted(DENSE))}.",
        "hashes": "\n".join(["| feature | hash |", "|---|---|", *hashes]),
        "id": f"The id of the scheme is `{default['id']}`.",
        "fingerprints": "\n".join(rows),
    }


def _shown(text: str) -> str:
    """Quote a text, with escapes for characters that are hard to see."""
    categories = {unicodedata.category(character) for character in text if character != " "}
    return json.dumps(text, ensure_ascii=not categories.isdisjoint({"Mn", "Zs", "Cf", "Cc", "Cn"}))


def with_tables(page: str, parts: dict[str, str]) -> str:
    """Return the page with each part between its marks."""
    for name, part in parts.items():
        start, end = f"<!-- vectors: {name} -->", f"<!-- end of {name} -->"
        before, rest = page.split(start)
        page = before + start + "\n" + part + "\n" + end + rest.split(end)[1]
    return page


if __name__ == "__main__":
    made = golden()
    FILE.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    DOCUMENTATION.write_text(with_tables(DOCUMENTATION.read_text("utf-8"), tables(made)), encoding="utf-8")
