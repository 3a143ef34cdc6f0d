"""The compiled kernels are taken where they are installed, wanted, and of this version."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from types import ModuleType

import pytest

from es_simhash import __version__
from es_simhash._core import environment as module
from es_simhash._core.environment import native
from tests import ROOT


@pytest.fixture(autouse=True)
def _ask_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ES_SIMHASH_NATIVE", raising=False)
    module._installed.cache_clear()
    yield
    module._installed.cache_clear()


def of_version(version: str, interface: str = module._INTERFACE) -> ModuleType:
    found = ModuleType("es_simhash_native")
    vars(found).update(__version__=version, __interface__=interface)
    return found


def test_kernels_of_this_version_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "es_simhash_native", of_version(__version__))
    assert native() is sys.modules["es_simhash_native"]


def test_kernels_of_another_version_are_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "es_simhash_native", of_version("0.0.9"))
    with pytest.warns(RuntimeWarning, match=f"0.0.9 does not match.*pip install es-simhash-native=={__version__}"):
        assert native() is None


@pytest.mark.parametrize("interface", ["", "0123456789ab"])
def test_another_build_of_this_version_is_left_out(interface: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_version(__version__, interface)
    monkeypatch.setitem(sys.modules, "es_simhash_native", found)
    with pytest.warns(RuntimeWarning, match="other sources.*make native"):
        assert native() is None
    del found.__interface__  # as in builds before there was one
    module._installed.cache_clear()
    with pytest.warns(RuntimeWarning, match="other sources.*make native"):
        assert native() is None


def test_the_interface_is_known_by_its_stub_on_both_sides() -> None:
    stub = (ROOT / "native" / "es_simhash_native.pyi").read_bytes()
    assert sha256(stub).hexdigest()[:12] == module._INTERFACE
    assert f'"{module._INTERFACE}"' in (ROOT / "native" / "binding" / "src" / "lib.rs").read_text(encoding="utf-8")


def test_without_them_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "es_simhash_native", None)
    assert native() is None


def test_the_environment_can_do_without_them_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "es_simhash_native", of_version(__version__))
    assert native()
    monkeypatch.setenv("ES_SIMHASH_NATIVE", "0")
    assert native() is None


def test_the_installed_kernels_are_of_this_version() -> None:
    installed = pytest.importorskip("es_simhash_native")
    assert (installed.__version__, installed.__interface__) == (__version__, module._INTERFACE)


@pytest.mark.parametrize(
    ("copy", "original"),
    [("LICENSE", "LICENSE"), ("UNICODE-LICENSE", "UNICODE-LICENSE")],
)
def test_the_distribution_of_the_kernels_has_the_same_licences(copy: str, original: str) -> None:
    assert (ROOT / "native" / copy).read_bytes() == (ROOT / original).read_bytes()


def test_both_distributions_have_one_version() -> None:
    manifest = (ROOT / "native" / "Cargo.toml").read_text(encoding="utf-8")
    requirements = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in manifest
    assert f'"es-simhash-native=={__version__}"' in requirements
