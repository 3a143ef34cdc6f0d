"""The page about an evaluation: scores, what other thresholds find, kinds of pairs, and the worst errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from es_simhash._core.html import Html, element, table
from es_simhash._core.humanize import counted, score_text, share, with_error
from es_simhash.cli.reports.group_report import nearness_in_words, numbers_phrase
from es_simhash.cli.reports.page import bar, differences, header, legend, page, section
from es_simhash.cli.show.evaluation import evaluation_notes
from es_simhash.quality.evaluation import Ceiling, Evaluation, PairError, PairScores
from es_simhash.quality.scores import Curve, Estimate
from es_simhash.scheme.verification import Verification

# Every tenth threshold of similarity is shown.
_EVERY = 10
_KINDS = {
    "length": "By the length of the shorter text, in characters",
    "script": "By the script of both texts",
    "equality": "By whether the texts are equal, byte by byte",
}


def evaluation_page(evaluation: Evaluation, name: str, made_at: datetime | None = None) -> str:
    """Return the page; ``name`` is that of the files or of the index."""
    wrong = "Near pairs that are labelled as no duplicates, the nearest first."
    missed = "Duplicates that are not near, the least similar first. Some may be labelled wrongly."
    return page(
        f"Quality of detection in {name}",
        _header(evaluation, name, made_at),
        section("Scores", *_scores(evaluation)),
        section("Other thresholds", *_curves(evaluation)),
        section("What can be reached", _ceiling(evaluation.ceiling)),
        section("By kinds of pairs", *_buckets(evaluation.buckets)),
        section("Found wrongly", *_errors(evaluation, evaluation.wrong, evaluation.pairs.wrong, wrong)),
        section("Missed", *_errors(evaluation, evaluation.missed, evaluation.pairs.missed, missed)),
        section("Measurement", *_setup(evaluation)),
    )


# ---- scores


def _header(evaluation: Evaluation, name: str, made_at: datetime | None) -> Html:
    pairs = evaluation.pairs
    headline = (
        f"Precision {number(pairs.precision.value)}, recall {number(pairs.recall.value)}, "
        f"F1 {number(pairs.f1.value)} of pairs."
    )
    found = (
        f"{counted(pairs.right, 'pair')} found rightly, {pairs.wrong:,} wrongly, and {pairs.missed:,} missed, "
        f"among {counted(len(evaluation.ids), 'document')}."
    )
    return header(headline, found, name, made_at)


def _scores(evaluation: Evaluation) -> Iterator[Html]:
    rounds = f"{evaluation.bootstrap.rounds:,}"
    yield element("p", f"Scores with 95% intervals, from {rounds} samples of the true clusters with replacement.")
    scores = evaluation.named_scores.items()
    yield table(["score", "value", "from", "to", ""], [[name, *_cells(each)] for name, each in scores])
    if not evaluation.clusters:
        yield element("p", "Pairs were labelled, not clusters: B-cubed is undefined.", class_="faint")


def _cells(estimate: Estimate) -> list[str | Html]:
    """Return an estimate, the ends of its interval, and that interval on a scale from 0 to 1."""
    value, low, high = estimate.value, estimate.low, estimate.high
    interval = "" if value is None else bar(value if high is None else high, value if low is None else low, value)
    return [number(value), number(low), number(high), interval]


# ---- thresholds


def _curves(evaluation: Evaluation) -> Iterator[Html]:
    criteria = evaluation.criteria
    for curve in evaluation.curves:
        used = criteria.similarity if curve.axis == "similarity" else criteria.distance
        sentences = [f"Used: {_near(curve, used)}."] if used is not None else []
        if best := curve.best:
            sentences.append(
                f"The F1 is highest for {_near(curve, best.threshold)}: {number(best.f1)}, with precision "
                f"{number(best.precision)} and recall {number(best.recall)}. On other documents expect a little "
                "less, since the threshold was chosen on these."
            )
        yield element("p", " ".join(sentences))
        yield _table(curve, used, evaluation.ceiling.curve if curve.axis == "similarity" else None)


def _table(curve: Curve, used: float | None, exact: Curve | None) -> Html:
    """Show the scores of some thresholds, and of the used and the best one, with a bar for each score."""
    marked = {"highest F1": curve.best, "the threshold in use": None if used is None else curve.at(used)}
    every = _EVERY if curve.axis == "similarity" else 1
    rows = []
    for number_, point in enumerate(curve.points):
        notes = [note for note, which in marked.items() if which == point]
        if number_ % every and not notes:
            continue
        scores = [point.precision, point.recall, point.f1]
        if exact:
            scores.append(same.f1 if (same := exact.at(point.threshold)) else None)
        rows.append([f"{point.threshold:g}", *map(_score, scores), ", ".join(notes)])
    heads = [curve.axis, "precision", "recall", "F1", *(["F1 of exact Jaccard"] if exact else []), ""]
    return element("div", table(heads, rows), class_="curve")


def _score(value: float | None) -> Html:
    return element("span", number(value), "" if value is None else bar(value))


def number(value: float | None) -> str:
    """Format a score."""
    return score_text(value) or "–"


def _near(curve: Curve, threshold: float) -> str:
    """Describe a threshold."""
    if curve.axis == "distance":
        return f"within {counted(int(threshold), 'bit')}"
    return f"a similarity of at least {threshold:g}"


def _ceiling(ceiling: Ceiling) -> Html:
    best = ceiling.curve.best
    how = "of all pairs" if ceiling.is_complete else "of nearly all pairs that are similar"
    reached = f"an F1 of {number(best.f1)} at best, at {best.threshold:g}." if best else "nothing."
    return element("p", f"The exact Jaccard similarity {how}, by the same features, reaches {reached}")


# ---- kinds of pairs


def _buckets(buckets: Mapping[str, Mapping[str, PairScores]]) -> Iterator[Html]:
    columns = ["", "right", "wrong", "missed", "precision", "recall", "F1", "from", "to", ""]
    for kind, scores in buckets.items():
        yield element("h3", _KINDS[kind])
        rows = []
        for name, each in scores.items():
            counts = [f"{count:,}" for count in (each.right, each.wrong, each.missed)]
            rows.append([name, *counts, number(each.precision.value), number(each.recall.value), *_cells(each.f1)])
        yield table(columns, rows)


# ---- errors


def _errors(evaluation: Evaluation, errors: Sequence[PairError], count: int, explanation: str) -> Iterator[Html]:
    if not errors:
        yield element("p", "None.")
        return
    yield element("p", explanation, " Shown are ", legend("what only the first has", "what only the second has"))
    for error in errors:
        yield _error(evaluation, error)
    yield element("p", f"{len(errors):,} of {counted(count, 'pair')}, each text once.", class_="faint")


def _error(evaluation: Evaluation, error: PairError) -> Html:
    first, second = (element("bdi", evaluation.ids[place], class_="code") for place in (error.first, error.second))
    texts = evaluation.texts[error.first], evaluation.texts[error.second]
    return element(
        "div",
        element("h3", first, " and ", second),
        element("p", ", ".join(_known(error)), class_="faint"),
        differences(evaluation.settings, *texts),
        class_="boxed",
    )


def _known(error: PairError) -> Iterator[str]:
    """Describe how near the two texts are."""
    if error.similarity is not None:
        known = "" if error.standard_error is None else ", estimated"
        yield f"similarity {with_error(error.similarity, error.standard_error)}{known}"
    yield f"exact Jaccard {share(error.jaccard)}"
    if error.distance is not None:
        yield counted(error.distance, "bit")
    if not error.keys_meet:
        yield "no key in common"


# ---- what was measured


def _setup(evaluation: Evaluation) -> Iterator[Html]:
    truth, criteria = evaluation.truth, evaluation.criteria
    labelled = counted(len(truth.positives), "pair")
    others = "no duplicates" if truth.negatives is None else f"{len(truth.negatives):,} labelled as no duplicates"
    verification = criteria.verification
    yield table(
        ["setting", "value"],
        [
            ("scheme", evaluation.settings.name),
            ("near", nearness_in_words(criteria, evaluation.settings)),
            *([("similarity", _measure(verification))] if verification else []),
            ("decided by", criteria.decided_by),
            ("labels", f"of {truth.kind}: {labelled} of duplicates"),
            ("other pairs", others),
        ],
    )
    yield element("ul", [element("li", note) for note in evaluation_notes(evaluation)])


def _measure(verification: Verification) -> str:
    """Describe the measure of similarity, and which numbers texts must share."""
    weights = "by rarity" if verification.weights == "rarity" else "as in the fingerprint"
    of = "runs and numbers" if verification.features == "text" else "features"
    return f"{verification.measure} measure of the texts' {of}, weighted {weights}{numbers_phrase(verification)}"
