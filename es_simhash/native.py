"""The inner loops once more, compiled by numba (extra: native): the same fingerprints, bit for bit, but faster.

Each function here does what a numpy kernel does, which calls it by `compiled` when there is enough work to be worth
the second that numba takes to start. Set the environment variable ``ES_SIMHASH_NATIVE=0`` to do without.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

# Elements below which numpy is as good, so that small jobs never import numba.
_WORTHWHILE = 1 << 13


def compiled(elements: int) -> ModuleType | None:
    """The compiled kernels, if they are installed, wanted, and worthwhile for so many elements."""
    return _kernels() if elements >= _WORTHWHILE else None


def forget() -> None:
    """Look anew, at the next call, at what is installed and wanted."""
    _kernels.cache_clear()


@cache
def _kernels() -> ModuleType | None:
    if os.environ.get("ES_SIMHASH_NATIVE") == "0":
        return None
    try:
        return import_module("es_simhash.native_kernels")
    except ImportError:
        return None
