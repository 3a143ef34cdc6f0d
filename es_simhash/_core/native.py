"""The compiled kernels (extra: native): the same results as numpy's, bit for bit, but faster.

numpy's way is the definition, and does all that is done here. With ``ES_SIMHASH_NATIVE=0`` it alone is taken.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from es_simhash._core.environment import NATIVE
from es_simhash._version import __version__

Result = TypeVar("Result")

# The first digits of the SHA-256 of native/es_simhash_native.pyi: what is asked for here, an older build may lack.
_INTERFACE = "df765cbbe0e8"


def native() -> ModuleType | None:
    """Return the compiled kernels if they are installed and wanted."""
    return None if os.environ.get(NATIVE) == "0" else _installed()


def by_kernels(make: Callable[[ModuleType], Result]) -> Result | None:
    """Return what the compiled kernels make; None where numpy must make it, or say what is wrong."""
    kernels = native()
    if kernels is None:
        return None
    try:
        return make(kernels)
    except kernels.Refused:
        return None


@cache
def _installed() -> ModuleType | None:
    try:
        found = import_module("es_simhash_native")
    except ImportError:
        return None
    if found.__version__ != __version__:
        remedy = (
            f"Install the matching version: pip install es-simhash-native=={__version__}; in a checkout: make native"
        )
    elif getattr(found, "__interface__", "") != _INTERFACE:
        remedy = "It is a build of other sources. Build it again: make native"
    else:
        return found
    warnings.warn(
        f"es-simhash-native {found.__version__} does not match es-simhash {__version__}, so numpy works instead. "
        f"{remedy}",
        RuntimeWarning,
        stacklevel=2,
    )
    return None
