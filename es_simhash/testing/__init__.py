"""Conformance suites for pytest, which every engine passes. They need pytest, and nothing else imports them."""

from __future__ import annotations

import pytest

# So that a failure in a suite shows the values compared, as in a test file.
pytest.register_assert_rewrite("es_simhash.testing.engine_suite", "es_simhash.testing.index_suite")
