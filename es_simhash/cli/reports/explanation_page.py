"""The page that explains why two documents are near-duplicates, or why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import share
from es_simhash.cli.reports.page import bar, page, section
from es_simhash.cli.show.explanation import scope_table, similarities
from es_simhash.plans.explanation import Explanation
from es_simhash.plans.similarities import Bits, Feature, FeatureGroup, Keys, SharedPassages, Similarity
from es_simhash.plans.text_differences import TextPart, rows

# The number of equal characters to show around a change.
_AROUND = 300


def explanation_page(explanation: Explanation) -> str:
    """Return the page."""
    return page(" and ".join(each.name for each in explanation.pair), *_sections(explanation))


def _sections(explanation: Explanation) -> Iterator[Html]:
    evidence, names = explanation.evidence, [each.name for each in explanation.pair]
    yield _verdict(explanation)
    yield section("Documents", _documents(explanation))
    if explanation.scope:
        yield section("Scope", table(*scope_table(explanation)))
    rarity = element("p", explanation.rarity, class_="faint") if explanation.rarity else ""
    numbers = evidence.numbers
    written = share(numbers.value, numbers.least) if numbers else ""
    alike = _gauge("numbers alike", numbers.value, numbers.least, written) if numbers else ""
    yield section("Similarity", _similarity(evidence.similarity), alike, rarity)
    simhash = explanation.scheme.simhash
    if simhash and evidence.bits and evidence.blocks:
        yield section("SimHash", _bits(evidence.bits, simhash.layout.starts, evidence.blocks))
    if evidence.bands and evidence.bands.a and evidence.bands.b:
        yield section("Bands of MinHash", _bands(evidence.bands))
    yield section("Passages", _passages(explanation.passages, names))
    features = explanation.features
    yield section(
        "Features",
        _group("In both", features.shared, "both"),
        _group(f"Only in {names[0]}", features.only_a, "bad"),
        _group(f"Only in {names[1]}", features.only_b, "good"),
    )
    yield section("Text", side_by_side(explanation.parts, names))


def _verdict(explanation: Explanation) -> Html:
    verdict, (first, second) = explanation.verdict, explanation.pair
    return element(
        "header",
        element("h1", first.name, element("span", " and ", class_="faint"), second.name),
        element("p", verdict.sentence, class_=f"verdict {'good' if verdict.are_duplicates else 'bad'}"),
        [element("p", note) for note in (*explanation.decided, *verdict.notes)],
    )


def _documents(explanation: Explanation) -> Html:
    pair = explanation.pair
    rows = [
        ["index", *(each.index or "—" for each in pair)],
        ["fields", *(each.state for each in pair)],
        ["status", *(each.status for each in pair)],
        ["characters", *(f"{each.characters:,}" for each in pair)],
        ["scheme", *(each.scheme or "—" for each in pair)],
    ]
    return table(["", *(each.name for each in pair)], rows)


def _similarity(similarity: Similarity) -> list[Html]:
    shown = [_gauge(how, value, similarity.threshold, written) for how, value, written in similarities(similarity)]
    if similarity.threshold is not None:
        shown.append(element("p", f"The line is the threshold: {similarity.threshold}.", class_="faint"))
    return shown


def _gauge(name: str, value: float, threshold: float | None, text: str) -> Html:
    shown = bar(value, mark=threshold)
    return element("p", element("span", name), shown, element("span", text, class_="code"), class_="gauge")


def _bits(bits: Bits, starts: Sequence[int], blocks: Keys) -> list[Html]:
    made = []
    for place, (start, end) in enumerate(pairwise((*starts, bits.size))):
        agrees = place in blocks.agree
        lines = [_bits_of(digits, bits, start, end) for digits in (bits.a, bits.b)]
        name = f"block {place}: {'agrees' if agrees else 'differs'}"
        made.append(element("div", lines, element("small", name), class_=f"block {'good' if agrees else 'bad'}"))
    within = "" if bits.threshold is None else f"; near means at most {bits.threshold}"
    text = f"They differ in {bits.distance} of {bits.size} bits (about {bits.expected:.1f} are expected{within})."
    return [element("p", text), element("div", made, class_="blocks"), *_engine(blocks)]


def _bits_of(digits: str, bits: Bits, start: int, end: int) -> Html:
    written = f"{int(digits, 16):0{bits.size}b}"
    differing = set(bits.differing)
    marked = [element("mark", written[i]) if i in differing else written[i] for i in range(start, end)]
    return element("div", marked, class_="code")


def _bands(bands: Keys) -> list[Html]:
    agree = set(bands.agree)
    cells = [
        element("span", str(place), class_="good" if place in agree else None, title=f"{key} / {other}")
        for place, (key, other) in enumerate(zip(bands.a, bands.b, strict=False))
    ]
    many = "at least one does" if (bands.needed or 1) == 1 else f"at least {bands.needed} do, as it takes,"
    text = f"{len(agree)} of {len(bands.a)} agree; at this similarity {many} with a probability of"
    return [
        element("p", f"{text} {bands.chance}."),
        element("div", cells, class_="bands code"),
        *_engine(bands),
    ]


def _engine(keys: Keys) -> list[Html]:
    if keys.engine is None:
        return []
    result = "a different result" if keys.is_contradicted else "the same result"
    return [element("p", f"The engine has {result}: {len(keys.engine)} agree.", class_="faint")]


def _passages(found: SharedPassages, names: Sequence[str]) -> list[Html]:
    text = f"Of their words, in passages of {found.least} or more:"
    shown = [
        element("p", text),
        _gauge(f"{names[0]} in {names[1]}", found.of_first, None, share(found.of_first)),
        _gauge(f"{names[1]} in {names[0]}", found.of_second, None, share(found.of_second)),
    ]
    if found.words < found.least:
        return shown
    heads = element("div", [element("h3", name) for name in names], class_="sides heads")
    sides = element("div", [element("div", each) for each in (found.in_first, found.in_second)], class_="sides")
    return [*shown, element("p", f"The longest has {found.words:,} words."), heads, sides]


def _group(title: str, group: FeatureGroup, kind: str) -> Html:
    more = group.count - len(group.heaviest)
    return element(
        "div",
        element("h3", f"{title}: {group.count:,}, weight {group.weight:,.6g}"),
        element("ul", [_feature(each, kind) for each in group.heaviest], class_="features"),
        element("p", f"and {more:,} more", class_="faint") if more else "",
    )


def _feature(feature: Feature, kind: str) -> Html:
    weight = "" if feature.weight == 1 else element("small", f"{feature.weight:.4g}")
    return element("li", element("code", feature.text), weight, class_=kind)


def side_by_side(parts: Sequence[TextPart], names: Sequence[str]) -> list[Html]:
    """Show two texts next to each other, with their differences; of what is equal only what is near these."""
    heads = [element("h3", name) for name in names]
    made = [element("div", heads, class_="sides heads")]
    for row in rows(parts, _AROUND):
        if row.skipped:
            made.append(element("p", f"… {row.skipped:,} characters of both are the same …", class_="faint skipped"))
        left = [_part(part, part.a, "del") for part in row.parts]
        right = [_part(part, part.b, "ins") for part in row.parts]
        made.append(element("div", element("div", left), element("div", right), class_="sides"))
    return made


def _part(part: TextPart, text: str, changed: str) -> Html | str:
    if part.kind == "cut":
        return element("span", f" … {len(text):,} characters were not compared … ", class_="faint") if text else ""
    return text if part.kind == "equal" or not text else element(changed, text)
