"""The ingest pipeline of an index: it gives each document that is written the fields of `Documents.add_fields`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError, SchemeError
from es_simhash.scheme.mapping import DEFAULT_PREFIX, GROUP
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Settings
from es_simhash.text.hashing.registry import DEFAULT
from es_simhash.text.normalise import Folding, folded_characters, unassigned_ranges
from es_simhash.text.tokens.kinds import Chars, Runs
from es_simhash.text.tokens.runs import DENSE, LONG

# Windows are hashed one by one, so long ones would take a server too long.
LARGEST_N = 64

# Under these names the server keeps metadata of a document while it is written.
_METADATA = {"_id", "_index", "_routing", "_type", "_version", "_version_type", "_if_seq_no", "_if_primary_term"}

# In UTF-16 units, of a text as it is and when normalised: far below the million steps of a loop.
LONGEST_TEXT = 200_000

_OURS = "es_simhash: fingerprints of "


def name_of(index: str, prefix: str = DEFAULT_PREFIX) -> str:
    """Return the name of the pipeline of an index."""
    return f"es-simhash-{index}" + ("" if prefix == DEFAULT_PREFIX else f"-{prefix}")


def pipeline(index: str, documents: Documents) -> Json:
    """Return the body of the pipeline; a scheme that a script cannot compute is a `SchemeError`.

    A document on which the script fails gets the status ``deferred``.
    """
    if problems := "; ".join(_problems_of(documents.scheme)):
        raise SchemeError(
            f"A pipeline cannot compute the scheme {documents.scheme.name!r}: {problems}. Have the programs that "
            "write use es_simhash, or run backfill by the clock; or choose a scheme that a pipeline can do, such as "
            "'default'."
        )
    _check_sources(documents.fields)
    parameters = {
        "sources": [path.split(".") for path in documents.fields],  # first, as people who paste it change this
        "prefix": documents.prefix,
        "names": documents.names,
        "group": GROUP,
        "scheme": _scheme(documents.scheme),
    }
    deferred = {"set": {"field": documents.prefix, "value": {"status": DEFERRED}}}
    script = {
        "tag": "es-simhash",
        "lang": "painless",
        "params": parameters,
        "source": source(),
        "on_failure": [deferred],
    }
    return {"description": description(index, documents.prefix), "processors": [{"script": script}]}


def description(index: str, prefix: str) -> str:
    """Describe a pipeline, so that it is known to be ours, and for that index."""
    return f"{_OURS}{index} under {prefix}"


def is_ours(text: object, prefix: str) -> bool:
    """Return whether this describes a pipeline for that prefix, of any index."""
    return isinstance(text, str) and text.startswith(_OURS) and text.endswith(f" under {prefix}")


@cache
def source() -> str:
    """Read the script."""
    return files(__package__).joinpath("fingerprint.painless").read_text(encoding="utf-8")


def _scheme(scheme: Scheme) -> Json:
    """Return what the script needs of a scheme that it can compute."""
    tokens = scheme.tokens
    assert isinstance(tokens, Chars | Runs)
    return {
        "id": scheme.id,
        "n": tokens.n if isinstance(tokens, Chars) else LONG,
        # How long the runs are that begin in a dense script, and where those scripts begin and end, in turn.
        "dense": {"n": tokens.dense, "bounds": _bounds(sorted(DENSE))} if isinstance(tokens, Runs) else None,
        "weights": scheme.weights,
        "floor": scheme.floor,
        "keys": scheme.layout.keys,
        "longest": LONGEST_TEXT,
        "simhash": _simhash(scheme),
        "minhash": _minhash(scheme),
        "nfkc": scheme.normalisation.nfkc,
        "casefold": scheme.normalisation.casefold,
        "whitespace": scheme.normalisation.whitespace,
        "unassigned": unassigned_bounds(),
        "folding": folding(),
        "fold": _folded_characters(scheme.normalisation.fold),
    }


def _bounds(ranges: Iterable[tuple[int, int]]) -> list[int]:
    """Return where ranges of code points begin and end, in turn."""
    return [bound for first, last in ranges for bound in (first, last + 1)]


def _folded_characters(kinds: tuple[Folding, ...]) -> Json | None:
    """Return the characters that kinds of folding change, in ascending order, and what each becomes (NUL: nothing)."""
    characters = sorted(folded_characters(kinds).items())
    if not characters:
        return None
    return {
        "from": "".join(chr(point) for point, _ in characters),
        "to": "".join(folded or "\0" for _, folded in characters),
    }


def _simhash(scheme: Scheme) -> Json | None:
    if scheme.simhash is None:
        return None
    layout = scheme.simhash.layout
    return {
        "bits": layout.bits,
        "widths": list(layout.widths),
        "digits": layout.key_digits - 1,
        "has_field": scheme.layout.simhash == "field",
    }


def _minhash(scheme: Scheme) -> Json | None:
    if scheme.minhash is None:
        return None
    layout = scheme.minhash.layout
    return {
        "size": scheme.minhash.size,
        "count": layout.count,
        "rows": layout.rows,
        "value_bits": layout.value_bits,
        "key_bits": layout.key_bits,
        "signature_bits": scheme.layout.signature_bits,
    }


def _check_sources(paths: Sequence[str]) -> None:
    """Refuse source fields that a script would take for something else."""
    for path in paths:
        if path.split(".")[0] in _METADATA:
            raise InputError(
                f"A pipeline cannot read the source field {path!r}: under that name it finds what the server notes of "
                "a document. Choose other fields."
            )


def _problems_of(settings: Settings) -> Iterator[str]:
    """Find what of a scheme a script cannot compute."""
    tokens = settings.tokens
    if settings.html:
        yield "a script cannot take markup out of HTML (html)"
    if not isinstance(tokens, Chars | Runs):
        yield f"a script cuts texts into runs of characters only, not into {tokens.kind!r} (tokens)"
    elif isinstance(tokens, Chars) and tokens.n > LARGEST_N:
        yield f"a script takes n-grams of at most {LARGEST_N} characters, not of {tokens.n} (tokens)"
    if settings.weights not in ("set", "tf"):
        yield f"a script does not have the weights {settings.weights!r} (weights)"
    if settings.hash_function.name != DEFAULT:
        yield f"a script hashes by {DEFAULT!r} only, not by {settings.hash_function.name!r} (hash)"
    if settings.minhash and settings.minhash.kind != "one-permutation":
        yield f"a script makes one-permutation MinHash only, not {settings.minhash.kind!r} (minhash)"
    if settings.passages:
        yield "a script makes no keys of passages (passages)"


_CODE_POINTS = 0x110000


@cache
def unassigned_bounds() -> list[int]:
    """Return, in turn, where code points stop being assigned, and where they begin again."""
    return _bounds(unassigned_ranges())


@cache
def folding() -> Json:
    """Return case folding as runs: from ``starts`` to ``ends``, each ``steps``-th code point moves by ``distances``.

    Code points of a run with distance 0 become several, which ``expansions`` lists by their decimal numbers.
    """
    runs: list[list[int]] = []
    expansions: dict[str, str] = {}
    for point, folded in _folded():
        distance = ord(folded) - point if len(folded) == 1 else 0
        if not distance:
            expansions[str(point)] = folded
        if not (runs and _extend(runs[-1], point, distance)):
            runs.append([point, point, 1, distance])
    starts, ends, steps, distances = map(list, zip(*runs, strict=True))
    return {"starts": starts, "ends": ends, "steps": steps, "distances": distances, "expansions": expansions}


def _folded() -> list[tuple[int, str]]:
    """Return all assigned code points that case folding changes, with what they become."""
    assigned = pairwise([0, *unassigned_bounds(), _CODE_POINTS])
    points = chain.from_iterable(range(*bounds) for bounds in list(assigned)[::2])
    return [(point, folded) for point in points if (folded := chr(point).casefold()) != chr(point)]


def _extend(run: list[int], point: int, distance: int) -> bool:
    """Extend a run by a code point; return False if it does not continue the run."""
    start, end, step, own_distance = run
    gap = point - end
    goes_on = gap == step or (start == end and gap == 2)
    if distance != own_distance or not goes_on or (gap > 1 and not distance):
        return False
    run[1:3] = point, gap
    return True
