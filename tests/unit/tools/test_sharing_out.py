"""Which tests run in the same process."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.support.sharing_out import belongs_to


@pytest.mark.parametrize(
    ("test", "where"),
    [
        ("tests/system/live/test_reindex.py::test_a[elasticsearch]", "elasticsearch"),
        ("tests/system/test_index_conformance.py::TestAsyncOpenSearch::test_a", "opensearch"),
        ("tests/system/engines/test_conformance.py::test_a[opensearch client, elasticsearch]", "elasticsearch"),
        ("tests/system/engines/test_clients.py::test_opensearch_needs_a[async elasticsearch client]", "opensearch"),
        ("tests/system/live/test_doctor_security.py::test_a[read-opensearch]", "elasticsearch"),
        ("tests/system/nodes/test_secured.py::test_a", "opensearch with logins"),
        ("tests/system/test_index_faults.py::test_a[opensearch_node]", "opensearch"),
        (
            "tests/system/live/test_erase.py::test_copies_in_a_data_stream_are_deleted_in_the_indices_behind_it",
            "opensearch",
        ),
        ("tests/unit/core/test_humanize.py::test_a", "tests/unit/core/test_humanize.py"),
    ],
)
def test_tests_on_one_kind_of_server_are_together(test: str, where: str) -> None:
    assert belongs_to(ROOT, test) == where
