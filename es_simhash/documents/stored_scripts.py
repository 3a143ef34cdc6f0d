"""The pipeline, scripts and search templates that a server stores, for people who use an index without Python.

Scripts (Painless) are about the Hamming distance of a document's SimHash and another one, given in hexadecimal digits:
only digits bring 64 bits and more to a server unchanged, as JavaScript, and so Kibana, rounds numbers above 2**53.
Templates (Mustache) find the near-duplicates of a document by its id alone, or by its fields, and distinct hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from string import Template
from typing import Literal

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError, SchemeError
from es_simhash.scheme import own_fields
from es_simhash.scheme.mapping import DEFAULT_PREFIX, GROUP
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Settings, SimHash
from es_simhash.text.hashing import DEFAULT
from es_simhash.text.normalise import Folding, folded_characters, unassigned_ranges
from es_simhash.text.tokens import Chars, Runs
from es_simhash.text.words import DENSE, LONG

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


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class StoredScript:
    """A script, or a search template, by its name on the server; ``use`` describes its purpose.

    It needs its ``parameters``, and may be given the ``optional`` ones. ``context`` is what a script is compiled for
    when it is stored, so that a mistake shows then; it can be used in others as well. Templates have none.
    """

    JSON = ("name", "use", "parameters", "optional", "path", "body")

    name: str
    use: str
    source: str
    parameters: tuple[str, ...]
    optional: tuple[str, ...] = ()
    context: Literal["filter", "number_sort", "score"] | None = None

    @property
    def is_template(self) -> bool:
        """Whether this is a search template."""
        return self.context is None

    @property
    def path(self) -> str:
        """The path under which the server stores it."""
        return f"/_scripts/{self.name}"

    @property
    def body(self) -> Json:
        """The body that the server stores."""
        return {"script": {"lang": "mustache" if self.is_template else "painless", "source": self.source}}


def stored_scripts(settings: Settings, prefix: str = DEFAULT_PREFIX, name: str | None = None) -> list[StoredScript]:
    """Return the scripts and templates for indices with these fields; each name begins with ``name``.

    If scripts cannot read a SimHash, there are only the templates that need none.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise InputError(f"Scripts cannot have names that begin with {name!r}. Choose letters, digits, _, . and -.")
    own = name or ("es-simhash" if prefix == DEFAULT_PREFIX else f"es-simhash-{prefix}")
    simhash = readable_simhash(settings)
    by_id = StoredScript(
        f"{own}-find",
        "the near-duplicates of a document, by its id",
        by_id_template(settings, prefix),
        ("id",),
        ("shared", "size"),
    )
    distinct = StoredScript(
        f"{own}-distinct",
        "the hits of a query, each group or text once, as buckets of an aggregation",
        distinct_template(prefix),
        ("query",),
        ("size", "window"),
    )
    needs_simhash = [] if simhash is None else _scripts_by_distance(settings, simhash, prefix, own)
    return [*needs_simhash, by_id, distinct]


def _scripts_by_distance(settings: Settings, simhash: SimHash, prefix: str, own: str) -> Iterator[StoredScript]:
    """Yield scripts that compare with ``params.simhash``; one without a fingerprint is farther than any other."""
    distance, within = f"{own}-distance", f"{own}-within"
    read, bits, differing = _own(prefix), simhash.bits, _distance(simhash)
    yield StoredScript(
        distance,
        "the number of bits that differ, to sort by or to show",
        f"{read}\nreturn own.size() == 0 ? {bits + 1} : {differing};",
        ("simhash",),
        context="number_sort",
    )
    yield StoredScript(
        within,
        "a filter by the number of bits that differ",
        f"{read}\nreturn own.size() > 0 && {differing} <= params.distance;",
        ("simhash", "distance"),
        context="filter",
    )
    yield StoredScript(
        f"{own}-score",
        "the number of equal bits, for script_score",
        f"{read}\nreturn own.size() == 0 ? 0 : {bits} - {differing};",
        ("simhash",),
        context="score",
    )
    yield StoredScript(
        f"{own}-nearest",
        "documents within a distance, the nearest first",
        by_distance_template(settings, simhash, prefix, within, distance),
        (prefix,),
        ("id", "distance", "shared", "size"),
    )


def readable_simhash(settings: Settings) -> SimHash | None:
    """Return the SimHash of the settings if scripts can read it in documents."""
    return settings.simhash if settings.layout.doc_values and settings.layout.simhash == "field" else None


# The most that `Long` parses.
_DIGITS_A_WORD = 16


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
    params = {"scheme": scheme_id, "simhash": f"{wanted:0{hex_digits(simhash)}x}", "distance": distance}
    return {"script": {"script": {"lang": "painless", "source": source, "params": params}}}


def hex_digits(simhash: SimHash) -> int:
    """Return the number of hexadecimal digits of a SimHash."""
    return -(-simhash.bits // 4)


def _own(prefix: str) -> str:
    return f"def own = doc['{prefix}.simhash'];"


def _distance(simhash: SimHash) -> str:
    """Add up the differing bits of 64-bit words."""
    count = hex_digits(simhash)
    if count <= _DIGITS_A_WORD:
        return _of_words("own.value", "params.simhash")
    parts = [f".substring({i}, {min(i + _DIGITS_A_WORD, count)})" for i in range(0, count, _DIGITS_A_WORD)]
    return f"({' + '.join(_of_words(f'own.value{part}', f'params.simhash{part}') for part in parts)})"


def _of_words(own: str, other: str) -> str:
    return f"Long.bitCount(Long.parseUnsignedLong({own}, 16) ^ Long.parseUnsignedLong({other}, 16))"


# The engine looks up the keys of the document itself; with these limits more_like_this takes them all.
_BY_ID = Template("""\
{
  "size": {{size}}{{^size}}10{{/size}},
  "_source": {"excludes": ["$prefix"]},
  "query": {
    "more_like_this": {
      "fields": [$keys],
      "like": [{"_id": "{{id}}"}],
      "min_term_freq": 1,
      "min_doc_freq": 1,
      "max_query_terms": $count,
      "minimum_should_match": $shared
    }
  }
}
""")

# Mustache cannot subtract the distance from the number of blocks, so ``shared`` is a parameter of its own.
_BY_DISTANCE = Template("""\
{
  "size": {{size}}{{^size}}10{{/size}},
  "_source": {"excludes": ["$prefix"]},
  "query": {
    "bool": {
      "must_not": [{{#id}}{"ids": {"values": ["{{id}}"]}}{{/id}}],
      "filter": [
        $blocks,
        {
          "script": {
            "script": {
              "id": "$within",
              "params": {
                "simhash": "{{$prefix.simhash}}",
                "distance": {{distance}}{{^distance}}$most{{/distance}}
              }
            }
          }
        }
      ]
    }
  },
  "sort": [
    {
      "_script": {
        "type": "number",
        "order": "asc",
        "script": {"id": "$distance", "params": {"simhash": "{{$prefix.simhash}}"}}
      }
    }
  ]
}
""")

_BLOCKS = {
    "text": Template(
        '{"match": {"$prefix.blocks": {"query": "{{$prefix.blocks}}", "minimum_should_match": $shared }}}'
    ),
    # Each clause of the list ends with a comma, so one that finds nothing follows.
    "keyword": Template(
        '{"bool": {"should": [{{#$prefix.blocks}}{"term": {"$prefix.blocks": "{{.}}"}}, {{/$prefix.blocks}}'
        '{"match_none": {}}], "minimum_should_match": $shared }}'
    ),
    "fields": Template('{"bool": {"should": [$each], "minimum_should_match": $shared }}'),
}

# The best hits of each shard are grouped by a key. A server collapses by a stored field only, and would take all
# documents without one for the same; here such a document has a key that no other has.
_DISTINCT = Template("""\
{
  "size": 0,
  "query": {{#toJson}}query{{/toJson}},
  "aggs": {
    "window": {
      "sampler": {"shard_size": {{window}}{{^window}}100{{/window}}},
      "aggs": {
        "distinct": {
          "terms": {
            "script": {"lang": "painless", "source": "$key"},
            "size": {{size}}{{^size}}10{{/size}},
            "shard_size": {{window}}{{^window}}100{{/window}},
            "order": {"score": "desc"}
          },
          "aggs": {
            "score": {"max": {"script": {"lang": "painless", "source": "_score"}}},
            "hit": {"top_hits": {"size": 1, "_source": {"excludes": ["$prefix"]}}}
          }
        }
      }
    }
  }
}
""")
_KEY = Template(
    "def own = params._source['$prefix']; "
    "if (own instanceof Map && own.group != null) { return 'group ' + own.group + ' ' + own.canonical } "
    "if (own instanceof Map && own.status == 'ok') { return 'text ' + own.content } "
    "return 'alone ' + Math.random()"
)


def by_id_template(settings: Settings, prefix: str) -> str:
    """Return a template for documents that share keys with the one of the parameter ``id``, best score first.

    The keys are the bands of MinHash: as many must be ``shared`` as its similarity needs, unless that parameter says
    otherwise. Without MinHash they are the blocks of SimHash: as many must be shared as its distance needs.
    """
    if settings.minhash:
        kind, count, least = "band", settings.minhash.bands, settings.minhash.shared
    else:
        assert settings.simhash
        kind, count, least = "block", settings.simhash.blocks, _least(settings.simhash)
    keys = ", ".join(f'"{prefix}.{name}"' for name in own_fields.names(settings) if name.startswith(kind))
    return _BY_ID.substitute(prefix=prefix, keys=keys, count=count, shared=_shared(least))


def by_distance_template(settings: Settings, simhash: SimHash, prefix: str, within: str, distance: str) -> str:
    """Return a template for documents within a distance, nearest first; ``sort`` holds the distance of each.

    The parameters are the fields as a document's ``_source`` has them, and if wanted an ``id`` to leave out, another
    ``distance``, and how many blocks must be ``shared``. ``within`` and ``distance`` name stored scripts.
    """
    each = Template('{"term": {"$prefix.block$i": "{{$prefix.block$i}}"}}')
    blocks = _BLOCKS[settings.layout.keys].substitute(
        prefix=prefix,
        each=", ".join(each.substitute(prefix=prefix, i=i) for i in range(simhash.blocks)),
        shared=_shared(_least(simhash)),
    )
    return _BY_DISTANCE.substitute(
        prefix=prefix, blocks=blocks, within=within, distance=distance, most=simhash.distance
    )


def distinct_template(prefix: str) -> str:
    """Return a template for the hits of a ``query``: the best of a canonical document and its duplicates.

    Without groups, it is the best of equal texts.

    A bucket of the aggregation ``distinct`` is a hit with the number of those that it stands for, among the best of
    each shard, as many as the ``window``.
    """
    return _DISTINCT.substitute(prefix=prefix, key=_KEY.substitute(prefix=prefix))


def _shared(least: int) -> str:
    """Return how many keys must be shared, unless the parameter ``shared`` says otherwise."""
    # Not between quotes: the Dev Tools of Kibana 8.15 break a line within "}}{{".
    return f"{{{{shared}}}}{{{{^shared}}}}{least}{{{{/shared}}}}"


def _least(simhash: SimHash) -> int:
    """Return how many blocks all documents within the scheme's distance share."""
    return simhash.layout.min_shared(simhash.distance)
