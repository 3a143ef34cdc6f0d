"""The command that installs an extra works where this package came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from es_simhash import errors
from es_simhash.errors import MissingExtraError, install_command
from tests import ROOT


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, origin: dict[str, object] | None) -> None:
    """As if the package were in a folder of packages, installed from somewhere."""
    monkeypatch.setattr(errors, "__file__", str(folder / "es_simhash" / "errors.py"))
    monkeypatch.setattr(errors, "_metadata", lambda _: origin and json.dumps(origin))


def test_in_a_checkout_it_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    assert install_command("mcp") == "pip install '.[mcp]'"
    monkeypatch.chdir(tmp_path)
    assert install_command("mcp") == f"pip install '{ROOT}[mcp]'"


def test_a_copy_installed_from_a_checkout_knows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    origin: dict[str, object] = {"url": checkout.as_uri(), "dir_info": {}}
    installed(monkeypatch, tmp_path / "site-packages", origin)
    assert install_command("mcp") == f"pip install '{checkout}[mcp]'"
    (checkout / "pyproject.toml").unlink()
    assert install_command("mcp") == "pip install 'es-simhash[mcp]'"


@pytest.mark.parametrize("origin", [None, {"url": "file:///a/es_simhash.whl", "archive_info": {}}])
def test_a_release_is_installed_from_the_package_index(
    origin: dict[str, object] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed(monkeypatch, tmp_path, origin)
    assert install_command("mcp") == "pip install 'es-simhash[mcp]'"
    assert (
        str(MissingExtraError("mcp", "mcp")) == "mcp is not installed. Install it with: pip install 'es-simhash[mcp]'"
    )
