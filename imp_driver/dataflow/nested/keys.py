"""What sums are ordered by, and places in that order."""

from __future__ import annotations

from typing import Any, TypeAlias

Key: TypeAlias = Any
"""Whatever is totally ordered and exact: whole numbers, decimals, fractions, texts, dates."""
Cut: TypeAlias = tuple[Key, int]
"""A place between keys: before a key (0) or after it (1)."""
