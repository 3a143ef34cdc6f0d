from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

_Words: TypeAlias = npt.NDArray[np.uint64]
_Integers: TypeAlias = npt.NDArray[np.int64]
_Similarities: TypeAlias = npt.NDArray[np.float64]
_Weights: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]
# Status, SimHash and signature.
_Fingerprint: TypeAlias = tuple[int, int | None, bytes | None]
# Statuses, SimHashes and signatures; hashes, offsets and weights.
_Columns: TypeAlias = tuple[npt.NDArray[np.uint8], _Words | None, npt.NDArray[np.uint32] | None]
_Batch: TypeAlias = tuple[_Words, _Integers, _Weights | None]
_Tokens: TypeAlias = (
    tuple[Literal["chars", "runs"], int]
    | tuple[Literal["words"], int, list[str]]
    | tuple[Literal["runs-and-numbers", "given"]]
)

__interface__: str

class Refused(ValueError): ...  # noqa: N818 - it is no failure: numpy goes on

class Fingerprinter:
    def __init__(
        self,
        *,
        normalisation: tuple[bool, bool, bool, Sequence[str]],
        tokens: _Tokens,
        hash: str,
        hash_bits: int,
        weights: str,
        idf: tuple[_Words, npt.NDArray[np.uint32], int] | None,
        simhash_bits: int,
        minhash: tuple[str, int] | None,
        floor: int,
    ) -> None: ...
    def fingerprint(self, text: str) -> _Fingerprint: ...
    def fingerprints(self, texts: list[str]) -> _Columns: ...
    def fingerprints_of_tokens(self, lists: list[list[str]]) -> _Columns: ...
    def condense(self, hashes: _Words, offsets: _Integers, weights: _Weights | None = None) -> _Columns: ...
    def features(self, texts: list[str]) -> _Batch: ...
    def features_of_tokens(self, lists: list[list[str]]) -> _Batch: ...
    def passages(self, texts: list[str], words: int, window: int, key_bits: int) -> list[str]: ...

class Fields:
    def __init__(
        self,
        *,
        blocks: tuple[int, int, bool] | None,
        bands: tuple[int, int, int] | None,
        signature: tuple[int, int] | None,
        keys: str,
        names: list[str],
        scheme: str,
        statuses: list[str],
    ) -> None: ...
    def write(
        self,
        texts: list[str],
        statuses: npt.NDArray[np.uint8],
        simhashes: _Words | None,
        signatures: npt.NDArray[np.uint32] | None,
    ) -> list[dict[str, Any]]: ...
    def of_text(
        self, fingerprinter: Fingerprinter, stripped: str, text: str
    ) -> tuple[_Fingerprint, dict[str, Any]]: ...
    def read(
        self, objects: list[Any], signature: bytes | None = None
    ) -> tuple[
        list[int],
        list[str | None],
        tuple[_Words, npt.NDArray[np.uint32], npt.NDArray[np.uint32]],
        _Similarities | None,
    ]: ...

def hash_tokens(tokens: list[str], name: str, bits: int) -> _Words: ...
def normalise(texts: list[str], steps: tuple[bool, bool, bool, Sequence[str]]) -> list[str]: ...
def words(text: str, longest: int) -> str: ...

class Components:
    def __init__(self, count: int) -> None: ...
    def union(self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> None: ...
    def firsts(self) -> npt.NDArray[np.uint32]: ...

class Linker:
    left_out: int
    cut_off: int
    def __init__(self, all: int, few: int, most: int | None, hot_from: int) -> None: ...
    def pairs(self, piece: npt.NDArray[np.uint64], start: int, limit: int) -> tuple[npt.NDArray[np.uint64], int]: ...
    def hot_keys(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]: ...

def entries(
    keys: npt.NDArray[np.unsignedinteger[Any]],
    factors: npt.NDArray[np.uint64],
    first: int,
    kept: npt.NDArray[np.bool_] | None,
) -> npt.NDArray[np.uint64]: ...
def sorted_together(parts: list[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]: ...
def utf8_of(texts: list[str]) -> tuple[bytes, _Integers]: ...
def contents(data: bytes, ends: _Integers) -> _Words: ...
def places(
    codes: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
def agreements(
    values: npt.NDArray[np.unsignedinteger[Any]],
    first: npt.NDArray[np.uint32],
    second: npt.NDArray[np.uint32],
    bits: int,
) -> npt.NDArray[np.uint32]: ...
def sharing(
    codes: npt.NDArray[np.uint64], chosen: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]: ...
def near_pairs(
    codes: npt.NDArray[np.uint64],
    entries: npt.NDArray[np.uint64],
    start: int,
    limit: int,
    distance: int,
    chosen: npt.NDArray[np.uint64],
    passed_over: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8], int]: ...
def plausible_pairs(
    simhashes: npt.NDArray[np.uint64] | None,
    values: npt.NDArray[np.uint32] | None,
    start: int,
    wanted: int | None,
    distance: int,
    least: float,
    value_bits: int,
) -> tuple[_Integers, _Integers, _Integers | None, _Similarities]: ...

class Verifier:
    def __init__(
        self,
        fingerprinter: Fingerprinter,
        *,
        measure: str,
        weights: tuple[_Words, npt.NDArray[np.uint32], int] | None,
        key_bits: int,
        counts: bool,
        numbers: float,
    ) -> None: ...
    def measures(
        self,
        texts: list[str],
        first: _Integers,
        second: _Integers,
        least: _Similarities,
    ) -> tuple[_Similarities, npt.NDArray[np.bool_]]: ...
    def to_others(
        self, wanted: list[tuple[str, list[str | None], _Similarities]]
    ) -> list[tuple[_Similarities, npt.NDArray[np.bool_]]]: ...
    def kept(self, limit: int, threads: int) -> KeptTexts: ...

class KeptTexts:
    def missing(self, numbers: _Integers) -> _Integers: ...
    def put(self, numbers: _Integers, texts: list[str]) -> None: ...
    def measures(
        self, first: _Integers, second: _Integers, least: _Similarities
    ) -> tuple[_Similarities, npt.NDArray[np.bool_]]: ...
    def make_room(self) -> None: ...

def _fail(units: int) -> None: ...
