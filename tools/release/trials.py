"""What users do with the distributions, in environments that have nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools import ROOT
from tools.release.building import checksums
from tools.release.commands import TOOLS, run
from tools.release.sources import epoch
from tools.release.version import ReleaseError

_DEMO = ("dedup", str(ROOT / "examples" / "news.jsonl"))
# Both ways make the same fingerprint, and the compiled one is taken.
_KERNELS = """
import os
from es_simhash import Scheme
from es_simhash._core.environment import native
assert native() is not None, "the compiled kernels are not found"
text = "The quick brown fox jumps over the lazy dog. " * 9
compiled = Scheme().fingerprint(text).simhash
os.environ["ES_SIMHASH_NATIVE"] = "0"
assert Scheme().fingerprint(text).simhash == compiled
"""


def plain_python(folder: Path) -> Path:
    """Return the Python of the environment that `by_uv` installs in: our wheel and what it requires."""
    return folder / "tools" / "es-simhash" / "bin" / "python"


def by_uvx(dist: Path, version: str, folder: Path) -> None:
    """uvx --from dist/*.whl es-simhash dedup examples/news.jsonl"""
    run("uv", "tool", "run", "--isolated", "--from", _wheel(dist), "es-simhash", *_DEMO, cwd=folder)


def by_uv(dist: Path, version: str, folder: Path) -> None:
    """uv tool install dist/*.whl"""
    programs = folder / "programs"
    settings = {"UV_TOOL_DIR": folder / "tools", "UV_TOOL_BIN_DIR": programs}
    run("uv", "tool", "install", "--python", TOOLS / "python", _wheel(dist), cwd=folder, settings=settings)
    _check_version(programs, version)


def by_pipx(dist: Path, version: str, folder: Path) -> None:
    """pipx install dist/*.whl"""
    programs = folder / "pipx-programs"
    settings = {"PIPX_HOME": folder / "pipx", "PIPX_BIN_DIR": programs, "PIPX_MAN_DIR": folder / "pipx-pages"}
    run("pipx", "install", _wheel(dist), cwd=folder, settings=settings)
    _check_version(programs, version)


def with_kernels(dist: Path, version: str, folder: Path) -> None:
    """pip install 'es-simhash[native]', both wheels from dist/"""
    python = _environment(folder / "with-kernels")
    run(
        "uv", "pip", "install", "--python", python, "--find-links", dist, "--reinstall-package", "es-simhash",
        "--only-binary", ":all:", f"es-simhash[native]=={version}", cwd=folder,
    )  # fmt: skip
    run(python, "-c", _KERNELS, cwd=folder)
    run(python, "-m", "es_simhash", *_DEMO, cwd=folder)


def from_sdists(dist: Path, version: str, folder: Path) -> None:
    """both sdists build wheels without network, ours byte for byte"""
    out = folder / "of-sdists"
    settings: dict[str, str | Path] = {
        "UV_OFFLINE": "1",
        "CARGO_NET_OFFLINE": "true",
        "CARGO_TARGET_DIR": folder / "target",
        "SOURCE_DATE_EPOCH": epoch(ROOT),
    }
    for sdist in sorted(dist.glob("*.tar.gz")):
        run(
            "uv", "build", "--wheel", "--no-build-isolation", "--python", TOOLS / "python", "--out-dir", out, sdist,
            cwd=folder, settings=settings,
        )  # fmt: skip
    name = _wheel(dist).name
    if checksums(dist)[name] != checksums(out)[name]:
        raise ReleaseError(f"The sdist makes another {name} than the sources. Compare what the two contain.")
    [kernels] = out.glob("es_simhash_native-*.whl")
    python = _environment(folder / "of-sdists-tried")
    run("uv", "pip", "install", "--python", python, out / name, kernels, cwd=folder)
    run(python, "-c", _KERNELS, cwd=folder)


def by_twine(dist: Path, version: str, folder: Path) -> None:
    """twine check --strict dist/*"""
    run("twine", "check", "--strict", *sorted(dist.iterdir()), cwd=folder)


def _wheel(dist: Path) -> Path:
    [wheel] = dist.glob("es_simhash-*.whl")
    return wheel


def _environment(folder: Path) -> Path:
    """Make an environment without packages, and return its Python."""
    run("uv", "venv", "--python", TOOLS / "python", folder, cwd=folder.parent)
    return folder / "bin" / "python"


def _check_version(programs: Path, version: str) -> None:
    printed = run(programs / "es-simhash", "--version", cwd=programs)
    if printed != f"es-simhash, version {version}\n":
        raise ReleaseError(f"es-simhash --version prints {printed!r}, not {version}. Look at what was installed.")


ALL: tuple[Callable[[Path, str, Path], None], ...] = (by_uvx, by_uv, by_pipx, with_kernels, from_sdists, by_twine)
