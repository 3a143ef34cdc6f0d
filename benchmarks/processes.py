"""Memory of a process; the module `resource` would include that of the parent before the fork."""

from __future__ import annotations

from pathlib import Path


def peak() -> int:
    """Return the peak memory of this process, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
