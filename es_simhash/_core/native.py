"""The inner loops compiled by numba (extra: native): the same fingerprints, bit for bit, but faster.

Each numpy kernel asks `compiled` for its compiled twin. Starting numba takes most of a second, so it starts only after
batches that took numpy as long; from then on single texts profit as well. The environment variable
``ES_SIMHASH_NATIVE`` changes that: ``0`` does without numba, ``1`` starts it at the first text, which suits a service
that must not pause later.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from es_simhash._core.environment import NATIVE

# Elements below which numpy is as good as compiled loops.
_WORTHWHILE = 1 << 8
# Smaller calls are of single texts, which a user may be waiting for: they never start numba.
_BATCH = 1 << 13
# Elements in batches after which numba would have saved the time that starting it takes.
_PAYS = 1 << 27


class _Work:
    """The number of elements in batches so far."""

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
    """Check again, at the next call, what is installed and wanted, and restart the count."""
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
