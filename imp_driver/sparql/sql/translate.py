"""Algebra -> one SELECT of Spark SQL over the tables of graphs, for who has no driver, or more triples than fit into memory.

A table of a graph has the columns s, p, o and g with the text of terms (``sparql/terms.py``), ``g`` NULL for the default graph. Nothing
else is read of it. A graph is a set, while a table may have a row twice; so each scan is DISTINCT unless it is known to be needless.

What is the same to the letter is translated, the rest is refused. Paths of any length are recursive tables with UNION, which this driver
computes and plain Spark refuses. Numbers are exact or unknown (``sql/facets.py``). Texts of patterns in REGEX are read by Java.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import Form, Pattern, Query, Slice, Triple, Variable
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.patterns import Patterns, limits
from imp_driver.sparql.sql.relations import NULL_TEXT, Column, Relation, written
from imp_driver.sparql.sql.typed import typed_columns, typed_value
from imp_driver.sparql.sql.values import Stored
from imp_driver.values.quoting import plain_text, quoted_name


class Result(Enum):
    """What values of results look like; unbound is NULL in any case."""

    TERMS = "as graphs have them"
    SHOWN = "as people read them (terms.shown)"
    N_TRIPLES = "with escapes (terms.n_triples)"
    TYPED = "as shown, but of one type where the values of a column are, whatever the triples are (sql/typed.py)"


def translated(query: Query, relation: Callable[[str], str], *, result: Result = Result.SHOWN, is_set: bool = False) -> str:
    """Return the SELECT of a query.

    Args:
        relation: gives the SQL name of a graph's table.
        result: of typed columns a value that is beyond what SQL has is NULL.
        is_set: the tables are known to have each quad once.

    Returns:
        A SELECT of the columns of the query; of ASK one BOOLEAN ``ask``; of CONSTRUCT and DESCRIBE different rows of
        subject, predicate and object.

    Raises:
        NotSupportedError: something of the query has no SQL that is the same, or it is nested too deeply.
    """
    try:
        return _translated(query, Patterns(relation, is_set=is_set), result)
    except RecursionError:
        raise NotSupportedError("it is nested too deeply") from None


def _translated(query: Query, patterns: Patterns, result: Result) -> str:
    match query.form:
        case Form.SELECT | Form.DESCRIBE:
            text = _select(query, patterns, result)
        case Form.ASK:
            text = f"SELECT count(*) > 0 AS ask FROM ({written(patterns.of(query.pattern), ['1 AS `one row`'])}) AS found"
        case Form.CONSTRUCT:
            text = _construct(query, patterns, result)
    tables = patterns.paths.tables
    return f"WITH RECURSIVE {', '.join(tables)} {text}" if tables else text


def _select(query: Query, patterns: Patterns, result: Result) -> str:
    pattern: Pattern = query.pattern
    ending = ""
    if isinstance(pattern, Slice):
        ending, pattern = limits(pattern), pattern.pattern
    typed = typed_columns(pattern, patterns) if result is Result.TYPED else None
    found, order = patterns.ordered(pattern) if typed is None else (typed[0], "")
    types = {} if typed is None else typed[1]
    _check_names(query.columns)
    selected = []
    for variable in query.columns:
        column = found.columns.get(variable, Column(NULL_TEXT))
        selected.append(f"{types.get(variable) or _result(column, result)} AS {quoted_name(variable.name)}")
    return f"{written(found, selected or ['1 AS `one row`'])}{order}{ending}"


def _result(column: Column, result: Result) -> str:
    typed = typed_value(Stored(column.text, is_integer=column.is_integer)) if result is Result.TYPED else None
    if typed is not None or column.text == NULL_TEXT:
        return typed or column.text
    match result:
        case Result.SHOWN | Result.TYPED:
            return facets.shown(column.text, is_resource=column.is_resource)
        case Result.N_TRIPLES if not column.is_resource:
            return facets.n_triples(column.text)
        case _:
            return column.text


def _check_names(columns: tuple[Variable, ...]) -> None:
    names: dict[str, Variable] = {}
    for variable in columns:
        other = names.setdefault(variable.name.casefold(), variable)
        if other != variable:
            raise NotSupportedError(f"?{other.name} and ?{variable.name} are one column to SQL. Rename one of them: (?x AS ?other).")


def _construct(query: Query, patterns: Patterns, result: Result) -> str:
    """Return a SELECT for each triple of the template; those that are not well formed are left out. Source: section 16.2."""
    places = ("subject", "predicate", "object")
    selects = [_instances(triple, patterns.of(query.pattern)) for triple in query.template]
    if not selects:
        return f"SELECT {', '.join(f'{NULL_TEXT} AS {name}' for name in places)} WHERE FALSE"
    found = f"SELECT DISTINCT * FROM ({' UNION ALL '.join(selects)}) AS triples"
    if result is Result.TERMS:
        return found
    # Different terms may be shown alike.
    shown = [f"{_result(Column(name, True, name != 'object'), result)} AS {name}" for name in places]
    return f"SELECT {', '.join(shown)} FROM ({found}) AS graph"


def _instances(triple: Triple, found: Relation) -> str:
    columns, conditions = [], []
    for place, node in zip(("subject", "predicate", "object"), triple.nodes, strict=True):
        if isinstance(node, Variable) and node.is_hidden:
            raise NotSupportedError(f"A blank node in the template of CONSTRUCT ({node.name}) is new for each solution, which has no SQL.")
        column = found.columns.get(node, Column(NULL_TEXT)) if isinstance(node, Variable) else _constant(node)
        columns.append(f"{column.text} AS {place}")
        conditions += _well_formed(place, column)
    return written(found, columns, outside=conditions)


def _constant(term: str) -> Column:
    return Column(plain_text(term), True, term[0] != '"')


def _well_formed(place: str, column: Column) -> list[str]:
    match place:
        case "predicate":
            return [facets.is_iri(column.text)]
        case "subject" if not column.is_resource:
            return [f"NOT {facets.is_literal(column.text)}"]
        case _:
            return [] if column.is_certain else [f"{column.text} IS NOT NULL"]
