"""MinHash: signatures that agree in the same share of their positions as documents share features.

| module            | estimates                                           | time for a document |
|-------------------|-----------------------------------------------------|---------------------|
| `one_permutation` | the Jaccard similarity                              |                5 µs |
| `k_hash`          | the Jaccard similarity                              |               50 µs |
| `permutations`    | the Jaccard similarity, within a known universe     |              800 µs |
| `weighted`        | the weighted Jaccard similarity                     |            6,000 µs |
| `bottom_k`        | the Jaccard similarity, and the number of features  |               20 µs |

(1,500 features, 128 values, one core of 2.8 GHz; `weighted` takes less where documents share features.)

`one_permutation` is the default. `k_hash` varies less on documents with fewer features than the signature has values,
and `weighted` takes tf or tf·idf into account. All but `bottom_k` give an array of ``uint32`` with one row a document,
which `estimate` compares, `codec` stores and `es_simhash.sketches.keys` turns into keys. Each module defines its
values to the bit.
"""
