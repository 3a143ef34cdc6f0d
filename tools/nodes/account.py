"""The account that the servers run under.

Elasticsearch and OpenSearch refuse to run as root, as which tests run in many containers and CI jobs.
"""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from pathlib import Path


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
