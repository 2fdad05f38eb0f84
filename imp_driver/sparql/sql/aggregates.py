"""Groups and aggregates. Source: sections 11 and 18.5.1 of the recommendation.

A solution of which the argument is an error or unbound does not count for COUNT, MIN, MAX and SAMPLE, and leaves SUM, AVG and
GROUP_CONCAT unbound. GROUP_CONCAT has its texts sorted, and SAMPLE takes the least text: an order that is left open is one that is there.
"""

from __future__ import annotations

from collections.abc import Callable

from imp_driver.errors import NotSupportedError
from imp_driver.sparql import terms
from imp_driver.sparql.algebra import Aggregate, Group, Variable
from imp_driver.sparql.sql import facets
from imp_driver.sparql.sql.arithmetic import arithmetic
from imp_driver.sparql.sql.expressions import Scope
from imp_driver.sparql.sql.joins import Columns
from imp_driver.sparql.sql.order import keys_of
from imp_driver.sparql.sql.relations import Column, Names, Relation, derived, written
from imp_driver.sparql.sql.values import NO_DOUBLE, Number, Stored, Value, number_of, once, string_of, term_of
from imp_driver.values.quoting import plain_text

_ZERO = f"'\"0\"^^<{terms.XSD}integer>'"


def grouped(relation: Relation, group: Group, scope: Callable[[Columns], Scope], names: Names) -> Relation:
    """Return one row a group. Raises NotSupportedError."""
    inside = scope(relation.columns)
    columns: dict[Variable, Column] = {}
    keys = []
    for variable, expression in group.keys:
        value = inside.value(expression)
        known = next((each for each in relation.columns.values() if each.text == term_of(value)), None)
        keys.append(term_of(value))
        columns[variable] = known or Column(term_of(value), False, isinstance(value, Stored) and value.is_resource)
    for variable, aggregate in group.aggregates:
        columns[variable] = _aggregate(aggregate, inside, relation)
    selected = [f"{column.text} AS {names.column(variable)}" for variable, column in columns.items()] or ["1 AS `one row`"]
    text = written(relation, selected)
    # Without keys and aggregates there is one row all the same.
    ending = f" GROUP BY {', '.join(dict.fromkeys(keys))}" if keys else "" if group.aggregates else " HAVING count(*) >= 0"
    return derived(text + ending, columns, names)


def _aggregate(aggregate: Aggregate, scope: Scope, relation: Relation) -> Column:
    if aggregate.argument is None:
        return Column(_counted(_solutions(relation) if aggregate.is_distinct else "*", aggregate.is_distinct), True, is_integer=True)
    value = scope.value(aggregate.argument)
    term = term_of(value)
    match aggregate.name:
        case "COUNT":
            return Column(_counted(term, aggregate.is_distinct), True, is_integer=True)
        case "SUM" | "AVG":
            return Column(_distinct_sum(aggregate.name, term) if aggregate.is_distinct else _total(aggregate.name, value))
        case "MIN" | "MAX":
            return Column(_extreme(aggregate.name.lower(), value))
        case "SAMPLE":
            return Column(f"min({term})")
        case "GROUP_CONCAT":
            return Column(_concatenated(aggregate, value))
        case _:
            raise NotSupportedError(f"{aggregate.name} has no SQL of Spark; the driver answers the query in process.")


def _solutions(relation: Relation) -> str:
    """Return all that a solution binds as one value that is not NULL."""
    return f"struct({', '.join(each.text for each in relation.columns.values()) or '1'})"


def _counted(text: str, is_distinct: bool) -> str:
    return f"concat('\"', CAST(count({'DISTINCT ' if is_distinct else ''}{text}) AS STRING), '\"^^<{terms.XSD}integer>')"


def _total(name: str, value: Value) -> str:
    number = number_of(value)
    if number is None:
        return f"CASE WHEN count(*) = 0 THEN {_ZERO} END"
    return once(_parts(number), lambda parts: _sum_of(name, parts))


def _parts(number: Number) -> str:
    """Return sums of numbers by their parts, and how many there are of each: what decides about the whole sum."""
    columns = {
        "n": "count(*)",
        "numbers": f"count({number.rank})",
        "exacts": f"count({number.exact})",
        "type": f"max({number.rank})",
        "exact": f"try_cast(try_sum({number.exact}) AS {facets.EXACT})",
        "floating": f"sum({number.double})",
    }
    return f"named_struct({', '.join(f'{plain_text(column)}, {text}' for column, text in columns.items())})"


def _sum_of(name: str, parts: str) -> str:
    """Where a float is among them, the sum of all as doubles; a number that is no exact one leaves an exact sum unknown."""
    exact = f"CASE WHEN {parts}.exacts = {parts}.n AND {parts}.type <= 1 THEN {parts}.exact END"
    total = Number(f"{parts}.type", exact, f"CASE WHEN {parts}.type >= 2 THEN {parts}.floating END")
    found = total if name == "SUM" else arithmetic("/", total, _count(f"{parts}.n"))
    return f"CASE WHEN {parts}.n = 0 THEN {_ZERO} WHEN {parts}.n = {parts}.numbers THEN {term_of(found)} END"


def _count(text: str) -> Number:
    return Number("0", f"CAST({text} AS {facets.EXACT})", NO_DOUBLE)


def _distinct_sum(name: str, term: str) -> str:
    """Terms are told apart by their texts, so that 1 and 01 both count: their numbers are added up as an array of terms."""
    parts = f"named_struct('n', count(*), 'bound', count({term}), 'terms', collect_set({term}))"
    return once(parts, lambda known: _sum_of_terms(name, known))


def _sum_of_terms(name: str, parts: str) -> str:
    number = Number(*(facet("e") for facet in (facets.rank, facets.exact, facets.floating)))

    def added(facet: str, zero: str, addition: str) -> str:
        return f"aggregate(transform({parts}.terms, e -> {facet}), {zero}, (a, b) -> {addition})"

    exact = added(number.exact, f"CAST(0 AS {facets.EXACT})", f"try_cast(try_add(a, b) AS {facets.EXACT})")
    rank = f"array_max(transform({parts}.terms, e -> {number.rank}))"
    total = Number(rank, exact, f"CASE WHEN {rank} >= 2 THEN {added(number.double, '0D', 'a + b')} END")
    found = total if name == "SUM" else arithmetic("/", total, _count(f"size({parts}.terms)"))
    is_all = f"{parts}.n = {parts}.bound AND NOT exists({parts}.terms, e -> ({number.rank}) IS NULL)"
    return f"CASE WHEN {parts}.n = 0 THEN {_ZERO} WHEN {is_all} THEN {term_of(found)} END"


def _extreme(name: str, value: Value) -> str:
    keys = keys_of(value)
    return f"{name}(CASE WHEN {term_of(value)} IS NOT NULL THEN struct({', '.join(keys)}, {term_of(value)} AS term) END).term"


def _concatenated(aggregate: Aggregate, value: Value) -> str:
    """Of distinct terms, not of distinct texts. Blank nodes have no text."""
    text, term = string_of(value), term_of(value)
    listed = f"collect_list({text})"
    if aggregate.is_distinct:
        listed = f"transform(collect_set({term}), x -> {string_of(Stored('x'))})"
    joined = f"concat('\"', array_join(sort_array({listed}), {plain_text(aggregate.separator)}), '\"')"
    return f"CASE WHEN count(*) = count({text}) THEN {joined} END"
