"""Search templates (Mustache): the near-duplicates of a document by its id alone, or by its fields; distinct hits.

Names after ``$`` depend on the scheme.
"""

from __future__ import annotations

from string import Template

from es_simhash.scheme import own_fields
from es_simhash.scheme.settings import Settings, SimHash

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


def by_id(settings: Settings, prefix: str) -> str:
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


def by_distance(settings: Settings, simhash: SimHash, prefix: str, within: str, distance: str) -> str:
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


def distinct(prefix: str) -> str:
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
