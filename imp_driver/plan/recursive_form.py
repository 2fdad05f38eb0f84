"""The form of recursive common tables: which of them read each other, and what stands between their UNIONs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.statement import named, parse, tables_in
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Refused

_BASE = "imp_base_of_"
"""Begins the name of a common table that has the rows of a recursive one before its steps."""
_BY_ALL = "by UNION ALL"


def name_of(common: exp.CTE) -> str:
    return common.alias.lower()


def columns_of(common: exp.CTE) -> tuple[str, ...]:
    """Return the names that a common table gives its columns; none where its query names them."""
    return tuple(column.name for column in (common.args["alias"].args.get("columns") or ()))


def reads(query: exp.Expr, names: Collection[str]) -> bool:
    """Say whether a query reads one of some common tables."""
    return any(True for _ in _references(query, names))


def _references(query: exp.Expr, names: Collection[str]) -> Iterator[exp.Table]:
    for table in tables_in(query):
        if len(table.parts) == 1 and table.name.lower() in names and not _is_hidden(table, query):
            yield table


def _is_hidden(table: exp.Table, query: exp.Expr) -> bool:
    """Say whether a WITH inside a query has a table of this name, which is then another one."""
    node: exp.Expr | None = table
    while node is not None:
        clause = node.args.get("with_")
        if clause is not None and any(name_of(common) == table.name.lower() for common in clause.expressions):
            return True
        node = None if node is query else node.parent
    return False


def components(clause: exp.With) -> list[tuple[exp.CTE, ...]]:
    """Return the common tables of a WITH that are recursive, those that read each other together, and each other one alone."""
    every = {name_of(common): common for common in clause.expressions}
    if not clause.args.get("recursive"):
        return []
    reached = {name: {other for other in every if reads(common.this, {other})} for name, common in every.items()}
    for middle in every:
        for name in every:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    found: list[tuple[exp.CTE, ...]] = []
    for name, common in every.items():
        if name in reached[name] and not any(common is each for component in found for each in component):
            found.append(tuple(each for other, each in every.items() if other in reached[name] and name in reached[other]))
    return found


def branches(query: exp.Expr, *, is_set: bool = False) -> list[exp.Expr]:
    """Return what stands between the UNIONs of a query, from left to right.

    Args:
        is_set: whether a UNION around it leaves each row once, so that one of ALL is the same as one without.

    Raises:
        Refused: anything else stands there.
    """
    inner = query.unnest()
    if not isinstance(inner, exp.Union):
        return [inner]
    if not (is_set or inner.args.get("distinct")):
        raise Refused(Reason.RECURSION, _BY_ALL)
    if any(inner.args.get(name) for name in ("by_name", "order", "limit", "offset", "with_")):
        raise Refused(Reason.RECURSION, "with ORDER BY, LIMIT or WITH beside UNION")
    return [*branches(inner.left, is_set=True), *branches(inner.right, is_set=True)]


def check_recursive(clause: exp.With) -> None:
    """Raise Refused for a recursion that is none by UNION, which Spark is asked for."""
    for component in components(clause):
        _check(component)


def _check(component: Sequence[exp.CTE]) -> None:
    names = {name_of(each) for each in component}
    for common in component:
        _steps(common, names)


def _steps(common: exp.CTE, names: Collection[str]) -> list[exp.Expr]:
    """Return the branches of a recursive common table that read it or another with it. Raises Refused where it is by UNION ALL."""
    # One that is no UNION but reads another with it is as one of a single branch.
    return [each for each in branches(common.this) if reads(each, names)]


def beginnings(component: Sequence[exp.CTE]) -> Iterator[tuple[exp.CTE, exp.Expr]]:
    """Yield recursive tables that read each other in the order in which they begin, each with the branch that its first rows are of.

    That reads none of them where there is such a branch, else those before it alone. Raises Refused where nothing begins the next one.
    """
    names = {name_of(each) for each in component}
    left = {name_of(each): (each, branches(each.this)) for each in component}
    while left:
        for name, (common, every) in left.items():
            first = next((each for unknown in (names, left) for each in every if not reads(each, unknown)), None)
            if first is not None:
                yield common, first
                del left[name]
                break
        else:
            others = any(isinstance(each, (exp.Except, exp.Intersect)) for _, every in left.values() for each in every)
            why = "is read beside EXCEPT or INTERSECT" if others else "has no branch that does not read it"
            raise Refused(Reason.RECURSION, f"{next(iter(left))} {why}")


def is_recursive(tree: exp.Expr | None) -> bool:
    """Say whether a query has a recursion by UNION, of which Spark knows none, be it of a form that is computed here or not."""
    clauses = () if tree is None else tree.find_all(exp.With)
    return any(map(_is_by_union, (component for clause in clauses for component in components(clause))))


def _is_by_union(component: Sequence[exp.CTE]) -> bool:
    try:
        _check(component)
    except Refused as refused:
        return refused.grounds.detail != _BY_ALL
    return True


def unrolled(execution: Execution) -> Execution:
    """Return a query with the columns of a recursive one, see ``unrolled_text``."""
    return execution.of(unrolled_text(execution.text), named(execution.parameters) or None)


def unrolled_text(text: str) -> str:
    """Return a query whose recursive tables have the rows of their bases and of one round of their steps.

    Spark knows the names and types of a recursion's columns by it, and what is wrong in a step.
    """
    statement = parse(text)
    assert statement.tree is not None
    tree = statement.tree.copy()
    for clause in list(tree.find_all(exp.With)):
        for component in components(clause):
            _unroll(clause, component)
        clause.set("recursive", False)
    return tree.sql(dialect=SparkText)


def _unroll(clause: exp.With, component: Sequence[exp.CTE]) -> None:
    names, bases = {name_of(common) for common in component}, []
    for common, first in beginnings(component):
        own = [each.copy() for each in branches(common.this) if not reads(each, names)]
        base = exp.union(*own) if len(own) > 1 else _over_bases(first, names)
        bases.append(exp.CTE(this=base, alias=_alias(_BASE + name_of(common), columns_of(common))))
    whole = []
    for common in component:
        first = exp.select("*").from_(exp.to_identifier(_BASE + name_of(common), quoted=True))
        steps = [_over_bases(each, names) for each in _steps(common, names)]
        whole.append(exp.CTE(this=exp.union(first, *steps), alias=_alias(name_of(common), columns_of(common))))
    others = list(clause.expressions)
    place = others.index(component[0])
    kept = [each for each in others if not any(each is common for common in component)]
    before = [each for each in kept if others.index(each) < place]
    clause.set("expressions", [*before, *bases, *whole, *kept[len(before) :]])


def _over_bases(step: exp.Expr, names: Collection[str]) -> exp.Expr:
    found = step.copy()
    for table in list(_references(found, names)):
        name = table.name
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        table.set("this", exp.to_identifier(_BASE + name.lower(), quoted=True))
    return found


def _alias(name: str, columns: Sequence[str]) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=[exp.to_identifier(each, quoted=True) for each in columns])
