"""The distributions: sdists, a wheel for every machine, and wheels with the compiled kernels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tools import ROOT
from tools.release.commands import TOOLS, run
from tools.release.sources import epoch
from tools.release.version import ReleaseError

# What zig links for, on any machine with Linux; others are built by their own machines in CI.
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
# The oldest glibc that Rust supports is the one of this policy.
_POLICY = "manylinux_2_17"


def targets_here() -> list[str]:
    """Return the targets whose standard library the Rust of this machine has."""
    libraries = Path(run("rustc", "--print", "sysroot", cwd=ROOT).strip()) / "lib" / "rustlib"
    return [target for target in TARGETS if (libraries / target).is_dir()]


def build(sources: Path, out: Path, targets: Sequence[str]) -> None:
    """Build all distributions of the sources into a folder."""
    out.mkdir(parents=True)
    date = {"SOURCE_DATE_EPOCH": epoch(ROOT)}
    run(
        "uv", "build", "--no-build-isolation", "--no-create-gitignore", "--python", TOOLS / "python", "--out-dir", out,
        cwd=sources, settings=date,
    )  # fmt: skip
    native = sources / "native"
    compiled = date | _without_paths(sources)
    run("maturin", "sdist", "--out", out, cwd=native, settings=compiled)
    for target in targets:
        run(
            "maturin", "build", "--release", "--locked", "--zig", "--target", target, "--compatibility", _POLICY,
            "--out", native / "built", cwd=native, settings=compiled,
        )  # fmt: skip
    for wheel in sorted(native.glob("built/*.whl")):
        _repack(wheel, sources, out, date)


def _repack(wheel: Path, sources: Path, out: Path, date: Mapping[str, str]) -> None:
    """Write a wheel whose SBOM, which maturin makes, does not name the folder of the build."""
    folder = wheel.with_suffix("")
    run("wheel", "unpack", "--dest", folder, wheel, cwd=wheel.parent)
    for sbom in folder.glob("*/*.dist-info/sboms/*.json"):
        sbom.write_text(sbom.read_text(encoding="utf-8").replace(str(sources), "/source"), encoding="utf-8")
    [unpacked] = folder.iterdir()
    run("wheel", "pack", "--dest-dir", out, unpacked, cwd=wheel.parent, settings=date)


def check_same(first: Path, second: Path) -> None:
    """Refuse two folders whose files differ in a name or a byte."""
    mine, other = checksums(first), checksums(second)
    if different := sorted(name for name in mine.keys() | other.keys() if mine.get(name) != other.get(name)):
        raise ReleaseError(f"Two builds differ in {', '.join(different)}. Find out what they take from the machine.")


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder, by name."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _without_paths(sources: Path) -> dict[str, str]:
    """Keep the folders of this machine out of what Rust compiles."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    places = {cargo: "/cargo", str(sources): "/source"}
    flags = [f"--remap-path-prefix={path}={name}" for path, name in places.items()]
    return {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags), "CARGO_TARGET_DIR": str(sources / "native" / "target")}
