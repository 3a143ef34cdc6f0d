"""What is done with an index, as plans: generators that yield operations for an engine and are sent their results.

They do no I/O, so synchronous and asynchronous engines run the same ones (see `es_simhash.engines.base`).
"""
