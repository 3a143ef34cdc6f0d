"""Clusters of nodes that are processes of this machine: nodes can be killed, links cut, and nodes kept out.

with start_cluster("opensearch") as cluster:
    cluster.kill(0)
    cluster.request("GET", "/_cluster/health")
"""

from __future__ import annotations

import sys
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .node import NodeError, NodeSpec, NodeUnavailable, OwnedNode, Setting, start_timeout
from .releases import RELEASES, Release
from .web import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from .links import Links

# A node that is away is to be noticed within a second, and shards are to be copied at once.
_FAULTS: dict[str, Setting] = {
    f"cluster.fault_detection.{check}.{name}": value
    for check in ("follower_check", "leader_check")
    for name, value in (("interval", "200ms"), ("timeout", "1s"), ("retry_count", 2))
}
_QUICK: dict[str, Setting] = {
    **_FAULTS,
    "discovery.find_peers_interval": "200ms",
    "cluster.election.initial_timeout": "200ms",
    "cluster.election.back_off_time": "200ms",
    "cluster.routing.allocation.node_concurrent_recoveries": 20,
    "cluster.routing.allocation.cluster_concurrent_rebalance": 20,
    "cluster.routing.allocation.node_initial_primaries_recoveries": 20,
}
_MULTI_NODE = {"elasticsearch": "multi-node", "opensearch": "zen"}
_INITIAL = {"elasticsearch": "cluster.initial_master_nodes", "opensearch": "cluster.initial_cluster_manager_nodes"}
_POLL_SECONDS = 0.1


class Cluster:
    """Nodes with numbers from 0 on, those that are killed included; leaving its `with` block stops and removes all."""

    def __init__(self, release: Release, nodes: list[OwnedNode], links: Links) -> None:
        self.release = release
        self.nodes = nodes
        self.links = links
        self._apart: set[int] = set()
        self._is_silent = False

    @property
    def urls(self) -> list[str]:
        """The HTTP address of each node, in their order."""
        return [node.url for node in self.nodes]

    @property
    def there(self) -> list[int]:
        """The numbers of the nodes that run and were not isolated."""
        return [number for number, node in enumerate(self.nodes) if node.is_running() and number not in self._apart]

    @property
    def is_whole(self) -> bool:
        """Whether all nodes run, and all links are whole."""
        return len(self.there) == len(self.nodes) and not self._is_silent

    def request(self, method: str, path: str, body: object = None) -> Reply:
        """Ask a node that is there."""
        return self.nodes[self.there[0]].request(method, path, body)

    def kill(self, number: int) -> None:
        """End a node as a power failure does (``kill -9``); its data stay."""
        self.nodes[number].kill()

    def isolate(self, number: int) -> None:
        """Cut a node off from all others; clients still reach it."""
        self._apart.add(number)
        for other in range(len(self.nodes)):
            if other != number:
                self.links.cut(number, other)

    def silence(self, one: int, other: int) -> None:
        """Let nothing through between two nodes; neither notices at once."""
        self._is_silent = True
        self.links.silence(one, other)

    def join(self) -> None:
        """Make all links whole."""
        self.links.heal()
        self._apart.clear()
        self._is_silent = False

    def make_whole(self) -> None:
        """Heal all links, start what was killed, and wait until all nodes have found each other."""
        self.join()
        for node in self.nodes:
            if not node.is_running():
                node.launch()
        self.await_nodes(len(self.nodes))

    def await_nodes(self, count: int) -> None:
        """Wait until this many nodes are in the cluster, and agree on that."""
        self._await(f"{count} nodes in one cluster", lambda: all(self._sees(number, count) for number in self.there))

    def await_green(self, index: str) -> None:
        """Wait until an index has all copies of its shards."""
        path = f"/_cluster/health/{index}?wait_for_status=green&wait_for_no_relocating_shards=true&timeout=1s"
        self._await(f"all shards of {index}", lambda: self.request("GET", path).status == HTTPStatus.OK)

    def primary(self, index: str, shard: int = 0) -> int | None:
        """Return the number of the node that has the primary of a shard."""
        path = f"/_cat/shards/{index}?format=json&h=shard,prirep,node"
        rows: list[Any] = self.request("GET", path).body
        for row in rows:
            if row["shard"] == str(shard) and row["prirep"] == "p" and row["node"]:
                return int(row["node"].split()[0].rpartition("-")[2])
        return None

    def keep_logs(self, folder: Path) -> None:
        """Copy what the nodes have logged."""
        for number, node in enumerate(self.nodes):
            (folder / f"node-{number}.log").write_text(node.log_tail(100_000), encoding="utf-8")

    def stop(self) -> None:
        """Stop all nodes, and remove their data."""
        for node in self.nodes:
            node.kill()  # nothing is to be kept
            node.stop()
        self.links.stop()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _sees(self, number: int, count: int) -> bool:
        try:
            reply = self.nodes[number].request("GET", "/_cluster/health?timeout=1s")
        except OSError:
            return False
        return reply.status == HTTPStatus.OK and reply.body["number_of_nodes"] == count

    def _await(self, what: str, holds: Any) -> None:
        deadline = time.monotonic() + 2 * start_timeout()
        while True:
            try:
                if holds():
                    return
            except OSError:
                pass
            if time.monotonic() > deadline:
                logs = "\n".join(f"{node}:\n{node.log_tail()}" for node in self.nodes)
                raise NodeError(f"{self.release}: there were not {what} in time. The logs end:\n{logs}")
            time.sleep(_POLL_SECONDS)


def start_cluster(name: str, *, nodes: int = 3, heap: str = "300m") -> Cluster:
    """Start a cluster of processes; raise NodeUnavailable where this machine can run none."""
    if sys.platform != "linux":
        raise NodeUnavailable("clusters are run on Linux only, which says whose a socket is")
    from .download import fetch
    from .java import find_java
    from .links import Links
    from .local import LocalNode
    from .machine import choose_port

    release = RELEASES[name]
    java_home, distribution = find_java(release), fetch(release)
    started: list[OwnedNode] = []
    targets = [choose_port() for _ in range(nodes)]
    links = Links(targets, lambda: {number: node.pid for number, node in enumerate(started) if node.pid is not None})
    links.start()
    cluster = Cluster(release, started, links)
    names = [f"{name}-{number}" for number in range(nodes)]
    try:
        for number in range(nodes):
            settings: dict[str, Setting] = {
                "cluster.name": f"{name}-{targets[0]}",
                "node.name": names[number],
                "discovery.type": _MULTI_NODE[release.engine],
                "discovery.seed_hosts": ",".join(f"127.0.0.1:{port}" for port in links.ports),
                _INITIAL[release.engine]: ",".join(names),
                "transport.port": targets[number],
                "transport.publish_port": links.ports[number],
                **_QUICK,
            }
            started.append(LocalNode(NodeSpec(release, settings, heap=heap), java_home, distribution))
        for node in started:
            node.launch()
        cluster.await_nodes(nodes)
    except BaseException:
        cluster.stop()
        raise
    return cluster
