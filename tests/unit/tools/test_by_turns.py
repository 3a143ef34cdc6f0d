"""Which tests on a server `make test` leaves to the other one."""

from __future__ import annotations

from tests.support.by_turns import SERVERS, not_in_turn, turn

FILE = "tests/system/plans/test_scopes.py"
OTHER = next(file for file in (f"tests/system/test_{name}.py" for name in "abcdef") if turn(file) != turn(FILE))


def test_all_tests_of_a_file_that_are_on_both_servers_are_on_one_of_them() -> None:
    tests = [f"{FILE}::test_a[{name}-{server}]" for name in "ab" for server in ("embedded", *SERVERS)]
    left = [test for test in tests if test not in set(not_in_turn(tests))]
    assert left == [f"{FILE}::test_a[{name}-{server}]" for name in "ab" for server in ("embedded", SERVERS[turn(FILE)])]


def test_each_server_has_its_turn() -> None:
    tests = [f"{file}::test_a[{server}]" for file in (FILE, OTHER) for server in SERVERS]
    assert {test.partition("[")[2] for test in not_in_turn(tests)} == {f"{server}]" for server in SERVERS}


def test_classes_and_clients_of_both_are_twins() -> None:
    for names in (
        ("TestAsyncElasticsearch::test_a", "TestAsyncOpenSearch::test_a"),
        ("test_a[elasticsearch client, elasticsearch]", "test_a[opensearch client, opensearch]"),
    ):
        tests = [f"{FILE}::{name}" for name in names]
        assert list(not_in_turn(tests)) == [tests[1 - turn(FILE)]]


def test_what_is_on_one_server_alone_is_not_left_out() -> None:
    tests = [
        f"{FILE}::test_of_opensearch",
        f"{FILE}::test_a[opensearch-x]",
        f"{FILE}::test_a[elasticsearch-y]",
        f"{FILE}::test_b[elasticsearch8_node]",
        f"{FILE}::test_b[opensearch2_node]",
    ]
    assert list(not_in_turn(tests)) == []
