"""Quality on labelled duplicates, compared with what people set up today.

One setting for all sets, untuned, as `dedup` runs it; in brackets 95% intervals by bootstrap over the true clusters.
[How the default decides](explanation/verdict.md); precision, recall and groups of all contenders are in
`benchmarks/quality.md`, [the scores](evaluate.md) of your own documents in `evaluate`. *Looked at*: constants of the
rule were chosen on the set; results were seen, but chose nothing; or never, before the last choice.
CORE and NEWS-COPY, alongside published results: `python -m benchmarks core FILE…`, `news_copy FILE…`.

- Exact Jaccard similarity of the character 5-grams of all pairs (by samples where these are over 2 million), *at the
  threshold that is best on the labels*.
- MinHash as in most recipes: datasketch's `MinHashLSH`, 128 permutations, Jaccard similarity 0.8, candidates compared
  by estimates; runs of three lower-case words, and character 5-grams.
- SimHash of 64 bits as in Google's paper: words weighted by frequency, within 3 bits.
- `more_like_this` (`min_term_freq` 1, `min_doc_freq` 2, 50 terms, 70% shared) and the `min_hash` token filter over runs
  of five words on a real node: a document's score relative to that of the text itself, the higher of both directions,
  at least {share}, among the {page} best.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.labelled import LabelledSet, judged, labelled_sets
from benchmarks.nodes import Server, running
from benchmarks.quality_contenders import PAGE, SHARE, ours, peers
from benchmarks.quality_tables import Measured, board, details
from benchmarks.tables import Table

__doc__ = __doc__.format(share=SHARE, page=PAGE)
DETAILS = Path(__file__).with_name("quality.md")


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on every labelled set, or on a share of its clusters; write the details of whole sets."""
    measured = []
    with running("elasticsearch") as server:
        for each in labelled_sets():
            measured.append(_measured(each.part(share)[0] if share < 1 else each, server))
            print(details(measured[-1]).markdown(), flush=True)
    if not measured:
        print(f"No labelled documents: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
        return
    if share == 1:
        tables = "\n".join(details(each).markdown() for each in measured)
        DETAILS.write_text(f"# Quality of all contenders on all sets\n\n{tables}", encoding="utf-8")
    yield from board(measured)


def _measured(on: LabelledSet, server: Server) -> Measured:
    contenders = {**ours(on), **peers(server)}
    results = {name: judged(on, find(on)) for name, find in contenders.items()}
    return Measured(on.name, len(on.documents), len(on.truth.positives), results)
