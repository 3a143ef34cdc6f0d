from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import es_simhash
from es_simhash import errors


def test_all_names_what_is_public() -> None:
    """What type checkers see, what is loaded when it is asked for, and what is documented are the same."""
    tree = ast.parse(Path(es_simhash.__file__).read_text(encoding="utf-8"))
    imported = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {(f"es_simhash.{module}", name) for name, module in es_simhash._HOMES.items()}
    assert imported == loaded
    assert sorted({name for _, name in imported} | {"__version__"}) == sorted(es_simhash.__all__) == dir(es_simhash)
    assert all(getattr(es_simhash, name) is not None for name in es_simhash.__all__)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        es_simhash.no_such_name  # noqa: B018


def test_nothing_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys, es_simhash; print([name for name in sys.modules if name.startswith(('numpy', 'es_simhash.'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['es_simhash._version']\n"


def test_every_exception_is_public_and_below_one_root() -> None:
    tree = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(each, es_simhash.EsSimhashError) for each in tree)
    assert {each.__name__ for each in tree} <= set(es_simhash.__all__)
    assert all(each.__name__ in (errors.__doc__ or "") for each in tree)


def test_the_core_works_with_numpy_alone() -> None:
    """A process in which no optional library can be imported."""
    optional = ["numba", "mmh3", "jieba", "rjieba", "selectolax", "elasticsearch", "opensearchpy", "tantivy"]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
        "from es_simhash import Scheme\n"
        "print(Scheme.preset('default').fingerprint('…'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Fingerprint(")
