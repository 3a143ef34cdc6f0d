"""The exceptions that es_simhash raises.

    EsSimhashError
    ├── SchemeError        a scheme, or one of its settings, cannot be used      (also a ValueError)
    ├── InputError         an input cannot be used                               (also a ValueError)
    │   ├── ArgumentError      an argument of a function: its name, or its type      (also a TypeError)
    │   ├── TextError          a text, or its tokens
    │   ├── WeightError        a weight, or a value of a vector
    │   ├── HashError          a hash, or a custom hash function's result
    │   ├── DocumentError      a document, or an action of a bulk request
    │   │   └── UnsendableError    an action that cannot be encoded
    │   └── FormatError        a stored form: signature, key, idf table, JSON
    ├── EngineError        an engine, or an index in it, cannot do what was asked
    │   ├── UnreachableError   the engine does not answer
    │   │   └── UntrustedError     the TLS connection cannot be trusted, or the other side speaks no TLS
    │   ├── AccessError        the engine refuses the credentials, or they lack a right
    │   ├── ClientVersionError the client does not fit the server
    │   ├── MissingError       there is no such index, or no such document in it
    │   ├── MappingError       the index's mapping cannot take the fields, or has none
    │   ├── SchemeMismatchError  the index holds fingerprints of another scheme
    │   ├── IndexStateError    the index cannot be read or written in its state: closed, read-only, ambiguous
    │   │   └── ScriptError        the engine lacks the module for these scripts, or forbids them
    │   ├── UnavailableError   the engine cannot do it now, but may later: overloaded, or starting
    │   │   └── UnansweredError    a proxy has no answer of the engine, which may have done it
    │   ├── TooLargeError      a request is larger than the engine, or a proxy before it, accepts
    │   ├── ReaderLostError    the engine has dropped the view of an index that was being read
    │   ├── InUseError         another process uses the embedded index or a folder of state, or writes groups
    │   └── WritesLostError    the embedded index could not be written, and lacks changes reported as written
    ├── KernelError        a compiled kernel has a mistake in it
    ├── StorageError       temporary files or a gate's state cannot be used      (also an OSError)
    └── MissingExtraError  an optional library is not installed                  (also an ImportError)

Every message says what happened, and to what, and ends with what to do next. What ``may_pass`` by itself may work the
next time; all else needs a person first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pathlib import Path


class EsSimhashError(Exception):
    """The root of all exceptions of this package.

    ``may_pass`` says whether the same call may succeed later though nobody does anything.

    >>> try:
    ...     Scheme.preset("tiny")
    ... except EsSimhashError as error:
    ...     error.may_pass
    False
    """

    may_pass: ClassVar[bool] = False


class SchemeError(EsSimhashError, ValueError):
    """A scheme, or one of its settings, cannot be used.

    >>> Scheme.preset("tiny")
    Traceback (most recent call last):
    es_simhash.errors.SchemeError: ...
    """


class InputError(EsSimhashError, ValueError):
    """An input cannot be used; ``position`` is that of its text among those given.

    >>> index.find(text="")
    Traceback (most recent call last):
    es_simhash.errors.TextError: ...
    """

    def __init__(self, problem: str, position: int | None = None) -> None:
        super().__init__(problem if position is None else f"Text {position} {problem}")
        self.problem = problem
        self.position = position

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None]]:
        return type(self), (self.problem, self.position)


class ArgumentError(InputError, TypeError):
    """A function has no argument of that name, or takes no value of that type for it."""


class TextError(InputError):
    """A text or its tokens cannot be fingerprinted."""


class WeightError(InputError):
    """A weight, or a value of a numeric vector, cannot be used."""


class HashError(InputError):
    """A hash is out of its range, or a custom hash function returned no usable value."""


class DocumentError(InputError):
    """A document, or an action of a bulk request, cannot be read, or has no text in its source fields.

    >>> dedup([("1", "It rains."), 2])
    Traceback (most recent call last):
    es_simhash.errors.DocumentError: ...
    """


class UnsendableError(DocumentError):
    """An action of a bulk request cannot be encoded; ``position`` is its place in the request."""

    def __init__(self, problem: str, position: int | None = None, where: str = "The action") -> None:
        super().__init__(f"{where} {problem}")
        self.problem = problem
        self.position = position


class FormatError(InputError):
    """A stored form (signature, key, idf table, JSON) cannot be read."""


class EngineError(EsSimhashError):
    """An engine, or an index in it, cannot do what was asked.

    If it ``is_of_request``, a server has found a mistake in that, and will again.

    >>> index.find(id="9")
    Traceback (most recent call last):
    es_simhash.errors.MissingError: ...
    """

    is_of_request = False


class UnreachableError(EngineError, ConnectionError):
    """The engine does not answer."""

    may_pass = True


class UntrustedError(UnreachableError):
    """The TLS connection cannot be trusted, or the other side speaks no TLS."""

    may_pass = False


class AccessError(EngineError):
    """The engine refuses the credentials, or they lack a right."""


class ClientVersionError(EngineError):
    """The client does not fit the server."""


class MissingError(EngineError, LookupError):
    """The index, or the document in it, does not exist."""


class MappingError(EngineError):
    """The index's mapping cannot take the fields, or does not have them."""


class SchemeMismatchError(EngineError):
    """The index holds fingerprints of another scheme."""


class IndexStateError(EngineError):
    """The index cannot be read or written in its state: closed, read-only, or several where one is needed."""


class ScriptError(IndexStateError):
    """The engine lacks the module for the language of these scripts, or its settings forbid them."""


class UnavailableError(EngineError):
    """The engine cannot do it now, but may later: it is overloaded, or still starting."""

    may_pass = True


class UnansweredError(UnavailableError):
    """A proxy before the engine has no answer of it; the engine may have done what was asked."""


class TooLargeError(EngineError):
    """A request is larger than the engine, or a proxy before it, accepts."""


class ReaderLostError(EngineError):
    """The engine has dropped the view of an index that was being read: it restarted, or the view expired."""

    may_pass = True


class InUseError(EngineError):
    """Another process is writing to the embedded index, uses a folder of state, or writes groups of the same index."""

    may_pass = True


class WritesLostError(EngineError):
    """The embedded index could not be written; it lacks ``lost`` changes that were reported as written."""

    def __init__(self, message: str, lost: int = 0) -> None:
        super().__init__(message)
        self.lost = lost

    def __reduce__(self) -> tuple[type[WritesLostError], tuple[str, int]]:
        return type(self), (str(self), self.lost)


class KernelError(EsSimhashError):
    """A compiled kernel has a mistake in it, and did not do its work."""


class StorageError(EsSimhashError, OSError):
    """Temporary files, or the state of a gate, cannot be written or read."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra from where this package came: a checkout, or a package index."""
    place = _checkout()
    if place is None:
        return f"pip install 'es-simhash[{extra}]'"
    return f"pip install '{'.' if place == place.cwd() else place}[{extra}]'"


def _checkout() -> Path | None:
    """Return the checkout that this package runs in, or was installed from."""
    import json
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    here = Path(__file__).resolve().parents[1]
    if not (here / "pyproject.toml").is_file():
        # PEP 610: what was installed from a directory, and not from a package index or a wheel.
        origin: Any = json.loads(_metadata("direct_url.json") or "{}")
        here = Path(unquote(urlsplit(origin["url"]).path)) if "dir_info" in origin else here
    return here if (here / "pyproject.toml").is_file() else None


def _metadata(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution("es-simhash").read_text(name)
    except PackageNotFoundError:
        return None


class MissingExtraError(EsSimhashError, ImportError):
    """An optional library is not installed; the message holds the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed. Install it with: {install_command(extra)}")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)
