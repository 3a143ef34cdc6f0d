"""The wheel and the sdist are complete, and the wheel alone works in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest

from es_simhash import __version__
from tests import ROOT
from tests.system.installed.conftest import Built, run

# A use of each extra; `native` is used silently where it is there, and `aws` needs credentials to come so far.
USES = {
    "elasticsearch": "Index('articles', 'https://localhost:1')",
    "opensearch": "connect('https://localhost:1', distribution='opensearch')",
    "chinese": "Scheme.preset('chinese-keywords').fingerprint('中文')",
    "fast": "Scheme(tokens=Chinese(backend='rjieba')).fingerprint('中文')",
    "html": "Scheme(html=True).fingerprint('<p>text')",
    "murmur3": "Scheme(hash='murmur3').fingerprint('text')",
    "parquet": "list(read_documents(['texts.parquet'], on_reject=print))",
    "spark": "importlib.import_module('es_simhash.integrations.spark')",
}
if sys.version_info < (3, 14):  # from then on Python reads zstd itself
    USES["zstd"] = "list(read_documents(['texts.jsonl.zst'], on_reject=print))"


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sources(*folders: str) -> set[str]:
    """List the files of the repository, added or not."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *folders, cwd=ROOT)
    return set(listed.splitlines())


def metadata(wheel: Path, folder: Path) -> Distribution:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    [found] = folder.glob("*.dist-info")
    return PathDistribution(found)


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    names = {name for name in contents(built.wheel) if ".dist-info/" not in name}
    assert "es_simhash/py.typed" in names
    assert names == sources("es_simhash")


def test_the_sdist_holds_every_file_that_is_not_for_this_repository_alone(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    of_the_repository = (".ci/", ".github/", ".pre-commit-config.yaml")
    assert names == {name for name in sources() if not name.startswith(of_the_repository)} | {"PKG-INFO"}


def test_the_sdist_makes_the_same_wheel_byte_for_byte(built: Built) -> None:
    assert built.wheel.name == built.wheel_of_sdist.name
    assert contents(built.wheel) == contents(built.wheel_of_sdist)


def test_the_metadata_names_the_licenses_and_the_readme(built: Built, tmp_path: Path) -> None:
    found = metadata(built.wheel, tmp_path)
    assert found.version == __version__
    assert found.metadata["License-Expression"] == "Apache-2.0 AND Unicode-3.0"
    assert found.metadata["Description-Content-Type"] == "text/markdown"
    # Tables of the wheel are made of the Unicode Character Database, whose licence goes with them.
    for name in ("LICENSE", "UNICODE-LICENSE"):
        assert found.read_text(f"licenses/{name}") == (ROOT / name).read_text(encoding="utf-8")


def test_the_command_prints_its_version(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "es-simhash", "--version", cwd=tmp_path) == f"es-simhash, version {__version__}\n"


def test_near_duplicates_among_the_stories_of_the_example_are_found(installed: Path, tmp_path: Path) -> None:
    *groups, last = run(
        installed / "es-simhash", "dedup", str(ROOT / "examples" / "news.jsonl"), "--json", cwd=tmp_path
    ).splitlines()
    assert json.loads(last)["summary"]["groups"] == len(groups) == 9
    assert list(tmp_path.iterdir()) == []


def test_every_module_is_imported_without_extras_but_those_made_for_one(installed: Path, tmp_path: Path) -> None:
    program = (
        "import importlib, json, pkgutil, es_simhash\n"
        "failed = {}\n"
        "for module in pkgutil.walk_packages(es_simhash.__path__, 'es_simhash.', onerror=lambda name: None):\n"
        "    if module.name != 'es_simhash.__main__':\n"
        "        try:\n"
        "            importlib.import_module(module.name)\n"
        "        except ImportError as error:\n"
        "            failed[module.name] = [type(error).__name__, getattr(error, 'extra', error.name)]\n"
        "print(json.dumps(failed))"
    )
    failed = json.loads(run(installed / "python", "-c", program, cwd=tmp_path))
    assert failed == {
        "es_simhash.integrations.spark": ["MissingExtraError", "spark"],
        "es_simhash.gate.server": ["MissingExtraError", "gate"],
        **{
            f"es_simhash.integrations.{extra.replace('-', '_')}": ["MissingExtraError", extra]
            for extra in ("haystack", "langchain", "llama-index", "mcp")
        },
    }


@pytest.mark.parametrize("extra", USES)
def test_what_needs_an_extra_names_the_command_that_installs_it(
    built: Built, installed: Path, tmp_path: Path, extra: str
) -> None:
    (tmp_path / "texts.parquet").write_bytes(b"PAR1")
    (tmp_path / "texts.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd, and what follows the magic number")
    program = (
        "import importlib\n"
        "from es_simhash import *\n"
        "from es_simhash.text import *\n"
        "from es_simhash.errors import MissingExtraError\n"
        "from es_simhash.documents.files import read_documents\n"
        f"try: {USES[extra]}\n"
        "except MissingExtraError as error: print(error)"
    )
    message = run(installed / "python", "-c", program, cwd=tmp_path)
    assert message.endswith(f" is not installed. Install it with: pip install 'es-simhash[{extra}]'\n")
    assert extra in (metadata(built.wheel, tmp_path / "wheel").metadata.get_all("Provides-Extra") or [])


def test_type_checkers_see_the_types(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "from es_simhash import Scheme\nreveal_type(Scheme().fingerprint('text'))\nScheme(floor='4')\n"
    )
    command = [sys.executable, "-m", "mypy", "--python-executable", str(installed / "python"), "user.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert 'Revealed type is "es_simhash.scheme.fingerprinting.Fingerprint"' in done.stdout, done.stdout + done.stderr
    assert 'incompatible type "str"' in done.stdout
