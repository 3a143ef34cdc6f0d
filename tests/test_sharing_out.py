"""Which tests run in the same process."""

from __future__ import annotations

import pytest

from tests.documentation import ROOT
from tests.sharing_out import belongs_to


@pytest.mark.parametrize(
    ("test", "where"),
    [
        ("tests/test_reindex.py::test_a[elasticsearch]", "elasticsearch"),
        ("tests/test_index_conformance.py::TestAsyncOpenSearch::test_a", "opensearch"),
        ("tests/test_engines_conformance.py::test_a[opensearch client, elasticsearch]", "elasticsearch"),
        ("tests/test_engines_clients.py::test_opensearch_needs_a[async elasticsearch client]", "opensearch"),
        ("tests/test_doctor_security.py::test_a[read-opensearch]", "elasticsearch"),
        ("tests/test_index_faults.py::test_a[opensearch_node]", "opensearch"),
        ("tests/test_wording.py::test_a", "tests/test_wording.py"),
    ],
)
def test_tests_on_one_kind_of_server_are_together(test: str, where: str) -> None:
    assert belongs_to(ROOT, test) == where
