"""Source of a block -> the operators that follow its changes in process (IMP paper section 5.2).

What they cannot evaluate exactly as Spark does has no such operators; the engine then follows the changes, or the state is captured again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from imp_driver.circuit.occurrence import Occurrence
from imp_driver.circuit.ordered import top, windowed
from imp_driver.dataflow import (
    access,
    compute,
    distinct,
    full_join,
    groups,
    join,
    not_in,
    outer_join,
    partners,
    semijoin,
    set_operation,
    union,
)
from imp_driver.dataflow.arrangement import may_be_joined
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.dataflow.expression.select import select
from imp_driver.dataflow.operator import Operator
from imp_driver.dataflow.zset import empty
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.plan.attributes import identifiers, reference
from imp_driver.plan.below import unfold
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.conjunctive import equalities_of, equality, inner_inputs, unless_false
from imp_driver.plan.convert import row_expression
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.minus_zero import minus_zero_of
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Parsed,
    Plan,
    Scan,
    SemiJoin,
    SetOperation,
    TopK,
    UnionAll,
    Window,
    every,
)
from imp_driver.plan.render import read_identifiers
from imp_driver.plan.types import infer
from imp_driver.values.aggregates import AggregateSpecification
from imp_driver.values.expressions import And, Expression
from imp_driver.values.types import arrow_type


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """The operators of one source, and the occurrences of tables that they read."""

    operator: Operator
    occurrences: tuple[Occurrence, ...]


def assembled(block: BoundBlock) -> Assembled:
    """Return the operators below a block's own conditions. Raises NotEvaluable."""
    assembler = _Assembler(read_identifiers(block.source) | frozenset(block.columns))
    operator = assembler.source(block.source, block.where_nodes)
    if not set(block.columns) <= set(operator.schema.names):
        raise NotEvaluable("a column of the block has no type that is known")
    if assembler.has_unsigned_zeros and _asks_for_minus_zero(block):
        raise NotEvaluable("the sign of a zero that comes from groups below")
    return Assembled(operator, tuple(assembler.occurrences))


@dataclass(slots=True)
class _Assembler:
    """``wanted`` are the attributes that anyone reads; ``occurrences`` those met so far.

    ``has_unsigned_zeros``: there are groups with extremes of doubles, which give 0.0 for -0.0.
    """

    wanted: frozenset[str]
    occurrences: list[Occurrence] = field(default_factory=list)
    has_unsigned_zeros: bool = False

    def source(self, plan: Plan, where: Sequence[Parsed]) -> Operator:
        """Return an operator whose rows, filtered by ``where``, are those of the plan filtered by it."""
        match plan:
            case Scan():
                return self._access(plan, where)
            case Join() if plan.kind is JoinKind.INNER and not plan.conjuncts:
                return join.InnerJoin.of([self.source(each, where) for each in inner_inputs(plan)], equalities_of(where))
            case Join() if plan.kind is JoinKind.LEFT:
                return outer_join.LeftJoin(self._partnered(plan, self.source(plan.left, where)))
            case Join() if plan.kind is JoinKind.FULL:
                # Conditions above may hold of the NULLs that it adds, so that they must not leave out rows below.
                return full_join.FullJoin.of(self._partnered(plan, self.rows(plan.left)))
            case SemiJoin() if plan.null_aware:
                return self._not_in(plan, self.source(plan.left, where))
            case SemiJoin():
                return semijoin.SemiJoin(self._partnered(plan, self.source(plan.left, where)), plan.anti)
            case UnionAll() | SetOperation() | Distinct() | Aggregate() | Window() | TopK():
                return self.rows(plan)
            case _:
                raise NotEvaluable(f"{type(plan).__name__} below the groups")

    def rows(self, plan: Plan) -> Operator:
        """Return an operator whose rows are those of the plan, of the columns that are wanted."""
        match plan:
            case Distinct():
                return distinct.Distinct(self._whole(plan.child))
            case UnionAll():
                return self._union(plan)
            case SetOperation():
                return self._set_operation(plan)
            case Aggregate():
                return self._groups(plan)
            case Window():
                child = self.rows(plan.child)
                return windowed(plan, child, partial(_computed, child, ()))
            case TopK():
                child = self.rows(plan.child)
                return top(plan, child, partial(_computed, child, ()))
        below = unfold(plan)
        child = self.source(below.source, below.where)
        wanted = [attribute for attribute in plan.output if attribute.identifier in self.wanted]
        nodes = [below.values.get(attribute.identifier, reference(attribute)) for attribute in wanted]
        return _computed(child, below.where, [attribute.identifier for attribute in wanted], nodes)

    def _whole(self, plan: Plan) -> Operator:
        """Return what ``rows`` does, with every column."""
        operator = self.rows(plan)
        if operator.schema.names != [attribute.identifier for attribute in plan.output]:
            raise NotEvaluable("not all columns are read")
        return operator

    def _access(self, scan: Scan, where: Sequence[Parsed]) -> access.Access:
        read = [attribute for attribute in scan.output if attribute.identifier in self.wanted]
        schema = pa.schema([pa.field(attribute.identifier, _type_of(attribute)) for attribute in read])
        own = set(schema.names)
        conditions = tuple(node for node in where if identifiers(node) and identifiers(node) <= own)
        occurrence = Occurrence(
            scan, schema, tuple(attribute.name for attribute in read), _expressions(conditions, schema), Filter(scan, conditions)
        )
        occurrence.rows(empty(pa.schema([pa.field(attribute.name, _type_of(attribute)) for attribute in read])))
        self.occurrences.append(occurrence)
        return access.Access(scan.occurrence, _filled(schema))

    def _partnered(self, plan: Join | SemiJoin, left: Operator) -> partners.Partnered:
        right = self.rows(plan.right)
        schema = pa.schema([*left.schema, *right.schema])
        chosen = next((pair for each in plan.conjuncts if (pair := _pair(each, left.schema, right.schema)) is not None), None)
        others = [each for each in plan.conjuncts if chosen is None or _pair(each, left.schema, right.schema) != chosen]
        return partners.Partnered(left, right, chosen, _condition(others, schema))

    def _not_in(self, plan: SemiJoin, left: Operator) -> Operator:
        sides = self._partnered(plan, left)
        if sides.pair is not None and sides.condition is None:
            return not_in.NotIn(sides, sides.pair)
        condition = _condition([unless_false(plan.conjuncts)], pa.schema([*left.schema, *sides.right.schema]))
        return semijoin.SemiJoin(partners.Partnered(left, sides.right, None, condition), anti=True)

    def _union(self, plan: UnionAll) -> union.Union:
        branches = tuple(self._whole(each) for each in plan.branches)
        return union.Union(branches, tuple(tuple(each.schema.names) for each in branches), _aligned(plan.output, branches))

    def _set_operation(self, plan: SetOperation) -> set_operation.SetOperation:
        left, right = self._whole(plan.left), self._whole(plan.right)
        columns = _aligned(plan.output, (left, right))
        if any(map(pa.types.is_floating, columns.types)):
            raise NotEvaluable("the sign of a zero that both sides have")
        return set_operation.SetOperation(set_operation.Sides(left, right, columns), plan.kind.value, plan.distinct)

    def _groups(self, plan: Aggregate) -> groups.Groups:
        child = self.rows(plan.child)
        columns = dict(zip(child.schema.names, child.schema.types, strict=True))
        names = [attribute.identifier for attribute in plan.key_attributes]
        nodes = list(plan.keys)
        aggregates: list[tuple[AggregateSpecification, str | None]] = []
        kinds = []
        for attribute, function in zip(plan.function_attributes, plan.functions, strict=True):
            found = bound_aggregate(function, columns)
            if found is None:
                raise NotEvaluable(f"{function.key} below other operators")
            bound, argument = found
            kinds.append(groups.result_type(bound.specification))
            aggregates.append((bound.specification, None if argument is None else f"{attribute.identifier} argument"))
            if argument is not None:
                names.append(f"{attribute.identifier} argument")
                nodes.append(argument)
        self.has_unsigned_zeros |= any(map(pa.types.is_floating, kinds))
        computed = _computed(child, (), names, nodes)
        keys = names[: len(plan.keys)]
        fields = [computed.schema.field(key) for key in keys]
        fields += [pa.field(attribute.identifier, kind) for attribute, kind in zip(plan.function_attributes, kinds, strict=True)]
        return groups.Groups(computed, tuple(keys), tuple(aggregates), _filled(pa.schema(fields) if keys else pa.schema([])))


def _aligned(output: Sequence[Attribute], branches: Sequence[Operator]) -> pa.Schema:
    """Return the columns of branches that stand below each other, under the names of the output. Raises NotEvaluable."""
    kinds = branches[0].schema.types
    if any(each.schema.types != kinds for each in branches):
        raise NotEvaluable("branches of different types")
    return pa.schema([pa.field(attribute.identifier, kind) for attribute, kind in zip(output, kinds, strict=True)])


def _asks_for_minus_zero(block: BoundBlock) -> bool:
    arguments = (each.argument_node for each in block.aggregates if each.argument_node is not None)
    below = (node for plan in every(block.source) for node in expressions_of(plan))
    nodes = (*block.where_nodes, *block.key_nodes, *arguments, *below)
    return any(minus_zero_of(each) is not None for node in nodes for each in node.walk())


def _computed(child: Operator, where: Sequence[Parsed], names: Sequence[str], nodes: Sequence[Parsed]) -> compute.Compute:
    columns = dict(zip(child.schema.names, child.schema.types, strict=True))
    fields = []
    for name, node in zip(names, nodes, strict=True):
        kind = infer(node, columns)
        if kind is None:
            raise NotEvaluable(f"the type of {name} is not known")
        fields.append(pa.field(name, kind))
    expressions = tuple(row_expression(node, columns) for node in nodes)
    found = compute.Compute(child, _condition(where, child.schema), expressions, _filled(pa.schema(fields)))
    found.of(empty(child.schema))
    return found


def _filled(schema: pa.Schema) -> pa.Schema:
    """Rows without columns have no count."""
    if not len(schema):
        raise NotEvaluable("rows without columns")
    return schema


def _type_of(attribute: Attribute) -> pa.DataType:
    found = arrow_type(attribute.type_name or "")
    if found is None:
        raise NotEvaluable(f"{attribute.name}: a type that is not computed with in process")
    return found


def _pair(conjunct: Parsed, left: pa.Schema, right: pa.Schema) -> tuple[str, str] | None:
    """Return the columns of both sides that a conjunct equates by values whose codes can be compared."""
    one, other = equality(conjunct) or ("", "")
    if one in right.names:
        one, other = other, one
    if one not in left.names or other not in right.names:
        return None
    return (one, other) if may_be_joined(left.field(one).type, right.field(other).type) else None


def _expressions(nodes: Sequence[Parsed], schema: pa.Schema) -> tuple[Expression, ...]:
    columns = dict(zip(schema.names, schema.types, strict=True))
    return tuple(row_expression(node, columns) for node in nodes)


def _condition(nodes: Sequence[Parsed], schema: pa.Schema) -> Expression | None:
    """Return the conjunction, None without any. Raises NotEvaluable."""
    if not nodes:
        return None
    condition = And(_expressions(nodes, schema))
    select(schema.empty_table(), condition)
    return condition
