"""Finding among long texts, compared with short ones.

Two indices of {documents:,} texts, a tenth of them near copies, searched in turns as in [Finding](#finding).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.corpora import topical
from benchmarks.corpus_search import Corpus, fill
from benchmarks.measuring import in_turns
from benchmarks.nodes import SERVERS, running
from benchmarks.tables import Table
from benchmarks.ways import COMPARED, ESTIMATES, MoreLikeThis, Ours, Way

DOCUMENTS, TIMED, ROUNDS = 3_000, 150, 4
LENGTHS = {"1.3 kB": 1_300, "40 kB": 40_000}
__doc__ = __doc__.format(documents=DOCUMENTS)


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    count = int(DOCUMENTS * share)
    corpora = {label: Corpus.of("English", topical(count, length), count // 10) for label, length in LENGTHS.items()}
    for name in SERVERS:
        yield _on_server(name, corpora)


def _on_server(name: str, corpora: dict[str, Corpus]) -> Table:
    (short, _), (long, _) = corpora.items()
    table = Table(
        f"Texts of {long} alongside {short}, {SERVERS[name]}",
        [
            *("", f"{short}: p50, ms", f"{long}: p50, ms", f"{long} × {short}", f"{long}: × more_like_this"),
            *(f"{long}: CPU of the client, ms", "of the server"),
        ],
    )
    with running(name) as server:
        asked: dict[str, Callable[[int], object]] = {}
        for number, (label, corpus) in enumerate(corpora.items()):
            index = f"texts{number}"
            ways: list[Way] = [
                Ours(server, ESTIMATES, index=index),
                Ours(server, COMPARED, is_exact=True, index=index),
                MoreLikeThis(server, index),
            ]
            fill(server, ways, corpus)
            asked |= {f"{label}: {way.name}": _asking(way, corpus) for way in ways}
        places = range(min(2 * TIMED, len(corpora[short].pairs)))
        half = len(places) // 2
        found = in_turns(asked, places[half:], ROUNDS, places[:half], server.cpu)
    peer = found[f"{long}: {MoreLikeThis.name}"]
    for way in (ESTIMATES, COMPARED, MoreLikeThis.name):
        one, other = found[f"{short}: {way}"], found[f"{long}: {way}"]
        table.add(
            *(way, one.within(0.5), other.within(0.5), other.over(one), other.over(peer)),
            *(f"{other.client:.2f}", f"{other.server:.2f}"),
        )
    return table


def _asking(way: Way, corpus: Corpus) -> Callable[[int], object]:
    texts = corpus.queries
    return lambda place: way.find(texts[place])
