"""Paths of any length as recursive tables with UNION. Source: sections 9.3 and 18.4.

UNION in a recursion is this driver's (docs/recursion.md); Spark itself knows no recursion of a set, and refuses such a text.
"""

from __future__ import annotations

from collections.abc import Callable

from imp_driver.sparql.algebra import Closure, EachNamed, Node, Pattern, Variable
from imp_driver.sparql.sql.relations import Column, Condition, Item, Names, Relation, written
from imp_driver.sparql.sql.scans import GRAPH, Scans
from imp_driver.values.quoting import plain_text


class Paths:
    """``tables`` are the recursive tables of the statement, as they stand in its WITH."""

    def __init__(self, names: Names, scans: Scans) -> None:
        self._names, self._scans = names, scans
        self.tables: list[str] = []

    def of(self, path: Closure, solve: Callable[[Pattern], Relation]) -> Relation:
        """Return the pairs of a path's ends, each once. One that begins at a term is followed from there alone."""
        relation = solve(path.step)
        steps = _steps(path, relation)
        start = path.subject if isinstance(path.subject, str) else None
        base = [f"SELECT * FROM ({steps}) AS steps" + (f" WHERE a = {plain_text(start)}" if start else "")]
        base += self._zero(path) if path.has_zero else []
        graph = f", {GRAPH}" if isinstance(path.place, EachNamed) else ""
        alias = self._names.table()
        if path.is_repeated:
            table = f"path_{alias}"
            same = f" AND r.{GRAPH} = step.{GRAPH}" if graph else ""
            shown = f", r.{GRAPH}" if graph else ""
            step = f"SELECT r.a, step.b{shown} FROM {table} AS r JOIN ({steps}) AS step ON step.a = r.b{same}"
            self.tables.append(f"{table}(a, b{graph}) AS ({' UNION '.join([*base, step])})")
        else:
            table = f"(SELECT DISTINCT * FROM ({' UNION ALL '.join(base)}) AS pairs)"
        resources = {name for name, end in (("a", path.start), ("b", path.end)) if relation.columns[end].is_resource and not path.has_zero}
        return _ends(path, Item(table, alias), {*resources, GRAPH})

    def _zero(self, path: Closure) -> list[str]:
        """Return pairs of a term and itself: of all terms of the place, and of those that the pattern names."""
        terms, is_each = self._scans.terms(path.place)
        graph = f", {GRAPH}" if is_each else ""
        start = path.subject if isinstance(path.subject, str) else None
        found = [f"SELECT node AS a, node AS b{graph} FROM ({terms}) AS nodes" + (f" WHERE node = {plain_text(start)}" if start else "")]
        for end in (path.subject, path.object):
            if isinstance(end, str) and not isinstance(end, Variable):
                named = f", {GRAPH} FROM ({self._scans.triples(path.place, [GRAPH], [])}) AS graphs" if is_each else ""
                found.append(f"SELECT {plain_text(end)} AS a, {plain_text(end)} AS b{named}")
        return found


def _steps(path: Closure, relation: Relation) -> str:
    ends = [f"{relation.columns[end].text} AS {name}" for end, name in ((path.start, "a"), (path.end, "b"))]
    if isinstance(path.place, EachNamed):
        ends.append(f"{relation.columns[path.place.variable].text} AS {GRAPH}")
    return written(relation, ends)


def _ends(path: Closure, item: Item, resources: set[str]) -> Relation:
    columns: dict[Variable, Column] = {}
    conditions = []
    ends: list[tuple[str, Node]] = [("a", path.subject), ("b", path.object)]
    if isinstance(path.place, EachNamed):
        ends.append((GRAPH, path.place.variable))
    for name, node in ends:
        column = Column(f"{item.alias}.{name}", True, name in resources, item.alias)
        if not isinstance(node, Variable):
            conditions.append(Condition(f"{column.text} = {plain_text(node)}", item.alias))
        elif node in columns:
            conditions.append(Condition(f"{column.text} = {columns[node].text}", item.alias))
        else:
            columns[node] = column
    return Relation((item,), tuple(conditions), columns)
