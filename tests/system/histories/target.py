"""The target of histories: a server, or a directory of the embedded engine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from es_simhash.plans.operations import Operation
from tests.system.histories.course import Course
from tools.nodes.web import Reply

Result = TypeVar("Result")


class Target(Protocol):
    """The engine of an index, with its ``url``. Servers number the versions of documents, and route them."""

    @property
    def url(self) -> str: ...

    @property
    def is_server(self) -> bool: ...

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        """Send a request of somebody else than the command."""
        ...

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation of somebody else than the command."""
        ...

    def meeting(self, course: Course) -> AbstractContextManager[None]:
        """Within it, commands meet with what happens in a course."""
        ...
