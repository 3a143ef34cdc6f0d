"""The exceptions that es_simhash raises.

    EsSimhashError
    ├── SchemeError        a scheme, or one of its settings, cannot be used      (also a ValueError)
    ├── InputError         something that was given cannot be used               (also a ValueError)
    │   ├── TextError          a text, or its tokens
    │   ├── WeightError        a weight, or a value of a vector
    │   ├── HashError          a hash, or a custom hash function's result
    │   ├── DocumentError      a document, or an action of a bulk request
    │   └── FormatError        a stored form: signature, key, idf table, JSON
    ├── EngineError        an index engine, or an index in it, cannot do what was asked
    │   ├── UnreachableError   the engine does not answer
    │   ├── AccessError        the engine refuses the credentials, or what they may do
    │   ├── ClientVersionError the client does not fit the server
    │   ├── MissingError       there is no such index, or no such document in it
    │   ├── MappingError       the index's mapping cannot take the fields, or has none
    │   ├── SchemeMismatchError  the index holds fingerprints of another scheme
    │   ├── IndexStateError    the index cannot be read or written as it is: closed, read-only, ambiguous
    │   │   └── ScriptError        the engine runs no such scripts: it lacks the module, or forbids them
    │   ├── UnavailableError   the engine cannot do it now, but may later: it is overloaded, or starting
    │   ├── TooLargeError      a request is larger than the engine, or a proxy before it, takes
    │   ├── ReaderLostError    the engine has forgotten the view of an index that was being read
    │   ├── InUseError         another process is writing to the embedded index
    │   └── WritesLostError    the embedded index could not be written, and lacks what was reported as written
    ├── WorkerError        a worker process ended before its work was done
    ├── StorageError       what lies in temporary files cannot be written or read  (also an OSError)
    └── MissingExtraError  an optional library is not installed                  (also an ImportError)

Every message says what happened, to what, and ends with what to do next.
"""

from __future__ import annotations


class EsSimhashError(Exception):
    """The root of all exceptions of this package."""


class SchemeError(EsSimhashError, ValueError):
    """A scheme, or one of its settings, cannot be used."""


class InputError(EsSimhashError, ValueError):
    """Something that the caller gave cannot be used; ``position`` is the place of its text among those given."""

    def __init__(self, problem: str, position: int | None = None) -> None:
        super().__init__(problem if position is None else f"Text {position} {problem}")
        self.problem = problem
        self.position = position

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None]]:
        return type(self), (self.problem, self.position)


class TextError(InputError):
    """A text or its tokens cannot be fingerprinted."""


class WeightError(InputError):
    """A weight, or a value of a numeric vector, cannot be used."""


class HashError(InputError):
    """A hash is out of its range, or a custom hash function returned no usable value."""


class DocumentError(InputError):
    """A document, or an action of a bulk request, has no text where it should, or cannot be read."""


class FormatError(InputError):
    """A stored form (signature, key, idf table, JSON) cannot be read."""


class EngineError(EsSimhashError):
    """An index engine, or an index in it, cannot do what was asked."""


class UnreachableError(EngineError, ConnectionError):
    """The engine does not answer."""


class AccessError(EngineError):
    """The engine refuses the credentials, or what they may do."""


class ClientVersionError(EngineError):
    """The client does not fit the server."""


class MissingError(EngineError, LookupError):
    """There is no such index, or no such document in it."""


class MappingError(EngineError):
    """The index's mapping cannot take the fields, or does not have them."""


class SchemeMismatchError(EngineError):
    """The index holds fingerprints of another scheme."""


class IndexStateError(EngineError):
    """The index cannot be read or written as it is: closed, read-only, or several where one is needed."""


class ScriptError(IndexStateError):
    """The engine runs no such scripts: it lacks the module for their language, or its settings forbid them."""


class UnavailableError(EngineError):
    """The engine cannot do it now, but may later: it has too much to do, or is still starting."""


class TooLargeError(EngineError):
    """A request is larger than the engine, or a proxy before it, takes."""


class ReaderLostError(EngineError):
    """The engine has forgotten the view of an index that was being read: it was restarted, or waited too long."""


class InUseError(EngineError):
    """Another process is writing to the embedded index."""


class WritesLostError(EngineError):
    """The embedded index could not be written; ``lost`` changes that were reported as written are not in it."""

    def __init__(self, message: str, lost: int = 0) -> None:
        super().__init__(message)
        self.lost = lost

    def __reduce__(self) -> tuple[type[WritesLostError], tuple[str, int]]:
        return type(self), (str(self), self.lost)


class WorkerError(EsSimhashError):
    """A worker process ended before its work was done."""


class StorageError(EsSimhashError, OSError):
    """What is kept in temporary files cannot be written or read."""


class MissingExtraError(EsSimhashError, ImportError):
    """An optional library is not installed; the message holds the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed. Install it with: pip install 'es-simhash[{extra}]'")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)
