"""Queries and updates of SPARQL 1.1, from text to the values of ``algebra.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from imp_driver.sparql.algebra import Query, Source
from imp_driver.sparql.reading.forms import query
from imp_driver.sparql.reading.tokens import is_update
from imp_driver.sparql.terms import Term
from imp_driver.values.bounded_cache import BoundedCache

__all__ = ["is_update", "read_query"]

_MOST: Final = 512
_QUERIES: Final[BoundedCache[tuple[str, tuple[Source, ...]], Query]] = BoundedCache(_MOST)


def read_query(text: str, default: Sequence[Source] = (), parameters: Mapping[str, Term] | None = None) -> Query:
    """Return the query of text."""
    key = (text, tuple(default))
    found = _QUERIES.get(key)
    if found is None:
        found = query(text, tuple(default))
        _QUERIES[key] = found
    return found
