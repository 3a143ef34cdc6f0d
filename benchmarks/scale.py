"""docs/scale.md: what up to a thousand million documents take.

``python -m benchmarks scale`` simulates, and writes benchmarks/simulated.md, the page and its pictures, from
docs/benchmarks.md and random numbers with fixed seeds: the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks import scale_model as model
from benchmarks import scale_simulation
from benchmarks.scale_candidates import PICTURE, curves, picture
from benchmarks.scale_model import MINHASH, SIZES
from benchmarks.scale_simulation import CROWDED, GROUPED
from benchmarks.scale_words import prose, rounded
from benchmarks.svg import THEMES, path
from benchmarks.tables import Table, tables_of
from es_simhash.groups.pairs.document_links import ALL, FEW
from es_simhash.sketches.shared_bands import MANY, by_chance, sharing

SIMULATED = Path(__file__).with_name("simulated.md")
HEADING = """\
# Scale

What 100,000 to 1,000,000,000 documents take. `python -m benchmarks scale` makes this page from what was measured on one
machine ([benchmarks.md](benchmarks.md)) and from fingerprints drawn at random (`benchmarks/simulated.md`).
"""
# Of tables that show several sizes: what the largest came to, by their columns.
MEASURED = {
    "What is found at scale": (
        "`find` by MinHash: copies of similarity .6 found, candidates by chance",
        "{recall}, {false candidates a query}",
    ),
    "Finding at scale on Elasticsearch, merged": ("`find` on Elasticsearch, one segment", "{find p50, ms} ms"),
    "Finding at scale on OpenSearch, merged": ("`find` on OpenSearch, one segment", "{find p50, ms} ms"),
    "Grouping of generated fingerprints": ("groups of fingerprints: time, memory", "{grouping, s} s, {peak, MB} MB"),
    "Grouping by size": ("`group` of an index: time, memory", "{reading, s} + {all else, s} s, {peak, MB} MB"),
    "Memory for a file of 5 GB": ("fingerprinting a file, line by line: time, memory", "{wall s} s, {peak, MB} MB"),
}


def write(docs: Path) -> None:
    """Simulate, and write the simulated tables, the page and its pictures."""
    simulated = list(scale_simulation.simulated())
    tables = "\n".join(table.markdown() for table in simulated)
    SIMULATED.write_text(f"# Simulated by `python -m benchmarks scale`\n\n## Tables\n\n{tables}", encoding="utf-8")
    for name, made in files((docs / "benchmarks.md").read_text(encoding="utf-8"), simulated).items():
        (docs / name).write_text(made, encoding="utf-8")


def files(measured: str, simulated: Iterable[Table]) -> dict[str, str]:
    """Make the page and its pictures from the page of benchmarks and simulated tables, by their paths."""
    by_title = {table.title: table for table in simulated}
    published = {table.title: table for table in tables_of(measured).values()}
    drawn = curves(by_title)
    pictures = {path("scale", theme): picture(drawn, MANY, theme) for theme in THEMES}
    return {"scale.md": page(published, by_title), **pictures}


def page(published: Mapping[str, Table], simulated: Mapping[str, Table]) -> str:
    """Write the page."""
    sections = {"Finding": _finding(), "Grouping": _grouping(simulated[CROWDED]), "Measured": measured(published)}
    return "\n".join([HEADING, *(f"## {title}\n\n{section}" for title, section in sections.items())])


def simulated_before() -> list[Table]:
    """Read the tables of the last simulation."""
    return list(tables_of(SIMULATED.read_text(encoding="utf-8")).values())


def _finding() -> str:
    return "\n".join(
        [
            prose(f"""
A candidate of a search by MinHash shares {MINHASH.shared} of its {MINHASH.bands} [keys](explanation/keys.md) with the
text. Where more than {MANY:.0f} documents would share as many by chance, a search asks for one more, if 95% of the
pairs that are just similar enough share as many. So a large index needs no other keys, and a search reads few
candidates.
"""),
            _candidates().markdown(),
            PICTURE,
            "",
            prose("""
Lines are computed, discs simulated. Unrelated texts share keys by their similarity, which is that of English film
reviews here (.04 on average); other texts can have more in common ([boilerplate](how-to/boilerplate.md)). A scheme has
one hash function, by which frequent features may be kept or not: it makes up to three times as many candidates as
computed, or none (simulated). Shards change nothing.

A search asks each segment, and a fill leaves many. Merge what is complete: `POST
/INDEX/_forcemerge?max_num_segments=1`.
"""),
        ]
    )


def _candidates() -> Table:
    table = Table(
        "Candidates by chance",
        [
            *("documents", "shared keys", "pairs of .56 (`near`) found", "of .6", "of .7"),
            *("by chance, MinHash", "SimHash within 3 bits"),
        ],
    )
    for documents in SIZES:
        least = model.shared(documents)
        table.add(
            f"{documents:,}",
            f"{least} of {MINHASH.bands}",
            *(f"{100 * sharing(similarity, MINHASH.layout, least):.2f}%" for similarity in (0.56, 0.6, 0.7)),
            rounded(documents * by_chance(MINHASH.layout, least)),
            rounded(documents * model.by_bits(3)),
        )
    return table


def _grouping(crowded: Table) -> str:
    last = dict(zip(crowded.columns, crowded.rows[-1], strict=True))
    least, similar = (last[f"found of {similarity}"] for similarity in GROUPED)
    places = model.tables()
    return prose(f"""
`group`, `dedup` and Spark pair all documents at once. To count the keys that each two share would take steps that grow
with the square of the documents, so they sort {len(places)} tables of {len(places[0])} values of the signature, and
compare those that share a row. They find pairs at least as reliably as a search. At lower similarities, keys have fewer
values, so that more documents share them.

If more than {ALL} documents share a key, each further one is compared with {FEW} only; `left_out` counts the others. A
run over {last["documents"]} documents at `near` compares {last["pairs a document"]} pairs a document, and finds {least}
of the pairs of similarity {GROUPED[0]:g} and {similar} of those of {GROUPED[1]:g} (simulated).
""")


def measured(published: Mapping[str, Table]) -> str:
    """Write what was measured at several sizes, and nothing else."""
    table = Table("On one machine", ["", "documents", "measured"], "Two cores for client and server.")
    for title, (what, form) in MEASURED.items():
        if title in published:
            largest = dict(zip(published[title].columns, published[title].rows[-1], strict=True))
            table.add(what, largest["documents"], form.format_map(largest))
    return table.markdown()
