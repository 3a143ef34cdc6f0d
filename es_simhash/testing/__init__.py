"""Conformance suites for pytest, which every engine passes, and a corpus to try things with."""

from __future__ import annotations

import sys

from es_simhash._core.exports import lazily

if "pytest" in sys.modules:
    # A failure in a suite then shows the values compared, as in a test file.
    _SUITES = ("engine_base", "engine_suite", "reader_suite", "index_base", "index_suite", "backfill_suite")
    sys.modules["pytest"].register_assert_rewrite(*(f"{__name__}.{suite}" for suite in _SUITES))

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.cli.demo.corpus import make_corpus
    from es_simhash.testing.backfill_suite import BackfillSuite
    from es_simhash.testing.engine_suite import EngineSuite
    from es_simhash.testing.index_suite import IndexSuite
    from es_simhash.testing.reader_suite import ReaderSuite

_NAMES = {
    "cli.demo.corpus": ("make_corpus",),
    "testing.backfill_suite": ("BackfillSuite",),
    "testing.engine_suite": ("EngineSuite",),
    "testing.index_suite": ("IndexSuite",),
    "testing.reader_suite": ("ReaderSuite",),
}

__all__ = [
    "BackfillSuite",
    "EngineSuite",
    "IndexSuite",
    "ReaderSuite",
    "make_corpus",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
