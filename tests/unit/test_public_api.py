from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import es_simhash
from es_simhash import errors

PACKAGES = [
    "es_simhash",
    "es_simhash.gate",
    "es_simhash.quality",
    "es_simhash.sketches",
    "es_simhash.text",
]
if find_spec("pyspark"):
    PACKAGES.append("es_simhash.integrations.spark")


@pytest.mark.parametrize("name", PACKAGES)
def test_all_names_what_is_public(name: str) -> None:
    """What type checkers see, what is loaded when it is asked for, and what is documented are the same."""
    package = import_module(name)
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    imported = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {(f"es_simhash.{module}", each) for module, names in package._NAMES.items() for each in names.split()}
    assert imported == loaded
    version = {"__version__"} if name == "es_simhash" else set()
    assert sorted({each for _, each in imported} | version) == sorted(package.__all__) == dir(package)
    assert all(getattr(package, each) is not None for each in package.__all__)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        es_simhash.no_such_name  # noqa: B018


def test_dedup_of_texts_loads_no_engine_and_no_jobs_of_indices() -> None:
    code = (
        "import sys; from es_simhash import dedup; dedup(['The ferry leaves at noon. ' * 9] * 2); "
        "print([name for name in sys.modules if name.startswith(('tantivy', 'es_simhash.live', 'es_simhash.index'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"[]\n"


def test_nothing_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys, es_simhash; print([name for name in sys.modules if name.startswith(('numpy', 'es_simhash.'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['es_simhash._core', 'es_simhash._version']\n"


def test_every_exception_is_public_and_below_one_root() -> None:
    tree = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(each, errors.EsSimhashError) for each in tree)
    assert all(each.__name__ in (errors.__doc__ or "") for each in tree)


def test_the_core_works_with_numpy_alone() -> None:
    """A process in which no optional library can be imported."""
    clients = ["elasticsearch", "opensearchpy", "tantivy"]
    optional = [*clients, "es_simhash_native", "mmh3", "jieba", "rjieba", "selectolax", "pyarrow"]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
        "from es_simhash import Scheme\n"
        "print(Scheme.preset('default').fingerprint('…'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Fingerprint(")
