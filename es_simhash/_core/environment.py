"""The environment of the process: its variables, and whether it has the compiled kernels.

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

from es_simhash._version import __version__

URL = "ES_SIMHASH_URL"
URLS = (URL, "ELASTICSEARCH_URL", "OPENSEARCH_URL")
API_KEY = "ES_SIMHASH_API_KEY"
PASSWORD = "ES_SIMHASH_PASSWORD"
PROFILE = "ES_SIMHASH_PROFILE"
GATE_TOKEN = "ES_SIMHASH_GATE_TOKEN"
CONFIG = "ES_SIMHASH_CONFIG"
NATIVE = "ES_SIMHASH_NATIVE"
CPU = "ES_SIMHASH_CPU"
CONFIG_HOME = "XDG_CONFIG_HOME"
STATE_HOME = "XDG_STATE_HOME"

# Seconds to wait for a busy engine, and bytes of memory for groups.
PATIENCE = 600.0
MEMORY = 256 << 20

MEANINGS = {
    URL: "the server or the directory to work on, unless `--url` or a profile names one",
    URLS[1]: f"the same, if `{URL}` is not set",
    URLS[2]: "the same, if neither of the two is set",
    API_KEY: "an API key, if no option logs in",
    PASSWORD: "the password of `--user`, or of the user in the URL",
    PROFILE: "the profile to use if no target is given",
    GATE_TOKEN: "the token that clients of a `gate` send, unless a file holds it",
    CONFIG: "another file of profiles",
    NATIVE: "`0` to do without the compiled kernels",
    CPU: "`avx2` or `baseline`: the instructions that compiled kernels use at most, to compare them",
    CONFIG_HOME: "the directory of configurations, which holds the file of profiles: `~/.config` by default",
    STATE_HOME: "the directory in which a backfill keeps the counts of all its runs: `~/.local/state` by default",
    "NO_COLOR": "any value: no colours",
    "TMPDIR": "where `dedup` and `group` keep what exceeds their `--memory`, and where read-only indices are opened",
}

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
