"""docs/scale.md: what up to a thousand million documents take.

``python -m benchmarks scale`` simulates, and writes benchmarks/simulated.md, the page and its pictures, from
docs/benchmarks.md and random numbers with fixed seeds: the result is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks import scale_model as model
from benchmarks import scale_simulation
from benchmarks.scale_candidates import PICTURE, curves, picture
from benchmarks.scale_model import MINHASH, SIZES
from benchmarks.scale_simulation import CHANCE, CROWDED, GROUPED
from benchmarks.scale_words import prose, rounded
from benchmarks.svg import THEMES, path
from benchmarks.tables import Table, tables_of
from es_simhash.groups.corpus import ALL, FEW
from es_simhash.sketches.keys import MANY, by_chance, sharing

SIMULATED = Path(__file__).with_name("simulated.md")
HEADING = """\
# Scale

What 100,000 to 1,000,000,000 documents take. `python -m benchmarks scale` makes this page from what was measured on one
machine ([benchmarks.md](benchmarks.md)) and from fingerprints drawn at random (`benchmarks/simulated.md`).
"""
_MACHINE = """
Two cores for client and server. Runs before 2026-11-27 have the keys of the first default: 32 of 4 values; a
candidate shared one.
"""
# Of tables that show several sizes: what the largest came to, by their columns.
MEASURED = {
    "Larger, Elasticsearch": ("the request of a search, Elasticsearch", "{p50} ms, {candidates} candidates"),
    "Larger, OpenSearch": ("the request of a search, OpenSearch", "{p50} ms, {candidates} candidates"),
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
    drawn = curves(by_title)
    pictures = {path("scale", theme): picture(drawn, MANY, theme) for theme in THEMES}
    return {"scale.md": page(measured, by_title), **pictures}


def page(benchmarks: str, simulated: Mapping[str, Table]) -> str:
    """Write the page."""
    sections = {
        "Finding": _finding(simulated[CHANCE]),
        "Grouping": _grouping(simulated[CROWDED]),
        "Measured": measured(benchmarks),
    }
    return "\n".join([HEADING, *(f"## {title}\n\n{section}" for title, section in sections.items())])


def simulated_before() -> list[Table]:
    """Read the tables of the last simulation."""
    return list(tables_of(SIMULATED.read_text(encoding="utf-8")).values())


def _finding(by_chance: Table) -> str:
    rows = {name: cells for name, *cells in by_chance.rows}
    computed, _, least, most = rows[model.in_words(MINHASH.layout, MINHASH.shared)]
    return "\n".join(
        [
            prose(f"""
A candidate of a search by MinHash shares {MINHASH.shared} of its {MINHASH.bands} [keys](explanation/keys.md) with the
text. If more than {MANY:.0f} documents would share as many by chance, a search asks for one more, if 95% of the
pairs that are just similar enough share as many. So a large index needs no other keys, and a search reads few
candidates.
"""),
            _candidates().markdown(),
            PICTURE,
            "",
            prose(f"""
Lines are computed, discs simulated. Unrelated texts share keys by their similarity, which is that of English film
reviews here (.04 on average); other texts can have more in common ([boilerplate](how-to/boilerplate.md)). A scheme has
one hash function, which may be unlucky: among a million of the benchmarks' texts, simulated with several, {least} to
{most} are candidates by chance; computed, {computed}. Shards change nothing.

A search asks each segment, and a fill leaves many. Merge what is complete: `POST
/INDEX/_forcemerge?max_num_segments=1`. [A search](benchmarks.md#keys-on-servers) of 10,000,000 documents in 31 to 40
segments takes 1.6 to 1.9 times as long as in one.
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
compare those that share a key. They find nearly what a search finds. At lower similarities, keys have fewer values, so
that more documents share them.

If more than {ALL} documents share a key, each further one is compared with {FEW} only; `left_out` counts the others. A
run over {last["documents"]} documents at `near` compares {last["pairs a document"]} pairs a document, and finds {least}
of the pairs of similarity {GROUPED[0]:g} and {similar} of those of {GROUPED[1]:g} (simulated).
""")


def measured(benchmarks: str) -> str:
    """Write what the largest sizes came to, of tables on the page of benchmarks that show several."""
    table = Table("On one machine", ["", "documents", "measured", "on"], prose(_MACHINE).strip())
    days = dict(re.findall(r"^## (.+)\n(?:(?!## ).*\n)*?Run on ([\d-]+)", benchmarks, re.MULTILINE))
    for (section, title), rows in tables_of(benchmarks).items():
        if title in MEASURED:
            what, form = MEASURED[title]
            named = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
            # Searches of a merged index meet the same candidates, and leave them out.
            *_, largest = (row for row in named if all(row[name] for name in re.findall(r"{(.*?)}", form)))
            table.add(what, largest["documents"], form.format_map(largest), days[section])
    return table.markdown()
