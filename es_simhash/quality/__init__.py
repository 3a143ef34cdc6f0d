"""How well near-duplicates are found, measured on labelled documents, and schemes tuned on them.

Start at `es_simhash.quality.evaluation` and `es_simhash.quality.tuning`.
"""
