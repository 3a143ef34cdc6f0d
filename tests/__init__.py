"""Tests: `unit` needs nothing but Python, `system` real nodes, browsers and processes; `support` is what they share."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
