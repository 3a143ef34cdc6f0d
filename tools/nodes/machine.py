"""What a server gets from this machine: a loopback port, and an account to run under.

Elasticsearch and OpenSearch refuse to run as root, as which tests run in many containers and CI jobs.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import socket
from pathlib import Path
from typing import TypedDict

from .node import NodeError

LOOPBACK = "127.0.0.1"
_MEMORY = Path("/dev/shm")
_ROOM = 2 << 30  # in bytes; the data of a test run is a tenth of it
# Ports that no system gives to clients by itself; and how many are tried.
_NOT_FOR_CLIENTS, _TRIED = range(10_000, 32_768), 100


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
    if wanted is not None:
        if problem := _why_not(wanted):
            raise NodeError(f"Port {wanted} cannot be used ({problem}). Choose another one.")
        return wanted
    # Other ones are given to clients' connections, while the server that is to listen on it starts.
    for port in random.sample(_NOT_FOR_CLIENTS, _TRIED):
        if not _why_not(port):
            return port
    raise NodeError(f"Of {_TRIED} ports below {_NOT_FOR_CLIENTS.stop} none can be used. Choose one.")


def _why_not(port: int) -> str | None:
    """Return why a server cannot listen on a port."""
    with socket.socket() as listener:
        # As a server does, take a port whose last connections are still being closed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            return error.strerror
    return None
