"""Which operators a pattern becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imp_driver.dataflow.mappings.bgp import BgpOperator
from imp_driver.dataflow.mappings.constant import ConstantOperator
from imp_driver.dataflow.mappings.distinct import DistinctOperator
from imp_driver.dataflow.mappings.expressions import existences
from imp_driver.dataflow.mappings.extend import ExtendOperator
from imp_driver.dataflow.mappings.filter import FilterOperator
from imp_driver.dataflow.mappings.graphs import Graphs
from imp_driver.dataflow.mappings.join import JoinOperator
from imp_driver.dataflow.mappings.nodes import Nodes
from imp_driver.dataflow.mappings.operator import NotMaintained
from imp_driver.dataflow.mappings.project import ProjectOperator
from imp_driver.dataflow.mappings.union import UnionOperator
from imp_driver.sparql.algebra import (
    Bgp,
    Distinct,
    Extend,
    Filter,
    Join,
    Pattern,
    Project,
    Union,
    Values,
    Variable,
)


class Builder:
    """Makes nodes of patterns, one for all equal ones."""

    def __init__(self, graphs: Graphs, nodes: Nodes) -> None:
        self._graphs, self._nodes = graphs, nodes
        self._built: dict[Pattern, int] = {}

    def build(self, pattern: Pattern) -> int:
        """Return the number of the node that has the solutions of a pattern.

        Raises:
            NotMaintained: it cannot be followed.
        """
        found = self._built.get(pattern)
        if found is None:
            found = self._built[pattern] = self._made(pattern)
        return found

    def _made(self, pattern: Pattern) -> int:
        match pattern:
            case Bgp():
                return self._bgp([pattern])
            case Join():
                return self._join(pattern)
            case Union(left, right):
                return self._union(self.build(left), self.build(right))
            case Filter(inner, condition):
                if any(existences(condition)):
                    raise NotMaintained("EXISTS is not followed.")
                number = self.build(inner)
                operator = FilterOperator(self._nodes.variables(number), condition)
                return self._nodes.put(operator, [number], self._nodes.certain(number))
            case Extend(inner, variable, expression):
                number = self.build(inner)
                return self._nodes.put(
                    ExtendOperator(self._nodes.variables(number), variable, expression), [number], self._nodes.certain(number)
                )
            case Values(variables, rows):
                certain = [variable for place, variable in enumerate(variables) if all(row[place] is not None for row in rows)]
                return self._nodes.put(ConstantOperator(variables, rows), (), certain)
            case Project(inner, variables):
                return self._project(self.build(inner), variables)
            case Distinct(inner):
                number = self.build(inner)
                return self._nodes.put(DistinctOperator(self._nodes.variables(number)), [number], self._nodes.certain(number))
            case _:
                raise NotMaintained(f"{type(pattern).__name__} is not followed.")

    def _bgp(self, patterns: Sequence[Bgp]) -> int:
        operator = BgpOperator(patterns, self._graphs)
        return self._nodes.put(operator, (), operator.variables)

    def _join(self, pattern: Join) -> int:
        parts = list(_joined(pattern))
        bgps = [part for part in parts if isinstance(part, Bgp)]
        # As one, they keep nothing of their own.
        numbers = [self._bgp(bgps)] if any(bgp.triples for bgp in bgps) else []
        numbers += [self.build(part) for part in parts if not isinstance(part, Bgp)]
        if not numbers:
            return self._bgp([])
        first, *others = numbers
        for other in others:
            first = self._pair(first, other)
        return first

    def _pair(self, left: int, right: int) -> int:
        nodes = self._nodes
        operator = JoinOperator(nodes.variables(left), nodes.variables(right), nodes.certain(left))
        return nodes.put(operator, [left, right], nodes.certain(left) | nodes.certain(right))

    def _union(self, left: int, right: int) -> int:
        nodes = self._nodes
        operator = UnionOperator(nodes.variables(left), nodes.variables(right))
        return nodes.put(operator, [left, right], nodes.certain(left) & nodes.certain(right))

    def _project(self, number: int, variables: Sequence[Variable]) -> int:
        operator = ProjectOperator(self._nodes.variables(number), variables)
        return self._nodes.put(operator, [number], self._nodes.certain(number) & frozenset(variables))


def _joined(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Join):
        yield from _joined(pattern.left)
        yield from _joined(pattern.right)
    else:
        yield pattern
