"""Documents that could not be processed, each with its place and the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

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


def printable(text: str) -> str:
    """Escape all that a terminal would act on: control, format and surrogate characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def decoded_excerpt(raw: bytes, encoding: str) -> str:
    """Decode the beginning of a line that may be invalid."""
    # Four bytes are the longest character; the line may be megabytes long.
    return raw[: 4 * _EXCERPT].decode(encoding, errors="backslashreplace").strip()
