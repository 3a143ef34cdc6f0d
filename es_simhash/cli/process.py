"""The process of ``es-simhash``: how it starts, and how every run ends.

This module imports only what Python has loaded already, so that the process is ready for an interruption at once.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

# As in `es_simhash.cli.show.output`.
_INTERRUPTED = 130
# Seconds until an interruption is raised that could not be raised where it came.
_A_LITTLE_LATER = 0.01
# The options of glibc's mallopt: the number of arenas; from how many bytes on a block has pages of its own, which go
# back to the system at once; and how many freed bytes at the end of the heap are kept.
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_BLOCK_BYTES = 6 << 20
# Seconds after which a thread makes way for another one.
_SWITCH_AFTER = 0.0005


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    try:
        code = _code(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # a second one, while the first was handled
        code = _INTERRUPTED
    _end(code)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    from es_simhash.cli.program import app
    from es_simhash.cli.show import output

    with output.log_written_as(output.format_in(arguments)):
        try:
            result: Any = app.main(arguments, prog_name="es-simhash", standalone_mode=False)
            sys.stdout.flush()
        except BaseException as error:
            return output.code_of(error, debug="--debug" in arguments, as_json="--json" in arguments)
    return result if isinstance(result, int) else output.FINE


def take_little_memory() -> None:
    """Let all threads allocate in one arena, and give the memory of large arrays back once they are freed.

    The system's library (glibc) would give each thread an arena of its own, and keep what is freed. Texts that one
    thread drops leave room that the others could not use otherwise: nearly half of a long job's memory. Arrow's own
    allocator would keep as much again.
    """
    import ctypes

    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Other libraries have no such function, or no such options.
    with suppress(AttributeError, OSError, TypeError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(_ARENA_MAX, 1)
        set_option(_MMAP_THRESHOLD, _BLOCK_BYTES)
        set_option(_TRIM_THRESHOLD, 2 * _BLOCK_BYTES)


def _code(arguments: list[str]) -> int:
    """Import the modules, and run the command line."""
    import signal

    is_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_interruptible:
        signal.signal(signal.SIGINT, _end_while_loading)
    # Numpy would start a thread per core for linear algebra, which nothing here uses; that takes longer than a search.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The engines' clients import it where it is, for their asynchronous siblings; that takes longer still.
    sys.modules.setdefault("aiohttp", None)  # type: ignore[arg-type]
    # A thread that has computed without the interpreter would wait ten times as long to go on.
    sys.setswitchinterval(_SWITCH_AFTER)
    from es_simhash.cli import program  # imported while an interruption ends the process at once

    sys.unraisablehook = _raise_later
    if is_interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # Who asks a process to end wants no half-written file of it either.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    return program.use() or run(arguments)


def _end_while_loading(number: int, frame: FrameType | None) -> None:
    """End the process at once: not every module lets an interruption pass while it is imported."""
    try:
        os.write(2, b"Interrupted. Nothing was changed.\n")
    finally:
        os._exit(_INTERRUPTED)


def _raise_later(unraisable: Any) -> None:
    """Repeat an interruption that came where nothing can be raised, as in a finaliser; show any other exception."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    from _thread import interrupt_main
    from threading import Timer

    timer = Timer(_A_LITTLE_LATER, interrupt_main)
    timer.daemon = True
    timer.start()


def _end(code: int) -> None:
    """End the process, even if threads still wait for answers that are no longer needed."""
    import signal
    import threading

    # All output is complete.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    from es_simhash.cli import program

    program.flush()
    # Python would end by the signal if an interruption passed through its `exec`, even if something caught it.
    if code == _INTERRUPTED or threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)
