"""Which schemes a script can do: those of character n-grams, hashed by poly64, without weights from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash.errors import InputError, SchemeError
from es_simhash.scheme.settings import Settings
from es_simhash.text.hashing.registry import DEFAULT
from es_simhash.text.tokens.kinds import Chars

# Windows are hashed one by one, so that long ones would take a server too long.
LARGEST_N = 64

# What a document has under these names while it is written is not of its source.
_METADATA = {"_id", "_index", "_routing", "_type", "_version", "_version_type", "_if_seq_no", "_if_primary_term"}


def check_scheme(settings: Settings) -> int:
    """Refuse a scheme that a script cannot do, naming the parts of it that are the reason; else its n is returned."""
    if problems := "; ".join(_problems(settings)):
        raise SchemeError(
            f"A pipeline cannot compute the scheme {settings.name!r}: {problems}. Have the programs that write use "
            "es_simhash, or run backfill by the clock; or choose a scheme that a pipeline can do, such as 'default'."
        )
    assert isinstance(settings.tokens, Chars)
    return settings.tokens.n


def check_sources(paths: Sequence[str]) -> None:
    """Refuse source fields that a script would take for something else."""
    for path in paths:
        if path.split(".")[0] in _METADATA:
            raise InputError(
                f"A pipeline cannot read the source field {path!r}: under that name it finds what the server notes of "
                "a document. Choose other fields."
            )


def _problems(settings: Settings) -> Iterator[str]:
    tokens = settings.tokens
    if settings.html:
        yield "a script cannot take markup out of HTML (html)"
    if not isinstance(tokens, Chars):
        yield f"a script cuts texts into character n-grams only, not into {tokens.kind!r} (tokens)"
    elif tokens.n > LARGEST_N:
        yield f"a script takes n-grams of at most {LARGEST_N} characters, not of {tokens.n} (tokens)"
    if settings.weights not in ("set", "tf"):
        yield f"a script does not have the weights {settings.weights!r} (weights)"
    if settings.hash_function.name != DEFAULT:
        yield f"a script hashes by {DEFAULT!r} only, not by {settings.hash_function.name!r} (hash)"
    if settings.minhash and settings.minhash.kind != "one-permutation":
        yield f"a script makes one-permutation MinHash only, not {settings.minhash.kind!r} (minhash)"
