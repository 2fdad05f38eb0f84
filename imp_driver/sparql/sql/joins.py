"""Joins of solutions: equality where both sides bind a variable for certain, else compatibility. Source: section 18.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from imp_driver.sparql.algebra import Variable
from imp_driver.sparql.sql.relations import (
    NULL_TEXT,
    Column,
    Condition,
    Item,
    Names,
    Relation,
    conjunction,
    derived,
    sealed,
    selected_columns,
    written,
)

Columns = Mapping[Variable, Column]


def joined(left: Relation, right: Relation) -> Relation:
    """Return a join as one FROM: the tables of the right side follow those of the left one."""
    equal = [
        Condition(compatible(column, left.columns[variable]), column.table if _is_certain(left, right, variable) else None)
        for variable, column in right.columns.items()
        if variable in left.columns
    ]
    return Relation(
        (*left.items, *right.items), (*left.conditions, *right.conditions, *equal), merged(left.columns, right.columns, is_outer=False)
    )


def _is_certain(left: Relation, right: Relation, variable: Variable) -> bool:
    return left.columns[variable].is_certain and right.columns[variable].is_certain


def compatible(left: Column, right: Column) -> str:
    """Return whether two values of a variable are compatible: an unbound one is with any."""
    if left.is_certain and right.is_certain:
        return f"{left.text} = {right.text}"
    unbound = [f"{each.text} IS NULL" for each in (left, right) if not each.is_certain]
    return f"({' OR '.join([*unbound, f'{left.text} = {right.text}'])})"


def merged(left: Columns, right: Columns, *, is_outer: bool) -> dict[Variable, Column]:
    """Return the columns of a join; ``is_outer``: rows of the left side may have none of the right one beside them."""
    found = dict(left)
    for variable, column in right.items():
        known = found.get(variable)
        other = replace(column, is_certain=column.is_certain and not is_outer)
        found[variable] = other if known is None else _either(known, other)
    return found


def _either(left: Column, right: Column) -> Column:
    if left.is_certain:
        return replace(left, is_resource=left.is_resource or (right.is_resource and right.is_certain))
    if right.is_certain:
        return replace(right, is_resource=right.is_resource)
    return Column(f"coalesce({left.text}, {right.text})", False, left.is_resource and right.is_resource)


def outer_joined(left: Relation, right: Relation, names: Names, condition: Callable[[Columns], list[str]]) -> Relation:
    """Return OPTIONAL; ``condition`` gives conjuncts over the columns of both sides."""
    first = left if left.items else sealed(left, names)
    second = right if right.joins_at_once else sealed(right, names)
    (item,) = second.items
    shared = [compatible(column, first.columns[variable]) for variable, column in second.columns.items() if variable in first.columns]
    inner = merged(first.columns, second.columns, is_outer=False)
    on = conjunction([*shared, *(each.text for each in second.conditions), *condition(inner)])
    columns = merged(first.columns, second.columns, is_outer=True)
    return Relation((*first.items, Item(item.text, item.alias, on)), first.conditions, columns)


def united(relations: list[Relation], variables: tuple[Variable, ...], names: Names) -> Relation:
    """Return the bag of all solutions, NULL where a side has no such variable."""
    selects = []
    for each in relations:
        columns = {name: each.columns.get(name, Column(NULL_TEXT)) for name in variables}
        selects.append(written(each, selected_columns(each.with_columns(columns), names)))
    found = {}
    for variable in variables:
        columns_of = [each.columns.get(variable) for each in relations]
        known = [column for column in columns_of if column is not None]
        is_certain = len(known) == len(relations) and all(column.is_certain for column in known)
        found[variable] = Column("", is_certain, all(column.is_resource for column in known))
    return derived(" UNION ALL ".join(selects), found, names)


def without(left: Relation, right: Relation) -> Relation:
    """Return MINUS: solutions of the right side count that have a variable in common with the left one, and agree. Source: section 18.5."""
    shared = [variable for variable in right.columns if variable in left.columns]
    if not shared:
        return left
    conditions = [compatible(right.columns[variable], left.columns[variable]) for variable in shared]
    if not any(_is_certain(left, right, variable) for variable in shared):
        both = [f"({left.columns[variable].text} IS NOT NULL AND {right.columns[variable].text} IS NOT NULL)" for variable in shared]
        conditions.append(f"({' OR '.join(both)})")
    return left.with_conditions([f"NOT EXISTS ({written(right, ['1'], outside=conditions)})"])
