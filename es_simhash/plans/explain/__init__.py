"""Why two texts, or two documents of an index, are near-duplicates or are none: comparisons, and the reason in words.

Nothing here does I/O: `es_simhash.plans.explain.explain_pair` reads what is compared, and asks the engine.
"""
