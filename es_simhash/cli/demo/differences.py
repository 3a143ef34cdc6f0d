"""What differs between two texts, to be read by people."""

from __future__ import annotations

from difflib import SequenceMatcher

from es_simhash.cli.demo.grammar import Language

# How many words or characters stand on each side of a difference.
_AROUND = {True: 4, False: 10}


def marked(language: Language, before: str, after: str) -> str:
    """The second text with ``[-…-]`` around what is gone and ``{+…+}`` around what is new; long equal parts are cut."""
    first, second = language.units(before), language.units(after)
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    around = _AROUND[bool(language.gap)]
    parts = []
    for operation, i, j, k, m in matcher.get_opcodes():
        if operation == "equal":
            parts.append(_shortened(first[i:j], around, is_first=i == 0, is_last=j == len(first)))
        else:
            parts += [_around("[-", first[i:j], "-]"), _around("{+", second[k:m], "+}")]
    return " ".join("".join(parts).split())


def _around(left: str, units: list[str], right: str) -> str:
    text = "".join(units)
    return f"{left}{text.rstrip()}{right}{text[len(text.rstrip()) :]}" if text else ""


def _shortened(units: list[str], around: int, *, is_first: bool, is_last: bool) -> str:
    head = [] if is_first else units[:around]
    tail = [] if is_last else units[-around:]
    if len(head) + len(tail) >= len(units):
        return "".join(units)
    return "".join([*head, "… ", *tail])
