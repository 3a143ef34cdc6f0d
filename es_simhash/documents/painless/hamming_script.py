"""Painless scripts for the Hamming distance of a document's SimHash and another one, given in hexadecimal digits.

Only digits bring 64 bits and more to a server unchanged: JavaScript, and so Kibana, rounds numbers above 2**53.
"""

from __future__ import annotations

from es_simhash._core.json_codec import Json
from es_simhash.scheme.settings import SimHash

# The most that `Long` parses.
_DIGITS_A_WORD = 16


def distance(prefix: str, simhash: SimHash) -> str:
    """Return a script for how many bits differ from ``params.simhash``; without a fingerprint, one more than all."""
    return f"{_own(prefix)}\nreturn own.size() == 0 ? {simhash.bits + 1} : {_distance(simhash)};"


def within(prefix: str, simhash: SimHash) -> str:
    """Return a script for whether at most ``params.distance`` bits differ from ``params.simhash``."""
    return f"{_own(prefix)}\nreturn own.size() > 0 && {_distance(simhash)} <= params.distance;"


def score(prefix: str, simhash: SimHash) -> str:
    """Return a script for how many bits are as in ``params.simhash``; 0 without a fingerprint."""
    return f"{_own(prefix)}\nreturn own.size() == 0 ? 0 : {simhash.bits} - {_distance(simhash)};"


def may_be_within(prefix: str, simhash: SimHash, scheme_id: str, wanted: int, distance: int) -> Json:
    """Return a query that drops documents with a SimHash of this scheme farther away than ``distance``.

    Documents of other schemes pass, so that the comparison can count them. Only the parameters change from search to
    search: a server compiles the script once.
    """
    source = (
        f"def scheme = doc['{prefix}.scheme'];\n{_own(prefix)}\n"
        f"return scheme.size() == 0 || scheme.value != params.scheme || own.size() == 0 || "
        f"{_distance(simhash)} <= params.distance;"
    )
    params = {"scheme": scheme_id, "simhash": f"{wanted:0{digits(simhash)}x}", "distance": distance}
    return {"script": {"script": {"lang": "painless", "source": source, "params": params}}}


def digits(simhash: SimHash) -> int:
    """Return the number of hexadecimal digits of a SimHash."""
    return -(-simhash.bits // 4)


def _own(prefix: str) -> str:
    return f"def own = doc['{prefix}.simhash'];"


def _distance(simhash: SimHash) -> str:
    """Add up the differing bits of 64-bit words."""
    count = digits(simhash)
    if count <= _DIGITS_A_WORD:
        return _of_words("own.value", "params.simhash")
    parts = [f".substring({i}, {min(i + _DIGITS_A_WORD, count)})" for i in range(0, count, _DIGITS_A_WORD)]
    return f"({' + '.join(_of_words(f'own.value{part}', f'params.simhash{part}') for part in parts)})"


def _of_words(own: str, other: str) -> str:
    return f"Long.bitCount(Long.parseUnsignedLong({own}, 16) ^ Long.parseUnsignedLong({other}, 16))"
