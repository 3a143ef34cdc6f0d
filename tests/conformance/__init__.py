"""What every engine does, as suites for pytest.

The tests of an engine subclass `EngineSuite`, `ReaderSuite` and `IndexSuite`, and give them the fixtures ``engine`` and
``index_name``.
"""
