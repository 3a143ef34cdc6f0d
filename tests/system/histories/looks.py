"""When a command looked at whose changes there are: what others change after the last look, it cannot see."""

from __future__ import annotations

from dataclasses import dataclass

from tests.system.histories.others import Known, Others


@dataclass
class Looks:
    """By the serials of what others did: the ``first`` look of the runs that go on with each other, and the ``last``.

    A run goes on with one before it that has noted its beginning in the mapping. ``how`` is a part of what it asks. If
    it ``refreshes`` to look, only those looks count that come directly before a refresh, or after it; but not one for
    the note of a beginning, which counts fingerprints. If the changes have no numbers, a run looks once, by its
    first refresh. The last run has ``begun`` after a serial.
    """

    others: Others
    how: str
    refreshes: bool = False
    first: int | None = None
    last: int = 0
    is_noted: bool = False
    begun: int = 0
    _seen: int | None = None
    _before: int | None = None
    _was_refreshed: bool = False

    def see(self, method: str, path: str, body: bytes) -> None:
        """Watch a request of the command."""
        is_refresh, seen = "/_refresh" in path, self._seen
        self._seen = None
        if not self.others.target.is_server:
            if is_refresh and self.first is None:
                self.first = self.last = self.others.serial
        elif self.how in path:
            self._seen = self.others.serial
            self.first = self._seen if self.first is None else self.first
            if self._was_refreshed or not self.refreshes:
                self.last = self._seen
        elif is_refresh and seen is not None:
            self._before, self.last = self.last, seen
        elif is_refresh:
            self._before = None
        elif method == "PUT" and "/_mapping" in path:
            self.is_noted = b"_backfill_begun_" in body
            if self.is_noted and self._before is not None:
                self.last, self._before = self._before, None
        self._was_refreshed = is_refresh

    def begin(self) -> None:
        """Another run begins."""
        self.begun = self.others.serial
        if not self.is_noted:
            self.first = None

    def is_before(self, known: Known) -> bool:
        """Whether a document was last changed before the first look."""
        return self.first is None or known.serial <= self.first

    def is_late(self, known: Known) -> bool:
        """Whether a text was last changed after the last look."""
        return known.text_serial > self.last
