from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import es_simhash
from es_simhash import errors


def test_all_names_what_is_public() -> None:
    names = {name for name, value in vars(es_simhash).items() if not isinstance(value, ModuleType)}
    public = {name for name in names if not name.startswith("_")}
    assert set(es_simhash.__all__) == public | {"__version__"}


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
