"""Loopback ports for the nodes."""

from __future__ import annotations

import socket

from .node import NodeError

LOOPBACK = "127.0.0.1"


def choose_port(wanted: int | None = None) -> int:
    """The wanted port if nobody listens on it, or any free one."""
    with socket.socket() as listener:
        # As a server does, take a port whose last connections are still being closed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, wanted or 0))
        except OSError as error:
            raise NodeError(f"Port {wanted} cannot be used ({error.strerror}). Choose another one.") from None
        port: int = listener.getsockname()[1]
        return port
