"""The inner loops once more, compiled by numba (extra: native): the same fingerprints, bit for bit, but faster.

Each function here does what a numpy kernel does, which calls it by `compiled`. Starting numba takes most of a second,
so it is started only after batches that took numpy as long; from then on single texts profit as well. The environment
variable ``ES_SIMHASH_NATIVE`` says otherwise: ``0`` does without, ``1`` starts it at the first text, which suits a
service that must not pause later.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from es_simhash._core.environment import NATIVE

# Elements below which numpy is as good as compiled loops.
_WORTHWHILE = 1 << 8
# Calls of fewer elements than this are of single texts, for which somebody may be waiting: they never start numba.
_BATCH = 1 << 13
# Elements of batches after which numba would have saved what starting it takes.
_PAYS = 1 << 27


class _Work:
    """The elements of batches so far."""

    elements = 0


def compiled(elements: int) -> ModuleType | None:
    """Return the compiled kernels if they are installed, wanted, and worthwhile for this many elements."""
    if elements < _WORTHWHILE:
        return None
    if _Work.elements < _PAYS and os.environ.get(NATIVE) != "1":
        if elements >= _BATCH:
            _Work.elements += elements
        return None
    return _kernels()


def forget() -> None:
    """Check again, at the next call, what is installed and wanted, and start counting anew."""
    _kernels.cache_clear()
    _Work.elements = 0


@cache
def _kernels() -> ModuleType | None:
    if os.environ.get(NATIVE) == "0":
        return None
    try:
        return import_module("es_simhash.sketches.native_kernels")
    except ImportError:
        return None
