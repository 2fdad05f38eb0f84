"""Which operators a pattern becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from imp_driver.dataflow.mappings.bgp import BgpOperator
from imp_driver.dataflow.mappings.closure import ClosureOperator
from imp_driver.dataflow.mappings.constant import ConstantOperator
from imp_driver.dataflow.mappings.distinct import DistinctOperator
from imp_driver.dataflow.mappings.expressions import conjunction, conjuncts, existences, read_by
from imp_driver.dataflow.mappings.extend import ExtendOperator
from imp_driver.dataflow.mappings.facts import Facts
from imp_driver.dataflow.mappings.graph_names import GraphNamesOperator
from imp_driver.dataflow.mappings.graphs import Graphs
from imp_driver.dataflow.mappings.group import GroupOperator
from imp_driver.dataflow.mappings.join import JoinOperator
from imp_driver.dataflow.mappings.kept import KeptTriples
from imp_driver.dataflow.mappings.left_join import LeftJoinOperator
from imp_driver.dataflow.mappings.marks import Marks
from imp_driver.dataflow.mappings.modifiers import modifiers_of
from imp_driver.dataflow.mappings.nodes import Nodes
from imp_driver.dataflow.mappings.operator import Limits
from imp_driver.dataflow.mappings.project import ProjectOperator
from imp_driver.dataflow.mappings.recomputed import RecomputedOperator
from imp_driver.dataflow.mappings.scopes import reached
from imp_driver.dataflow.mappings.semijoin import Keeping, SemijoinOperator
from imp_driver.dataflow.mappings.sliced import SlicedOperator
from imp_driver.dataflow.mappings.union import UnionOperator
from imp_driver.sparql.algebra import (
    Bgp,
    Closure,
    Distinct,
    EachNamed,
    Expression,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Place,
    Project,
    Slice,
    Union,
    Values,
    Variable,
    variables,
)
from imp_driver.sparql.certain import certain


class Builder:
    """Makes nodes of patterns, one for all equal ones."""

    def __init__(self, graphs: Graphs, nodes: Nodes, limits: Limits) -> None:
        self._graphs, self._nodes, self._limits = graphs, nodes, limits
        self._built: dict[Pattern, int] = {}
        self._marks = Marks(graphs, nodes, self.build)

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
        nodes = self._nodes
        match pattern:
            case Bgp():
                return self._bgp([pattern])
            case Closure():
                return self._closure(pattern)
            case Join():
                return self._join(pattern)
            case LeftJoin():
                return self._left_join(pattern)
            case Union(left, right):
                one, other = self.build(left), self.build(right)
                return nodes.put(UnionOperator(nodes.variables(one), nodes.variables(other)), [one, other])
            case Minus(left, right):
                one, other = self.build(left), self.build(right)
                operator = SemijoinOperator(nodes.variables(one), nodes.variables(other), Keeping.UNMET, skips_disjoint=True)
                return nodes.put(operator, [one, other])
            case Filter():
                return self._filter(pattern)
            case Extend():
                return self._extended(pattern)
            case Values(names, rows):
                return nodes.put(ConstantOperator(names, rows))
            case Group():
                return self._group(pattern)
            case Project(inner, names):
                triples = _Triples.of(inner)
                if triples is not None and not triples.others and frozenset(names) <= frozenset(variables(inner)):
                    # More solutions than are left of them are never there at once.
                    return nodes.put(BgpOperator(triples.patterns, self._graphs, names, triples.conditions), reads_graphs=True)
                number = self.build(inner)
                return nodes.put(ProjectOperator(nodes.variables(number), names), [number])
            case Distinct(inner):
                number = self.build(inner)
                return nodes.put(DistinctOperator(nodes.variables(number)), [number])
            case OrderBy(inner, _):
                return self.build(inner)
            case Slice():
                return self._slice(pattern)

    def _filter(self, pattern: Filter) -> int:
        triples = _Triples.of(pattern)
        if triples is None or not triples.conditions:
            return self._marks.filtered(self.build(pattern.pattern), pattern.condition)
        number = self._nodes.put(BgpOperator(triples.patterns, self._graphs, None, triples.conditions), reads_graphs=True)
        return self._marks.filtered(number, conjunction(triples.others)) if triples.others else number

    def _bgp(self, patterns: Sequence[Bgp]) -> int:
        place = patterns[0].place if patterns else ()
        if patterns and not patterns[0].triples and isinstance(place, EachNamed):
            return self._graph_names(place)
        return self._nodes.put(BgpOperator(patterns, self._graphs), reads_graphs=True)

    def _graph_names(self, place: EachNamed) -> int:
        if place.sources:
            return self._nodes.put(ConstantOperator([place.variable], list(dict.fromkeys((name,) for name, _ in place.sources))))
        return self._nodes.put(GraphNamesOperator(place.variable, self._all_triples(place)), reads_graphs=True)

    def _all_triples(self, place: Place) -> Facts:
        return self._graphs.facts(place, (0, 1, 2, 3) if isinstance(place, EachNamed) else (0, 1, 2))

    def _closure(self, pattern: Closure) -> int:
        graph = [pattern.place.variable] if isinstance(pattern.place, EachNamed) else []
        inputs = [self.build(Distinct(Project(pattern.step, (pattern.start, pattern.end, *graph))))]
        is_given = not (isinstance(pattern.subject, Variable) and isinstance(pattern.object, Variable))
        if pattern.has_zero and is_given and isinstance(pattern.place, EachNamed):
            inputs.append(self._graph_names(pattern.place))
        facts = self._all_triples(pattern.place) if pattern.has_zero and not is_given else None
        return self._nodes.put(ClosureOperator(pattern, facts, self._limits), inputs, reads_graphs=facts is not None)

    def _join(self, pattern: Join) -> int:
        parts = list(_joined(pattern))
        bgps = [part for part in parts if isinstance(part, Bgp) and part.triples]
        # As one, they keep nothing of their own.
        left = [(frozenset(name for bgp in bgps for name in variables(bgp)), self._bgp(bgps))] if bgps else []
        left += [(certain(part), self.build(part)) for part in parts if not isinstance(part, Bgp) or _is_of_graphs(part)]
        if not left:
            return self._bgp([])
        known, first = left.pop(0)
        while left:
            # Products come last.
            names = frozenset(self._nodes.variables(first))
            place = next((place for place, (_, number) in enumerate(left) if names & frozenset(self._nodes.variables(number))), 0)
            more, other = left.pop(place)
            operator = JoinOperator(self._nodes.variables(first), self._nodes.variables(other), known)
            known, first = known | more, self._nodes.put(operator, [first, other])
        return first

    def _left_join(self, pattern: LeftJoin) -> int:
        nodes, right = self._nodes, pattern.right
        parts = [] if pattern.condition is None else list(conjuncts(pattern.condition))
        # What reads the right side alone is asked before anything is joined.
        own = certain(right) | (frozenset(variables(right)) - frozenset(variables(pattern.left)))
        inner = [part for part in parts if frozenset(reached(part)) <= own]
        both = [part for part in parts if part not in inner]
        if inner:
            right = Filter(right, conjunction(inner))
        condition = conjunction(both) if both else None
        if condition is not None and any(existences(condition)):
            return self._left_join_by_parts(LeftJoin(pattern.left, right, condition), condition)
        one, other = self.build(pattern.left), self.build(right)
        operator = LeftJoinOperator(nodes.variables(one), nodes.variables(other), certain(pattern.left), condition)
        return nodes.put(operator, [one, other])

    def _left_join_by_parts(self, pattern: LeftJoin, condition: Expression) -> int:
        """Return the union of what is joined with the left solutions that none of it is from, where these can be told by their values."""
        nodes, names = self._nodes, variables(pattern.left)
        if frozenset(names) != certain(pattern.left):
            return nodes.put(RecomputedOperator(pattern, KeptTriples(self._graphs, pattern)), reads_graphs=True)
        joined = Filter(Join(pattern.left, pattern.right), condition)
        one, other = self.build(pattern.left), self.build(Project(joined, names))
        alone = nodes.put(SemijoinOperator(nodes.variables(one), nodes.variables(other), Keeping.UNMET), [one, other])
        both = self.build(joined)
        return nodes.put(UnionOperator(nodes.variables(both), nodes.variables(alone)), [both, alone])

    def _extended(self, pattern: Extend) -> int:
        number = self.build(pattern.pattern)
        own = self._nodes.variables(number)
        number, (expression,) = self._marks.lifted(number, [pattern.expression])
        number = self._nodes.put(ExtendOperator(self._nodes.variables(number), pattern.variable, expression), [number])
        return self._marks.only(number, (*own, pattern.variable))

    def _group(self, pattern: Group) -> int:
        keys = [expression for _, expression in pattern.keys]
        arguments = [aggregate.argument for _, aggregate in pattern.aggregates if aggregate.argument is not None]
        number, found = self._marks.lifted(self.build(pattern.pattern), [*keys, *arguments])
        left = iter(found)
        own_keys = [(name, next(left)) for name, _ in pattern.keys]
        aggregates = [
            (name, aggregate if aggregate.argument is None else replace(aggregate, argument=next(left)))
            for name, aggregate in pattern.aggregates
        ]
        return self._nodes.put(GroupOperator(self._nodes.variables(number), own_keys, aggregates), [number])

    def _slice(self, pattern: Slice) -> int:
        modifiers = modifiers_of(pattern)
        number = self.build(modifiers.pattern)
        return self._nodes.put(SlicedOperator(self._nodes.variables(number), modifiers), [number])


@dataclass(frozen=True, slots=True)
class _Triples:
    """Joined basic graph patterns: ``conditions`` read their variables alone, ``others`` something else or EXISTS too."""

    patterns: tuple[Bgp, ...]
    conditions: tuple[Expression, ...] = ()
    others: tuple[Expression, ...] = ()

    @staticmethod
    def of(pattern: Pattern) -> _Triples | None:
        """Return what a pattern is of; None where it is something else."""
        parts = list(conjuncts(pattern.condition)) if isinstance(pattern, Filter) else []
        inner = list(_joined(pattern.pattern if isinstance(pattern, Filter) else pattern))
        bgps = tuple(part for part in inner if isinstance(part, Bgp) and not _is_of_graphs(part))
        if len(bgps) < len(inner):
            return None
        names = frozenset(name for bgp in bgps for name in variables(bgp))
        has_triples = any(bgp.triples for bgp in bgps)
        fit = tuple(part for part in parts if has_triples and names.issuperset(read_by(part)) and not any(existences(part)))
        return _Triples(bgps, fit, tuple(part for part in parts if part not in fit))


def _is_of_graphs(pattern: Bgp) -> bool:
    return not pattern.triples and isinstance(pattern.place, EachNamed)


def _joined(pattern: Pattern) -> Iterator[Pattern]:
    if isinstance(pattern, Join):
        yield from _joined(pattern.left)
        yield from _joined(pattern.right)
    else:
        yield pattern
