"""Conformance suites for pytest, which every engine passes. They need pytest, and nothing else imports them."""

from __future__ import annotations

import pytest

# So that a failure in a suite shows the values compared, as in a test file.
_SUITES = ("engine_base", "engine_suite", "reader_suite", "index_base", "index_suite", "backfill_suite")
pytest.register_assert_rewrite(*(f"es_simhash.testing.{suite}" for suite in _SUITES))
