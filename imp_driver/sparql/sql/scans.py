"""Triples of graphs as tables: one scan for each triple of a basic graph pattern, with constants and graphs as its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from imp_driver.sparql.algebra import Bgp, EachNamed, Node, Place, Source, Triple, Variable
from imp_driver.sparql.sql.relations import Column, Condition, Item, Names, Relation, conjunction
from imp_driver.values.quoting import plain_text

GRAPH = "g"
_PLACES = ("s", "p", "o")


class Scans:
    """
    Args:
        relation: gives the SQL name of a graph's table.
        is_set: each quad is known to be in its table once, so that the scan of one graph needs no DISTINCT.
    """

    def __init__(self, relation: Callable[[str], str], names: Names, *, is_set: bool) -> None:
        self._relation, self._names, self._is_set = relation, names, is_set

    def of(self, pattern: Bgp) -> Relation:
        """Return the join of a basic graph pattern. Each triple but the first shares a variable with one before it, where one does."""
        if isinstance(pattern.place, EachNamed) and not pattern.triples:
            return self._graphs(pattern.place)
        found = Relation()
        for triple in _connected(pattern.triples):
            found = _joined(found, self._of_triple(triple, pattern.place))
        return found

    def terms(self, place: Place) -> tuple[str, bool]:
        """Return a SELECT of the terms ``node`` that are subjects or objects of a place, and whether ``g`` tells of which graph."""
        is_each = isinstance(place, EachNamed)
        graph = f", {GRAPH}" if is_each else ""
        parts = []
        for end in ("s", "o"):
            parts += self._selects(place, [f"{end} AS node", *([GRAPH] if is_each else [])], [])
        return " UNION ".join(parts) or f"SELECT CAST(NULL AS STRING) AS node{graph} WHERE FALSE", is_each

    def triples(self, place: Place, wanted: list[str], conditions: list[str]) -> str:
        """Return a SELECT of some columns of the set of triples of a place."""
        selects = self._selects(place, wanted, conditions)
        if not selects:
            return f"SELECT {', '.join(f'CAST(NULL AS STRING) AS {name}' for name in wanted)} WHERE FALSE"
        return " UNION ".join(selects) if len(selects) > 1 else selects[0].replace("SELECT", "SELECT DISTINCT", 1)

    def _graphs(self, place: EachNamed) -> Relation:
        """One solution for each graph, empty ones too where the query names them."""
        alias = self._names.table()
        text = self.triples(place, [GRAPH], [])
        if place.sources:
            text = " UNION ".join(f"SELECT {plain_text(name)} AS {GRAPH}" for name, _ in place.sources)
        return Relation((Item(f"({text})", alias),), (), {place.variable: Column(f"{alias}.{GRAPH}", True, True, alias)})

    def _of_triple(self, triple: Triple, place: Place) -> Relation:
        alias = self._names.table()
        nodes: list[tuple[str, Node]] = list(zip(_PLACES, triple.nodes, strict=True))
        if isinstance(place, EachNamed):
            nodes.append((GRAPH, place.variable))
        fixed = {name: node for name, node in nodes if not isinstance(node, Variable)}
        columns, repeated = _columns(nodes, alias)
        if self._is_set and isinstance(place, tuple) and len(place) == 1:
            (source,) = place
            texts = [*_constants(fixed, f"{alias}."), _of_graph(source, f"{alias}."), *repeated]
            return Relation((Item(self._relation(source.table), alias),), tuple(Condition(text, alias) for text in texts), columns)
        wanted = [name for name, node in nodes if name not in fixed] or ["'' AS `one row`"]
        text = self.triples(place, wanted, _constants(fixed, ""))
        return Relation((Item(f"({text})", alias),), tuple(Condition(each, alias) for each in repeated), columns)

    def _selects(self, place: Place, wanted: list[str], conditions: list[str]) -> list[str]:
        """Return SELECTs whose rows together are those of a place, one for each table that suffices."""
        found = []
        if isinstance(place, EachNamed):
            for table in place.tables if not place.sources else ():
                found.append(self._select(table, wanted, [*conditions, f"{GRAPH} IS NOT NULL"]))
            for name, source in place.sources:
                named = [f"{plain_text(name)} AS {GRAPH}" if each == GRAPH else each for each in wanted]
                found.append(self._select(source.table, named, [*conditions, _of_graph(source, "")]))
            return found
        for table in dict.fromkeys(source.table for source in place):
            graphs = [_of_graph(source, "") for source in dict.fromkeys(place) if source.table == table]
            found.append(self._select(table, wanted, [*conditions, graphs[0] if len(graphs) == 1 else f"({' OR '.join(graphs)})"]))
        return found

    def _select(self, table: str, wanted: list[str], conditions: list[str]) -> str:
        return f"SELECT {', '.join(wanted)} FROM {self._relation(table)} WHERE {conjunction(conditions)}"


def _columns(nodes: list[tuple[str, Node]], alias: str) -> tuple[dict[Variable, Column], list[str]]:
    """Return the variables of a scan, and what makes the places of one variable equal."""
    columns: dict[Variable, Column] = {}
    repeated = []
    for name, node in nodes:
        if not isinstance(node, Variable):
            continue
        text, known = f"{alias}.{name}", columns.get(node)
        if known is not None:
            repeated.append(f"{text} = {known.text}")
        is_resource = name != "o" or (known is not None and known.is_resource)
        columns[node] = Column(text if known is None else known.text, True, is_resource, alias)
    return columns, repeated


def _constants(fixed: Mapping[str, Node], prefix: str) -> list[str]:
    # By predicate first: tables are clustered by it.
    order = sorted(fixed, key="pso".index)
    return [f"{prefix}{name} = {plain_text(node)}" for name in order if isinstance(node := fixed[name], str)]


def _of_graph(source: Source, prefix: str) -> str:
    return f"{prefix}{GRAPH} IS NULL" if source.name is None else f"{prefix}{GRAPH} = {plain_text(source.name)}"


def _joined(left: Relation, right: Relation) -> Relation:
    """All variables are certain; of one that both have, the place that says most about its value tells whether it may be a literal."""
    columns = dict(left.columns)
    equal = []
    for variable, column in right.columns.items():
        known = columns.get(variable)
        if known is None:
            columns[variable] = column
            continue
        equal.append(Condition(f"{column.text} = {known.text}", column.table))
        columns[variable] = Column(known.text, True, known.is_resource or column.is_resource, known.table)
    return Relation((*left.items, *right.items), (*left.conditions, *right.conditions, *equal), columns)


def _connected(triples: tuple[Triple, ...]) -> list[Triple]:
    rest, bound = list(triples), set[Variable]()
    ordered = []
    while rest:
        near = [each for each in rest if bound & _variables(each)] or rest
        best = max(near, key=lambda each: sum(not isinstance(node, Variable) for node in each.nodes)) if not bound else near[0]
        rest.remove(best)
        ordered.append(best)
        bound |= _variables(best)
    return ordered


def _variables(triple: Triple) -> set[Variable]:
    return {node for node in triple.nodes if isinstance(node, Variable)}
