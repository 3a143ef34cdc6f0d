from typing import Any

import numpy as np
import numpy.typing as npt

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
def places(
    codes: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
def agreements(
    values: npt.NDArray[np.unsignedinteger[Any]],
    first: npt.NDArray[np.uint32],
    second: npt.NDArray[np.uint32],
    bits: int,
) -> npt.NDArray[np.uint32]: ...
