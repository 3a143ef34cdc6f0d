"""What a process has used of the machine.

What the module `resource` tells would also count what the parent process took before it became this one.
"""

from __future__ import annotations

from pathlib import Path


def peak() -> int:
    """The most memory that this process has had, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
