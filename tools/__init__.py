"""What developers run: nodes to work with, and generators of documentation and data."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
