"""EXISTS within conditions and other expressions.

Where a condition is an EXISTS, or the negation of one, it is a semijoin. Anywhere else (below ``||`` or IF, in BIND, in a key of groups)
each EXISTS becomes a column of TRUE or FALSE, by which the expression is then computed like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from imp_driver.dataflow.mappings.correlation import correlation
from imp_driver.dataflow.mappings.expressions import conjunction, conjuncts, existences
from imp_driver.dataflow.mappings.filter import FilterOperator
from imp_driver.dataflow.mappings.graphs import Graphs
from imp_driver.dataflow.mappings.kept import KeptTriples
from imp_driver.dataflow.mappings.nodes import Nodes
from imp_driver.dataflow.mappings.project import ProjectOperator
from imp_driver.dataflow.mappings.semijoin import Keeping, SemijoinOperator
from imp_driver.dataflow.mappings.substitution import SubstitutionOperator
from imp_driver.sparql.algebra import Call, Exists, Expression, Pattern, Read, Variable


class Marks:
    """Makes the nodes that tell of EXISTS."""

    def __init__(self, graphs: Graphs, nodes: Nodes, build: Callable[[Pattern], int]) -> None:
        self._graphs, self._nodes, self._build = graphs, nodes, build
        self._count = 0

    def filtered(self, number: int, condition: Expression) -> int:
        """Return the node of the solutions of another node for which a condition holds."""
        parts = list(conjuncts(condition))
        plain = [part for part in parts if not any(existences(part))]
        if plain:
            # What is cheap first, so that less is kept.
            number = self._nodes.put(FilterOperator(self._nodes.variables(number), conjunction(plain)), [number])
        mixed = list[Expression]()
        for part in parts:
            exists = _alone(part)
            if exists is not None:
                number = self._existing(number, exists, Keeping.UNMET if exists.is_negated else Keeping.MET, None)
            elif any(existences(part)):
                mixed.append(part)
        if not mixed:
            return number
        own = self._nodes.variables(number)
        number, mixed = self.lifted(number, mixed)
        number = self._nodes.put(FilterOperator(self._nodes.variables(number), conjunction(mixed)), [number])
        return self.only(number, own)

    def lifted(self, number: int, expressions: Sequence[Expression]) -> tuple[int, list[Expression]]:
        """Return the node with one more column for each EXISTS of some expressions, and these with the columns in their places."""
        names: dict[Exists, Variable] = {}
        for exists in dict.fromkeys(found for expression in expressions for found in existences(expression)):
            names[exists] = name = Variable(f"_:exists {self._count}")
            self._count += 1
            number = self._existing(number, replace(exists, is_negated=False), Keeping.MARKED, name)
        return number, [_with_marks(expression, names) for expression in expressions]

    def only(self, number: int, variables: Sequence[Variable]) -> int:
        """Return the node of the solutions without other variables than these."""
        if self._nodes.variables(number) == tuple(variables):
            return number
        return self._nodes.put(ProjectOperator(self._nodes.variables(number), variables), [number])

    def _existing(self, number: int, exists: Exists, keeping: Keeping, mark: Variable | None) -> int:
        nodes = self._nodes
        own = nodes.variables(number)
        found = correlation(exists.pattern, own)
        if found is None:
            triples = KeptTriples(self._graphs, exists.pattern)
            return nodes.put(SubstitutionOperator(own, exists.pattern, triples, keeping, mark), [number], reads_graphs=True)
        other = self._build(found.pattern)
        operator = SemijoinOperator(own, nodes.variables(other), keeping, mark=mark, condition=found.condition)
        return nodes.put(operator, [number, other])


def _alone(condition: Expression) -> Exists | None:
    """Return a condition that is an EXISTS, or the negation of one, as such."""
    if isinstance(condition, Call) and condition.name == "!":
        inner = _alone(condition.arguments[0])
        return None if inner is None else replace(inner, is_negated=not inner.is_negated)
    return condition if isinstance(condition, Exists) else None


def _with_marks(expression: Expression, names: Mapping[Exists, Variable]) -> Expression:
    if isinstance(expression, Exists):
        read = Read(names[expression])
        return Call("!", (read,)) if expression.is_negated else read
    if isinstance(expression, Call):
        return Call(expression.name, tuple([_with_marks(argument, names) for argument in expression.arguments]))
    return expression
