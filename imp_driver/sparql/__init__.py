"""SPARQL: another language in front of the same tables."""

from __future__ import annotations

from imp_driver.sparql.given import Iri

__all__ = ["Iri", "translate"]


def translate(text: str, graph: str | None = None) -> str:
    """Return the SQL of a SPARQL query, for plain Spark over the tables of graphs: a baseline, or the text of a view.

    Args:
        text: SELECT, ASK or CONSTRUCT.
        graph: table of the default graph, dotted names as SQL has them; not needed where the query has FROM.

    Returns:
        One SELECT (``sparql/sql/translate.py``). Paths of any length are recursive tables with UNION, which this driver alone runs.

    Raises:
        ProgrammingError: the text is no query of SPARQL 1.1, or does not say which graph it asks.
        NotSupportedError: something of the query has no SQL that is the same, or no parser is installed.
    """
    from imp_driver.sparql.algebra import Source
    from imp_driver.sparql.read import read_query
    from imp_driver.sparql.sql.translate import translated
    from imp_driver.values.quoting import qualified

    return translated(read_query(text, () if graph is None else (Source(graph),)), lambda table: qualified(tuple(table.split("."))))
