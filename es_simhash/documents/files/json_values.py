"""JSON text to a document: stricter than Python's json, since no index takes NaN, lone surrogates and the like.

If an object holds a key twice, the last value counts, as in Python's json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

from es_simhash._core.json_paths import Json
from es_simhash.documents.files.data_file import RecordError


def parse_object(text: str) -> Json:
    """Parse a text, without space around it, as an object."""
    try:
        value, end = _DECODER.raw_decode(text)
        if "\\" in text:
            # Only an escape can make a surrogate, since the text has none.
            _check_surrogates([value])
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at")  # as some of Python's reasons end
        raise RecordError(f"This is not JSON ({problem} at character {error.pos + 1}). Correct it.") from None
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise RecordError(
            f"This has a lone surrogate (\\u{code:04x}), so it is not Unicode text. Write characters in pairs of them."
        ) from None
    except ValueError:
        # Python bounds the digits of an integer, since reading them takes quadratic time.
        raise RecordError("This has an integer of thousands of digits. Write it as a string.") from None
    except RecursionError:
        raise RecordError("This is nested too deeply. Flatten it.") from None
    if end != len(text):
        raise RecordError(
            f"There is more after the JSON, from character {end + 1} on. Give each document its own line."
        )
    if not isinstance(value, dict):
        raise RecordError("This is JSON but not an object. Write each document as an object: {…}.")
    return value


def _check_surrogates(values: Iterable[Any]) -> None:
    """Encode all strings, which fails for one that has a lone surrogate; testing for ASCII takes no time."""
    for value in values:
        kind = type(value)
        if kind is str:
            if not value.isascii():
                value.encode()
        elif kind is dict:
            _check_surrogates(value)
            _check_surrogates(value.values())
        elif kind is list:
            _check_surrogates(value)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value == 0.0:  # which an infinite number is not; vectors have thousands of numbers, so this is fast
        return value
    raise RecordError(f"The number {digits[:40]} is too large. Write it as a string.")


def _refuse(constant: str) -> NoReturn:
    raise RecordError(f"This has {constant}, which JSON does not know. Write null or leave the field out.")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
