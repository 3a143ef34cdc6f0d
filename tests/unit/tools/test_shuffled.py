"""Tests run in the order in which a seed puts them."""

from __future__ import annotations

import pytest

from tests.support import shuffled

pytest_plugins = ["pytester"]

FILES = {"test_one": "abcdefgh", "test_two": "ijklmnop"}


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(
        **{file: "".join(f"def test_{name}(): pass\n" for name in names) for file, names in FILES.items()}
    )
    return pytester


def order(folder: pytest.Pytester, *options: str) -> list[str]:
    result = folder.runpytest_inprocess("-p", shuffled.__name__, "--collect-only", "-q", *options)
    return [line for line in result.outlines if "::" in line]


def test_each_seed_gives_an_order_of_its_own(folder: pytest.Pytester) -> None:
    orders = [order(folder, *options) for options in ((), ("--shuffled", "1"), ("--shuffled", "2"))]
    assert len({tuple(each) for each in orders}) == 3
    assert len({tuple(sorted(each)) for each in orders}) == 1
    assert order(folder, "--shuffled", "1") == orders[1]


def test_tests_of_a_file_stay_together(folder: pytest.Pytester) -> None:
    files = [each.partition("::")[0] for each in order(folder, "--shuffled", "1")]
    assert files in ([*["test_one.py"] * 8, *["test_two.py"] * 8], [*["test_two.py"] * 8, *["test_one.py"] * 8])
