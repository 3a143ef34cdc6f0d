"""Explanations as JSON, with colours and texts side by side on a terminal, else as plain lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from es_simhash._core.humanize import share, with_error
from es_simhash.cli.show.output import Output, printed

if TYPE_CHECKING:
    from rich.text import Text

    from es_simhash.plans.explanation import Explanation
    from es_simhash.plans.similarities import Bits, FeatureGroup, Keys, Similarity
    from es_simhash.plans.text_differences import TextPart, TextRow

# Equal characters kept around a change, features shown of each kind, and width of a line of bits.
_AROUND = 40
_FEATURES = 6
_WIDTH = 72

_GOOD, _BAD, _FAINT = "green", "red", "dim"


class Piece(NamedTuple):
    """A piece of a line, and its style on a terminal."""

    text: str
    style: str = ""


def show(output: Output, explanation: Explanation) -> None:
    """Print an explanation."""
    if output.as_json:
        output.result(explanation)
        return
    verdict = explanation.verdict
    _line(Piece(verdict.sentence, f"bold {_GOOD if verdict.are_duplicates else _BAD}"))
    for note in (*explanation.decided, *verdict.notes):
        _line(Piece(note))
    rows = [[each.name, each.index, each.state, each.status, f"{each.characters:,}"] for each in explanation.pair]
    output.table(["document", "index", "fields", "status", "characters"], rows)
    if explanation.scope:
        output.table(*scope_table(explanation))
    for line in _comparisons(explanation):
        _line(*line)
    if explanation.rarity:
        _line(Piece(explanation.rarity))
    _show_passages(explanation)
    _show_features(output, explanation)
    _show_texts(explanation)


def scope_table(explanation: Explanation) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of a table of the scope's fields."""
    rows = [
        [each.field, each.demanded, ", ".join(each.a), ", ".join(each.b), "yes" if each.is_met else "no"]
        for each in explanation.scope
    ]
    return ["scope", "values", *(each.name for each in explanation.pair), "met"], rows


def _comparisons(explanation: Explanation) -> Iterator[list[Piece]]:
    """Yield lines about similarities, bits, blocks and bands, as far as there are any."""
    evidence, simhash = explanation.evidence, explanation.scheme.simhash
    least = evidence.similarity.threshold
    measured = ", ".join(f"{written} {how}" for how, _, written in similarities(evidence.similarity))
    yield [Piece(f"similarity: {measured}" + ("" if least is None else f"; the minimum is {least}"))]
    if numbers := evidence.numbers:
        line = f"numbers: alike by {share(numbers.value, numbers.least)}; the minimum is {numbers.least:g}"
        yield [Piece(line, _BAD if numbers.problem else "")]
    if simhash and evidence.bits and evidence.blocks:
        yield from _bits(evidence.bits, simhash.layout.starts)
        yield from _agreement("blocks", evidence.blocks)
    if evidence.bands and evidence.bands.a and evidence.bands.b:
        yield from _agreement("bands", evidence.bands)


def similarities(similarity: Similarity) -> Iterator[tuple[str, float, str]]:
    """Yield how texts were compared, how similar they are by that, and the same as people read it."""
    least = similarity.threshold
    yield "exactly", similarity.exact, share(similarity.exact, least)
    if similarity.signed != similarity.exact:
        yield "without weights", similarity.signed, share(similarity.signed, least)
    if similarity.estimate is not None:
        yield "estimated", similarity.estimate, with_error(similarity.estimate, similarity.standard_error)
    if similarity.verified is not None:
        yield "as the scheme compares texts", similarity.verified, share(similarity.verified, least)


def _bits(bits: Bits, starts: Sequence[int]) -> Iterator[list[Piece]]:
    """Yield both SimHashes block by block, with a caret below each bit that differs."""
    near = "" if bits.threshold is None else f"; the maximum is {bits.threshold}"
    yield [Piece(f"distance: {bits.distance} of {bits.size} bits, about {bits.expected:.1f} expected{near}")]
    a, b = (f"{int(digits, 16):0{bits.size}b}" for digits in (bits.a, bits.b))
    for line in _lines_of_blocks(list(pairwise((*starts, bits.size)))):
        for written in (a, b):
            yield [piece for start, end in line for piece in _marked(written, a, b, start, end)]
        carets = ("".join(" ^"[a[i] != b[i]] for i in range(start, end)) for start, end in line)
        yield [Piece(f" {' '.join(carets)}".rstrip())]


def _lines_of_blocks(blocks: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield as many blocks as fit a line, by the first and last position of each."""
    line: list[tuple[int, int]] = []
    for start, end in blocks:
        if line and end - line[0][0] + len(line) > _WIDTH:
            yield line
            line = []
        line.append((start, end))
    yield line


def _marked(written: str, a: str, b: str, start: int, end: int) -> Iterator[Piece]:
    agrees = a[start:end] == b[start:end]
    yield Piece(" ")
    for i in range(start, end):
        yield Piece(written[i], _GOOD if agrees else ("bold reverse" if a[i] != b[i] else ""))


def _agreement(what: str, keys: Keys) -> Iterator[list[Piece]]:
    """Yield a line with a sign for each key, whether it agrees; and one that says if the engine contradicts that."""
    agree = set(keys.agree)
    signs = [Piece("=", f"bold {_GOOD}") if place in agree else Piece("·", _FAINT) for place in range(len(keys.a))]
    found = "" if keys.engine is None else ", as in the engine"
    found = f"; the engine finds {len(keys.engine or ())}" if keys.is_contradicted else found
    yield [Piece(f"{what}: "), *signs, Piece(f" {len(agree)} of {len(keys.a)} agree{found}")]
    if keys.is_contradicted:
        yield [Piece(f"the engine found the keys {keys.engine}, the documents {keys.agree}", _BAD)]


def _show_passages(explanation: Explanation) -> None:
    found, (first, second) = explanation.passages, explanation.pair
    _line(
        Piece(
            f"passages of {found.least} words or more: {share(found.of_first)} of {first.name} stands in "
            f"{second.name}, {share(found.of_second)} the other way round"
        )
    )
    if found.words >= found.least:
        _line(Piece(f"the longest has {found.words:,} words: "), Piece(f"“{found.in_first}”", _GOOD))


def _show_features(output: Output, explanation: Explanation) -> None:
    features, (first, second) = explanation.features, explanation.pair
    groups = {
        "in both": features.shared,
        f"only in {first.name}": features.only_a,
        f"only in {second.name}": features.only_b,
    }
    rows = [[name, f"{group.count:,}", f"{group.weight:,.6g}", _heaviest(group)] for name, group in groups.items()]
    output.table(["features", "count", "weight", "heaviest"], rows)


def _heaviest(group: FeatureGroup) -> str:
    shown = [feature.text for feature in group.heaviest[:_FEATURES]]
    return " ".join(f"“{text}”" for text in shown) + (" …" if group.count > len(shown) else "")


def _show_texts(explanation: Explanation) -> None:
    from es_simhash.plans.text_differences import rows

    for row in rows(explanation.parts, _AROUND):
        if row.skipped:
            _line(Piece(f"… {row.skipped:,} characters of both are the same …", _FAINT))
        if sys.stdout.isatty():
            _side_by_side(row)
        else:
            print("".join(_inline(part) for part in row.parts))


def _inline(part: TextPart) -> str:
    a, b = printed(part.a), printed(part.b)
    if part.kind == "cut":
        return f" … {len(a):,} and {len(b):,} characters were not compared … "
    if part.kind == "equal":
        return a
    return (f"[-{a}-]" if a else "") + (f"{{+{b}+}}" if b else "")


def _side_by_side(row: TextRow) -> None:
    from rich.console import Console
    from rich.table import Table

    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    left = _text(_side(part, part.a, f"{_BAD} underline") for part in row.parts)
    grid.add_row(left, _text(_side(part, part.b, f"{_GOOD} underline") for part in row.parts))
    Console(file=sys.stdout).print(grid)


def _side(part: TextPart, text: str, changed: str) -> Piece:
    if part.kind == "cut":
        return Piece(f" … {len(text):,} characters were not compared … ", _FAINT)
    return Piece(text, changed if part.kind == "changed" else "")


def _line(*pieces: Piece) -> None:
    if not sys.stdout.isatty():
        print("".join(printed(piece.text) for piece in pieces))
        return
    from rich.console import Console

    Console(file=sys.stdout).print(_text(pieces))


def _text(pieces: Iterator[Piece] | Sequence[Piece]) -> Text:
    from rich.text import Text

    text = Text()
    for piece in pieces:
        text.append(printed(piece.text), piece.style)
    return text
