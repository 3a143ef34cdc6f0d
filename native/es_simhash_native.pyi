from typing import Any

import numpy as np
import numpy.typing as npt

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
