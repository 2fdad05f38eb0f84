"""Queries and updates of SPARQL 1.1, from text to the values of ``algebra.py``.

The grammar is that of rdflib; what it finds is read here, since terms are to stay as they were written, names of graph tables relative, and
filters where section 18.2.2 of the recommendation has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from imp_driver.sparql.algebra import Query, Source, Update
from imp_driver.sparql.reading.forms import query
from imp_driver.sparql.reading.parameters import with_parameters, with_parameters_of_update
from imp_driver.sparql.reading.tokens import is_update, variable_names, with_data
from imp_driver.sparql.reading.updates import updates
from imp_driver.sparql.terms import Term
from imp_driver.values.bounded_cache import BoundedCache

__all__ = ["is_update", "read_query", "read_updates", "variable_names"]

_NONE: Final[Mapping[str, Term]] = MappingProxyType({})
_MOST: Final = 512
"""Texts whose reading is kept: the parser takes tens of milliseconds."""
_LONGEST: Final = 20_000
"""Characters of a text that is kept; longer ones are data."""
_QUERIES: Final[BoundedCache[tuple[str, tuple[Source, ...]], Query]] = BoundedCache(_MOST)
_UPDATES: Final[BoundedCache[tuple[str, Source | None], tuple[Update, ...]]] = BoundedCache(_MOST)


def read_query(text: str, default: Sequence[Source] = (), parameters: Mapping[str, Term] = _NONE) -> Query:
    """Return the query of text.

    Args:
        text: SELECT, ASK, CONSTRUCT or DESCRIBE.
        default: the graphs whose union is the default graph where the query has no FROM, and whose tables have its named graphs.
        parameters: values of variables, by names without question marks; every solution has them.

    Raises:
        ProgrammingError: the text is no query of SPARQL 1.1 (with the position), or does not say which graph it asks.
        NotSupportedError: something of SPARQL 1.1 that this driver leaves out, or no parser is installed.
    """
    key = (text, tuple(default))
    found = _QUERIES.get(key)
    if found is None:
        found = query(text, key[1])
        if len(text) <= _LONGEST:
            _QUERIES[key] = found
    return with_parameters(found, parameters) if parameters else found


def read_updates(text: str, default: Source | None = None, parameters: Mapping[str, Term] = _NONE) -> tuple[Update, ...]:
    """Return the updates of a request, in their order.

    Args:
        text: updates with semicolons between them.
        default: the graph that is meant where the text names none, and whose table has its named graphs.
        parameters: values of variables, as of queries; of those of INSERT DATA and DELETE DATA too.

    Raises:
        ProgrammingError: the text is no update of SPARQL 1.1 (with the position), or does not say which graph it changes.
        NotSupportedError: something of SPARQL 1.1 that this driver leaves out, or no parser is installed.
    """
    if parameters:
        text = with_data(text, parameters)
    key = (text, default)
    found = _UPDATES.get(key)
    if found is None:
        found = updates(text, default)
        if len(text) <= _LONGEST:
            _UPDATES[key] = found
    return tuple(with_parameters_of_update(update, parameters) for update in found) if parameters else found
