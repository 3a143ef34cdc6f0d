"""Others who write to an index while a backfill runs."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread

from es_simhash._core.batches import chunks
from tests.system.soak.live_index import LiveIndex

_AT_ONCE = 10
# The last of the changes comes when this part of the index has been written: what is changed after a backfill has
# looked for changes the last time, it cannot see.
_SPAN = 0.6
_BURST = 5


class Writer(Thread):
    """Changes the texts of some documents, a few at a time, through a backfill of the index, up to this share of it."""

    def __init__(self, index: LiveIndex, numbers: Sequence[int], span: float = _SPAN) -> None:
        super().__init__(daemon=True)
        self._index = index
        self._numbers = numbers
        self._span = span
        self._halt = Event()
        self._left = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Make the changes, each when the backfill has come so far."""
        try:
            for done, numbers in chunks(self._numbers, _AT_ONCE):
                self._await(self._span * self._index.count * done / len(self._numbers))
                self._index.change(numbers)
            self._left = self._index.left
        except BaseException as error:
            self.failure = error

    def _await(self, changes: float) -> None:
        while not self._halt.wait(0.05) and self._index.written < changes:
            pass

    def ended(self) -> None:
        """Hold that it made all its changes while there was still something to do."""
        self._halt.set()
        self.join()
        assert self.failure is None, self.failure
        assert self._left, "The changes came too late."


class SteadyWriter(Thread):
    """Changes the text of one document after the other, about 150 a second, until it is stopped."""

    def __init__(self, index: LiveIndex) -> None:
        super().__init__(daemon=True)
        self._index = index
        self._halt = Event()
        self.changes = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Make the changes."""
        try:
            while not self._halt.wait(_BURST / 150):
                first = self.changes * 7  # others each time, here and there
                self._index.change({(first + 7 * each) % self._index.count for each in range(_BURST)})
                self.changes += _BURST
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        """Let it come to an end."""
        self._halt.set()
        self.join()
        assert self.failure is None, self.failure
