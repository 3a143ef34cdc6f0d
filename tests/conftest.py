"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["tests.nodes.pytest_nodes"]

# A busy machine is no failure.
settings.register_profile("es_simhash", deadline=None)
settings.load_profile("es_simhash")
