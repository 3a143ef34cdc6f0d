"""What a server gets from this machine: a loopback port, and an account to run under.

Elasticsearch and OpenSearch refuse to run as root, as which tests run in many containers and CI jobs.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from pathlib import Path
from typing import TypedDict

from .node import NodeError

LOOPBACK = "127.0.0.1"
_MEMORY = Path("/dev/shm")
_ROOM = 2 << 30  # in bytes; the data of a test run is a tenth of it


class Account(TypedDict, total=False):
    """Arguments for `subprocess` that choose the account of the new process; empty: our own."""

    user: int
    group: int
    extra_groups: list[int]


def server_account() -> Account:
    """Our own account, or `nobody` where ours is root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def give_to(account: Account, path: Path) -> None:
    """Make the account the owner of one file or folder."""
    if account:
        os.chown(path, account["user"], account["group"])


def memory_folder() -> Path | None:
    """Return the folder whose files are kept in memory; None where there is none with room, as in many containers."""
    has_room = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    return _MEMORY if has_room else None


def choose_port(wanted: int | None = None) -> int:
    """Return the wanted port if nobody listens on it, or any free one."""
    with socket.socket() as listener:
        # As a server does, take a port whose last connections are still being closed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, wanted or 0))
        except OSError as error:
            raise NodeError(f"Port {wanted} cannot be used ({error.strerror}). Choose another one.") from None
        port: int = listener.getsockname()[1]
        return port
