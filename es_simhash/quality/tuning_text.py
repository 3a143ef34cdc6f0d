"""Features, rules and keys described in words."""

from __future__ import annotations

from es_simhash.quality.key_choice import KeyOption
from es_simhash.quality.rule_search import is_default
from es_simhash.scheme.verdict.conditions import CONDITIONS
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.sketches.key_plans import Goal
from es_simhash.text.tokens.kinds import Chars, Runs, Tokens, Words

_MEASURES = {"jaccard": "Jaccard"}


def describe_tokens(tokens: Tokens) -> str:
    """Name tokens."""
    if isinstance(tokens, Chars):
        return f"character {tokens.n}-grams"
    if isinstance(tokens, Runs):
        return "runs of characters"
    if isinstance(tokens, Words):
        return "words" if tokens.n == 1 else f"runs of {tokens.n} words"
    return f"tokens of the kind {tokens.kind!r}"


def describe_rule(verification: Verification) -> str:
    """Describe the minimum similarity and the conditions of a rule."""
    levels = [(_MEASURES.get(verification.measure, verification.measure), verification.similarity)]
    levels += [(name.replace("_", " "), getattr(verification, name)) for name in CONDITIONS]
    if is_default(verification):
        levels[0] = ("similarity", verification.similarity)
    described = ", ".join(f"{name} ≥ {least:g}" for name, least in levels if least)
    return f"the default rule, {described}" if is_default(verification) else described


def describe_keys(option: KeyOption, goal: Goal, pairs: str = "such pairs") -> str:
    """Describe what keys find, their cost, and why they were chosen."""
    minhash = option.scheme.minhash
    assert minhash
    in_vain = "false candidates a query"
    cost = f"in the fewest bytes with at most {goal.candidates:,.0f} {in_vain}"
    if option.candidates > goal.candidates:
        cost = f"with the fewest {in_vain}, which are {option.candidates:,.0f}"
    return (
        f"{minhash.bands} bands of {minhash.rows} rows are the keys that find "
        f"{min(option.expected_recall, goal.recall):.1%} of {pairs} {cost}, among {goal.documents:,} documents"
    )


def capitalized(words: str) -> str:
    """Capitalize the first letter."""
    return words[:1].upper() + words[1:]
