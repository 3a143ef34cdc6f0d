"""Long calls of the compiled kernels end at an interruption, and a mistake in a kernel is an exception of ours."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from es_simhash.errors import EsSimhashError, KernelError
from tests import ROOT
from tests.unit.native.made import kernels

# After so long a call was not interrupted: each would go on for minutes.
_LIMIT_SECONDS = 60

# A thread interrupts the process as soon as it may run, which is when the call has let go of the interpreter.
_PROGRAM = """
import os, signal, sys, threading
import numpy as np
import es_simhash_native as kernels
from es_simhash.sketches import iter_self_join

def fingerprinter(minhash, n=9, hash="poly64", tokens=None):
    return kernels.Fingerprinter(
        normalisation=(True, True, True, ()), tokens=tokens or ("chars", n), hash=hash, hash_bits=64, weights="tf",
        idf=None, simhash_bits=64, minhash=minhash, floor=8,
    )

def verifier():
    made = fingerprinter(None)
    return kernels.Verifier(made, measure="jaccard", weights=None, key_bits=64, counts=False, numbers=0)

def kept(*texts):
    made = verifier().kept(1 << 40, 2)
    made.put(np.arange(len(texts)), list(texts))
    return made

def interrupt():
    begun.acquire()
    os.kill(os.getpid(), signal.SIGINT)

text = "".join(map(chr, range(32, 127))) * 3000
random = bytes(np.random.default_rng(0).integers(32, 127, 1 << 23, dtype=np.uint8)).decode()
wide = text.replace("a", "\\u00e9").replace("b", "\\U0001f600")
{made}
signal.signal(signal.SIGINT, signal.default_int_handler)
begun = threading.Lock()
begun.acquire()
threading.Thread(target=interrupt, daemon=True).start()
sys.setswitchinterval(1000)
try:
    begun.release()
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""

CALLS = {
    "a long text": ('made = fingerprinter(("weighted", 4096))', "made.fingerprint(random)"),
    "many texts": ('made = fingerprinter(("k-hash", 1000)); given = [text] * 100_000', "made.fingerprints(given)"),
    "a long text of any characters": (
        'made = fingerprinter(("weighted", 4096))',
        'made.fingerprint(random.replace("a", "\\u00e9"))',
    ),
    "many lists of tokens": (
        'made = fingerprinter(("weighted", 4096)); given = [random[:9999].split("a")] * 100_000',
        "made.fingerprints_of_tokens(given)",
    ),
    "hashes": (
        'made = fingerprinter(("weighted", 4096)); given = np.arange(1 << 23, dtype=np.uint64)',
        "made.condense(given, np.array([0, 1 << 23]))",
    ),
    "passages": (
        'made = fingerprinter(None, tokens=("words", 1, [])); given = [text] * 100_000',
        "made.passages(given, 6, 16, 36)",
    ),
    "features": ('made = fingerprinter(None, 200_000, "sha256"); given = [text] * 20', "made.features(given)"),
    "comparisons": (
        "made = verifier(); given = [random[:9 ** 6], random[9:9 ** 6]]; n = 1_000_000",
        "made.measures(given, np.zeros(n, int), np.ones(n, int), np.zeros(n))",
    ),
    "comparisons of texts that are kept": (
        "made = kept(random[:9 ** 6], random[9:9 ** 6]); n = 1_000_000",
        "made.measures(np.zeros(n, int), np.ones(n, int), np.zeros(n))",
    ),
    "texts to keep": ("made = kept(); given = [wide] * 1_000_000", "made.put(np.zeros(len(given), int), given)"),
    "a self-join": ("given = np.zeros(4_000_000, np.uint64)", "sum(1 for _ in iter_self_join(given, 64, 3))"),
    "agreements": (
        "given = np.zeros((1, 1 << 20), np.uint8); n = 10_000_000",
        "kernels.agreements(given, np.zeros(n, np.uint32), np.zeros(n, np.uint32), 8)",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_ends_a_call_that_takes_long(call: str) -> None:
    made, called = CALLS[call]
    program = [sys.executable, "-c", _PROGRAM.format(made=made, call=called)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("units", [0, 1 << 30], ids=["in the same thread", "in a thread of its own"])
def test_a_mistake_in_a_kernel_is_an_exception_of_ours(units: int, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(EsSimhashError, match=f"{units} units.*report.*ES_SIMHASH_NATIVE=0") as raised:
        kernels._fail(units)
    assert raised.type is KernelError
    assert "panicked" in capfd.readouterr().err


def test_all_work_without_the_interpreter_goes_one_way() -> None:
    sources = (ROOT / "native" / "binding" / "src").rglob("*.rs")
    letting_go = {path.name for path in sources if re.search(r"\.(detach|allow_threads)\(", path.read_text("utf-8"))}
    assert letting_go == {"work.rs"}


def test_what_a_kernel_needs_of_numpy_is_loaded_with_the_module() -> None:
    """An interruption while a first call loaded it would end in a panic."""
    program = """
import numpy, es_simhash_native
core = numpy.core if numpy.__version__ < "2" else numpy._core
del core.multiarray._ARRAY_API
nothing = numpy.zeros((0, 2), numpy.uint8)
print(len(es_simhash_native.agreements(nothing, numpy.zeros(0, numpy.uint32), numpy.zeros(0, numpy.uint32), 8)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("0\n", "")
