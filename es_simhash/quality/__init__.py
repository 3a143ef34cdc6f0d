"""How well near-duplicates are told from others, measured on documents whose duplicates somebody has labelled.

`es_simhash.quality.evaluation` is the way in: documents and labels in, scores with their intervals out.
"""
