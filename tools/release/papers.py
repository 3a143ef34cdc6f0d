"""What comes with the distributions: an SBOM by cyclonedx-bom, and checksums for `sha256sum --check`."""

from __future__ import annotations

from pathlib import Path

from tools.release.building import checksums
from tools.release.commands import TOOLS, run

_SUMS = "SHA256SUMS"


def write(dist: Path, version: str, python: Path) -> None:
    """Write both into the folder; the SBOM lists what an installation of ours has, which ``python`` belongs to.

    The crates are listed in the wheels with kernels, by maturin.
    """
    sbom = dist / f"es_simhash-{version}.cdx.json"
    run(
        TOOLS / "cyclonedx-py", "environment", "--output-reproducible", "--output-format", "JSON",
        "--output-file", sbom, python, cwd=dist,
    )  # fmt: skip
    write_checksums(dist)


def write_checksums(dist: Path) -> None:
    """List the checksums of what is in the folder."""
    lines = [f"{digest}  {name}\n" for name, digest in checksums(dist).items() if name != _SUMS]
    (dist / _SUMS).write_text("".join(lines), encoding="ascii")
