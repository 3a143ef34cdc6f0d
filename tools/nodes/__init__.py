"""Real Elasticsearch and OpenSearch nodes for the tests, with containers or without them.

    with start_node("opensearch") as node:
        node.request("GET", "/")

A node comes from the first of these that can give one:

1. a URL in the environment: ES_SIMHASH_TEST_OPENSEARCH_URL, ES_SIMHASH_TEST_ELASTICSEARCH_URL, and so on;
2. a running Docker engine, with the images of docker-compose.yml;
3. `mvn` and a fitting Java: the server is downloaded from Maven Central once and run as a plain process.

`python -m tools.nodes opensearch` starts one to play with.
"""

from __future__ import annotations

from .node import Node, NodeError, NodeUnavailable
from .releases import RELEASES, Release
from .sources import start_node

__all__ = ["RELEASES", "Node", "NodeError", "NodeUnavailable", "Release", "start_node"]
