"""A server for agents, by the Model Context Protocol: an index's near-duplicates as tools."""

from __future__ import annotations

from es_simhash.errors import MissingExtraError

try:
    from mcp.server import MCPServer  # noqa: F401 - earlier versions have none
except ImportError:
    raise MissingExtraError("mcp (2 or later)", "mcp") from None
