"""Conformance suites for pytest that every engine passes, and a corpus to experiment with.

An engine is a class with ``perform`` for the operations. Its tests subclass `EngineSuite`, `ReaderSuite` and
`IndexSuite`, and give them the fixtures ``engine`` and ``index_name``.
"""

from __future__ import annotations

import sys

from es_simhash._core.exports import lazily

if "pytest" in sys.modules:
    # A failure in a suite then shows the compared values, as in a test file.
    _SUITES = ("engine_base", "engine_suite", "reader_suite", "index_base", "index_suite")
    sys.modules["pytest"].register_assert_rewrite(*(f"{__name__}.{suite}" for suite in _SUITES))

TYPE_CHECKING = False  # loading `typing` for it takes longer than all else here
if TYPE_CHECKING:
    from es_simhash.cli.demo.corpus import make_corpus
    from es_simhash.testing.engine_suite import EngineSuite
    from es_simhash.testing.index_suite import IndexSuite
    from es_simhash.testing.reader_suite import ReaderSuite

_NAMES = {
    "cli.demo.corpus": "make_corpus",
    "testing.engine_suite": "EngineSuite",
    "testing.index_suite": "IndexSuite",
    "testing.reader_suite": "ReaderSuite",
}

__all__ = [
    "EngineSuite",
    "IndexSuite",
    "ReaderSuite",
    "make_corpus",
]

__getattr__, __dir__ = lazily(__name__, _NAMES)
