"""What every node can do, whichever source it came from."""

from __future__ import annotations

import atexit
import os
import ssl
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar, Literal

from .web import Credentials, Reply, send

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .releases import Release

Source = Literal["environment", "docker", "maven"]
Setting = str | int | bool
TIMEOUT_VARIABLE = "ES_SIMHASH_NODE_TIMEOUT"
STOP_SECONDS = 20
"""How long a server may take to end in good order."""
LOG_LINES = 30
_POLL_SECONDS = 0.25
# Code is compiled once, and classes are not verified, which takes OpenSearch a quarter of the time to start.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
# As in OpenSearch's own jvm.options: else requests are refused, as a small heap fills faster than it is collected.
_EARLY = "-XX:G1ReservePercent=25 -XX:InitiatingHeapOccupancyPercent=30"
_HEALTH = "/_cluster/health?wait_for_status=yellow&timeout=5s"


class NodeUnavailable(Exception):  # noqa: N818 - it is not an error: the machine has no way to run this node
    """No source can give the node; `reason` says why in one sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NodeError(Exception):
    """A source that should have given the node failed."""


@dataclass(frozen=True)
class NodeSpec:
    """The release asked for."""

    release: Release
    settings: Mapping[str, Setting] = field(default_factory=dict)
    password: str | None = None
    """Set: security is on, and this is the password of the user `elastic`, or `admin` on OpenSearch."""
    heap: str = "512m"
    port: int | None = None
    """None: any free one."""
    is_measured: bool = False
    """Set: its Java compiles what it does often as well as it can, which takes longer than most tests do."""

    @property
    def is_plain(self) -> bool:
        """Whether a node that somebody else configured would do."""
        return not self.settings and self.password is None and self.port is None

    @property
    def credentials(self) -> Credentials | None:
        name = "admin" if self.release.engine == "opensearch" else "elastic"
        return None if self.password is None else (name, self.password)

    @property
    def java_options(self) -> str:
        """The options for the server's Java."""
        options = f"-Xms{self.heap} -Xmx{self.heap}"
        if not self.is_measured:
            options += f" {_QUICK}"
        if self.release.engine == "opensearch":
            return f"{options} {_EARLY}" if self.is_measured else options
        # Otherwise the index of users is made in the background, and right passwords are refused until it is there.
        return f"{options} -Des.queryable_built_in_roles_enabled=false"

    def server_settings(self) -> dict[str, Setting]:
        """Return the server settings that hold for every source, the caller's own last."""
        settings: dict[str, Setting] = {
            "node.name": self.release.name,
            "discovery.type": "single-node",
            # A developer's disk is often fuller than the 85% at which a node stops taking shards.
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        if self.release.engine == "elasticsearch":
            settings["xpack.security.enabled"] = self.password is not None
        return {**settings, **self.settings}


class Node(ABC):
    """A running node; leaving its `with` block stops it."""

    source: ClassVar[Source]

    ca_certs: Path | None = None
    """The certificate of the authority that signed the node's own, where it speaks TLS."""

    def __init__(self, release: Release, url: str, credentials: Credentials | None = None) -> None:
        self.release = release
        self.url = url
        self.credentials = credentials

    @property
    def password(self) -> str | None:
        """The password of the user `elastic` or `admin`, or of the one in the URL; None where security is off."""
        return None if self.credentials is None else self.credentials[1]

    @property
    def pid(self) -> int | None:
        """The process id of the server itself; None where it is not a process of this machine's own."""
        return None

    def request(self, method: str, path: str, body: object = None, *, anonymous: bool = False) -> Reply:
        """Send one request, with the node's credentials unless `anonymous`."""
        tls = None if self.ca_certs is None else ssl.create_default_context(cafile=self.ca_certs)
        return send(self.url + path, method, body, None if anonymous else self.credentials, tls)

    @abstractmethod
    def is_running(self) -> bool: ...

    @abstractmethod
    def stop(self) -> None:
        """Stop the node and remove its data, if it is ours; a second call does nothing."""

    @abstractmethod
    def restart(self) -> None:
        """Stop the node and start it again with the same data on the same port."""

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __str__(self) -> str:
        return f"{self.release} at {self.url} ({self.source})"


class OwnedNode(Node):
    """A node that we start ourselves, and so must stop whatever happens."""

    def start(self) -> None:
        """Launch the server and wait until it answers; if it does not, leave nothing behind."""
        self.launch()
        try:
            self._await_ready()
        except BaseException:
            self.stop()
            raise

    def launch(self) -> None:
        """Launch the server on the data that is there, and do not wait for it."""
        atexit.register(self.stop)
        try:
            self._launch()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self._halt()
        self._remove()

    def restart(self) -> None:
        self._halt()
        self.start()

    def kill(self) -> None:
        """End the server as a power failure does, and keep its data."""
        raise NodeError(f"{self} is not a process of ours, so that it cannot be killed. Run the node without Docker.")

    @abstractmethod
    def log_tail(self, lines: int = LOG_LINES) -> str:
        """Return the last lines that the server logged."""

    @abstractmethod
    def _launch(self) -> None:
        """Start the server on the data that is there."""

    @abstractmethod
    def _halt(self) -> None:
        """Stop the server, if it runs, and keep its data."""

    @abstractmethod
    def _remove(self) -> None:
        """Remove everything that the stopped server left."""

    def _await_ready(self) -> None:
        timeout = start_timeout()
        deadline = time.monotonic() + timeout
        while not self._answers():
            if not self.is_running():
                raise NodeError(f"{self.release} ended while it was starting. Its log ends:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise NodeError(
                    f"{self.release} did not answer at {self.url} within {timeout:g} seconds. "
                    f"Its log ends:\n{self.log_tail()}\n"
                    f"If the machine is only slow, give it longer with {TIMEOUT_VARIABLE}."
                )
            time.sleep(_POLL_SECONDS)

    def _answers(self) -> bool:
        try:
            return self.request("GET", _HEALTH).status == HTTPStatus.OK
        except OSError:
            return False


def start_timeout() -> float:
    """How long a node may take to start, in seconds."""
    text = os.environ.get(TIMEOUT_VARIABLE) or "90"
    try:
        return float(text)
    except ValueError:
        raise NodeError(f"{TIMEOUT_VARIABLE} is {text!r}, which is not a number. Set it to seconds.") from None
