"""Plans: generators that yield operations for an engine and receive their results.

Plans do no I/O, so synchronous and asynchronous engines run the same ones (see `es_simhash.engines.base`).
"""
