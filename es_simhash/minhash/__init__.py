"""MinHash: signatures that agree in as large a share of their positions as documents share features.

| module            | estimates                          | a document costs                                  |
|-------------------|------------------------------------|---------------------------------------------------|
| `one_permutation` | the Jaccard similarity             | its features, whatever the size of the signature  |
| `k_hash`          | the Jaccard similarity             | its features times the size, about 8 times as much |
| `weighted`        | the weighted Jaccard similarity    | its features times the size, about 1,000 times    |
| `permutations`    | the Jaccard similarity             | as `k_hash`, and a universe that is known         |
| `bottom_k`        | that, and the number of features   | sorting its features                              |

`one_permutation` is the default. `k_hash` varies less on documents of fewer features than the signature has values, and
`weighted` heeds tf or tf·idf. All but `bottom_k` give an array of ``uint32`` with one row a document, which `estimate`
compares, `codec` stores and `es_simhash.bands` turns into keys. Each module defines its values to the bit.
"""
