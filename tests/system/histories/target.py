"""The target of histories: a server, or a directory of the embedded engine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from es_simhash.plans.operations import Operation
from tests.system.histories.course import Course
from tests.system.histories.history import Blow
from tools.nodes.web import Reply

Result = TypeVar("Result")


class Target(Protocol):
    """The engine of an index, with its ``url``. Servers number the versions of documents, and route them."""

    @property
    def url(self) -> str: ...

    @property
    def is_server(self) -> bool: ...

    @property
    def is_cluster(self) -> bool:
        """Whether nodes may fail, so that nobody can know how often a document was written."""
        ...

    @property
    def patience(self) -> float:
        """How long commands try again, in seconds."""
        ...

    def undergo(self, blow: Blow, index: str) -> None:
        """Have something happen to the nodes of a cluster."""
        ...

    def settle(self, index: str) -> None:
        """Wait until nothing is under way any more, and an index is whole."""
        ...

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        """Send a request of somebody else than the command."""
        ...

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation of somebody else than the command."""
        ...

    def meeting(self, course: Course) -> AbstractContextManager[None]:
        """Within it, commands meet with what happens in a course."""
        ...
