"""Numbers of texts character by character (defined in `es_simhash.text.numbers`), and texts that have many."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from hypothesis import strategies as st

from es_simhash.text.normalise import is_unassigned
from tests.support.runs import runs_of
from tests.support.texts import AWKWARD

CHINESE = "〇零一二三四五六七八九十百千万萬亿億"
# Digits of many scripts, in one unit and in two; some that Unicode 13.0 lacks; what looks like digits but is none.
DIGITS = "0123456789٣۴߀९௦０９𝟎𝟗𐒠🯰🯹"
NO_DIGITS = "𖫀𞓰\U00010d4a①²½Ⅷ㊂廿两"
_SMALL = {"十": 10, "百": 100, "千": 1000}


def numerals_of(text: str) -> list[tuple[int, int, str]]:
    """Return where each numeral begins and ends, and its number, by trying the longest one at each place."""
    found, place = [], 0
    while place < len(text):
        end = _end(text, place)
        chinese = _run(text, place, CHINESE.__contains__)
        if end > place:
            found.append((place, end, _of_digits(text[place:end])))
        elif 2 <= chinese - place <= 16:
            found.append((place, chinese, str(_of_chinese(text[place:chinese]))))
        place = max(end, chinese, place + 1)
    return found


def numbers_by_characters(text: str) -> list[str]:
    """Return the numbers that have tokens."""
    numbers = {number for _, _, number in numerals_of(text)}
    counted = max((k for k in range(len(numbers) + 1) if numbers >= set(map(str, range(1, k + 1)))), default=0)
    left = numbers - set(map(str, range(1, counted + 1))) if counted >= 3 else numbers
    return sorted(left, key=int)


def masked_by_characters(text: str) -> str:
    """Return the text with a 0 for each numeral."""
    for start, end, _ in reversed(numerals_of(text)):
        text = f"{text[:start]}0{text[end:]}"
    return text


def runs_and_numbers_of(text: str) -> list[str]:
    """Return all tokens."""
    prefixes = "\x01\x02\x03\x04\x05\x06\x07"
    numbers = numbers_by_characters(text)
    return runs_of(masked_by_characters(text)) + [prefix + number for number in numbers for prefix in prefixes]


def numerous_text(max_size: int = 30) -> st.SearchStrategy[str]:
    """Texts of digits, separators, Chinese numerals and other characters."""
    pieces = st.one_of(
        st.sampled_from(DIGITS + NO_DIGITS + CHINESE + AWKWARD + ",,,'’.，"),
        st.sampled_from([",000", "'500", "’123", ",٠٠٠", "1,2,3", "一百", "二〇二四", "三万五千", "三" * 17, " "]),
        st.integers(0, 5).map(str),
        st.integers(0, 10**7).map("{:,}".format),
        st.text(st.sampled_from(CHINESE), min_size=14, max_size=18),
    )
    return st.lists(pieces, max_size=max_size).map("".join)


def _is_digit(character: str) -> bool:
    return character.isdecimal() and not is_unassigned(character)


def _run(text: str, start: int, belongs: Callable[[str], bool]) -> int:
    end = start
    while end < len(text) and belongs(text[end]):
        end += 1
    return end


def _end(text: str, start: int) -> int:
    """Return the end of the numeral of digits that begins there."""
    end = _run(text, start, _is_digit)
    if not 1 <= end - start <= 3:
        return end
    separator = text[end : end + 1]
    while separator in {",", "'", "’"} and text[end : end + 1] == separator:
        if _run(text, end + 1, _is_digit) != end + 4:
            break
        end += 4
    return end


def _of_digits(numeral: str) -> str:
    return str(int("".join(str(unicodedata.decimal(each)) for each in numeral if _is_digit(each))))


def _of_chinese(numeral: str) -> int:
    values = {each: value for value, each in enumerate("零一二三四五六七八九")} | {"〇": 0}
    if all(each in values for each in numeral):
        return int("".join(str(values[each]) for each in numeral))
    *high, low = re.split("[亿億]", numeral)
    return sum(10**8 * max(_of_low(part, values), 1) for part in high) + _of_low(low, values)


def _of_low(part: str, values: dict[str, int]) -> int:
    """Read a part without 亿."""
    *more, rest = re.split("[万萬]", part)
    return sum(10**4 * max(_of_small(each, values), 1) for each in more) + _of_small(rest, values)


def _of_small(part: str, values: dict[str, int]) -> int:
    """Read a part without 万 and 亿."""
    total, digits = 0, "0"
    for each in part:
        if each in values:
            digits += str(values[each])
        else:
            total += max(int(digits), 1) * _SMALL[each]
            digits = "0"
    return total + int(digits)
