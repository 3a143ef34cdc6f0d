"""Documents that could not be processed, each with its place and the reason; and files of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import IO, Any, TypeAlias

from es_simhash._core.rows import json_record
from es_simhash.errors import DocumentError

_EXCERPT = 200


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A document that could not be processed: its id, if it is known, the reason, and its place.

    The place is the ``position`` among documents that were given, the ``line`` of a ``file`` (with an ``excerpt``, cut
    and safe to print on a terminal), or an ``index``. It ``may_pass`` where the reason may be gone the next time.

    >>> index.add([{"_id": "7", "title": {"an": "object"}}]).rejected[0].id
    '7'
    """

    id: str | None = None
    reason: str
    position: int = 0
    index: str = ""
    file: str = ""
    line: int = 0
    excerpt: str = ""
    may_pass: bool = False

    def __post_init__(self) -> None:
        if self.excerpt:
            object.__setattr__(self, "excerpt", printable(self.excerpt[:_EXCERPT])[:_EXCERPT])

    @classmethod
    def given(cls, id: str | None, position: int, problem: str) -> Rejected:
        """Reject a document that was given; the reason names it by its id, or else by its position.

        >>> Rejected.given("7", 0, "has no text.").reason
        "Document '7' has no text."
        """
        return cls(id=id, position=position, reason=f"Document {position if id is None else repr(id)} {problem}")

    def hand_to(self, on_reject: OnReject | None) -> None:
        """Call ``on_reject`` with it; without one, raise a `DocumentError`.

        >>> reasons = []
        >>> Rejected(reason="It has no text.").hand_to(lambda rejected: reasons.append(rejected.reason))
        >>> reasons
        ['It has no text.']
        """
        if on_reject is None:
            raise DocumentError(self.reason) from None
        on_reject(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; the parts of its place that it has not are None.

        >>> Rejected(id="7", reason="It has no text.").to_json()["id"]
        '7'
        """
        place = {"file": self.file or None, "line": self.line or None, "index": self.index or None}
        position = None if self.file or self.index else self.position
        said = {"reason": self.reason, "excerpt": self.excerpt or None, "may_pass": self.may_pass}
        return {**place, "position": position, "id": self.id, **said}


OnReject: TypeAlias = Callable[[Rejected], object]


class RejectFile:
    """Appends rejections to a file of JSON lines, each with its place and reason, and counts them.

    ``may_pass`` counts those that may not be rejected the next time.

        with RejectFile("rejected.jsonl") as rejects:
            for found in read_documents(paths, on_reject=rejects):
                ...

    The file is created with the first rejection, so there is none if all went well.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.count = self.may_pass = 0
        self._file: IO[str] | None = None

    def __call__(self, rejected: Rejected) -> None:
        """Append a rejection."""
        if self._file is None:
            # By the line, so that nothing is lost should the process be killed. A lone surrogate, as in the name of a
            # file, becomes its escape, which is right in JSON too.
            self._file = open(self.path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        self._file.write(json_record(rejected))
        self.count += 1
        self.may_pass += rejected.may_pass

    def __enter__(self) -> RejectFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def printable(text: str) -> str:
    """Escape all that a terminal would act on: control, format and surrogate characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def decoded_excerpt(raw: bytes, encoding: str) -> str:
    """Decode the beginning of a line that may be invalid."""
    # Four bytes are the longest character; the line may be megabytes long.
    return raw[: 4 * _EXCERPT].decode(encoding, errors="backslashreplace").strip()
