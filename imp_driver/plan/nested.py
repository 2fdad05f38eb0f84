"""Aggregates over rows that other aggregates decide about: the rows are grouped first, by all that is read of them, and decided then.

``SELECT SUM(b.price * b.volume) FROM bids b WHERE 0.75 * (SELECT SUM(volume) FROM bids) < (SELECT SUM(b2.volume) FROM bids b2 WHERE
b2.price <= b.price)`` (RPAI paper, example 2.2) needs of ``b`` the sums of each price alone, and of ``b2`` as well. What is below these
groups has no subquery and reads no row around it, so it is maintained like other groups; what is above is ``Merge`` and ``Scalar`` over
as many rows as there are different values of the columns that correlate (the maps from free and bound columns of section 4.2.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from imp_driver.plan.attributes import by_identifier, identifiers, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Aggregate, Attribute, Distinct, Filter, Merge, Plan, Project, Scalar, SemiJoin, children, every
from imp_driver.plan.rebuild import with_expressions, with_inputs

Values = Mapping[str, exp.Expr]


def with_nested(plan: Plan) -> Plan:
    """Return a plan in which aggregates that subqueries decide about, and those of rows around them, are merged from finer groups."""
    plan = with_inputs(plan, tuple(map(with_nested, children(plan))))
    if isinstance(plan, Distinct) and any(isinstance(each, Scalar) for each in spine(plan.child)):
        plan = Aggregate(plan.child, plan.output, tuple(map(reference, plan.output)), (), ())
    if not isinstance(plan, Aggregate):
        return plan
    rows = rows_below(plan.child)
    is_correlated = any(free_identifiers(each.subquery) for each in rows.scalars)
    return (_merged(plan, rows) or plan) if is_correlated or free_identifiers(plan) else plan


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What a merge is made of: rows that have the values of ``scalars`` added, by their identifiers, and pass the conditions."""

    rows: Plan
    where: tuple[exp.Expr, ...]
    scalars: Mapping[str, Scalar]


def decided_by(merge: Merge) -> Decided:
    """Take apart what stands below a merge."""
    where: list[exp.Expr] = []
    scalars: dict[str, Scalar] = {}
    plan = merge.child
    while isinstance(plan, (Filter, Scalar)):
        if isinstance(plan, Filter):
            where += plan.conjuncts
        else:
            scalars[plan.value.identifier] = plan
        plan = plan.child
    return Decided(plan, tuple(where), scalars)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What an aggregate groups: ``scalars`` are added to the rows of ``source``, the first one first, which then pass ``where``.

    ``values`` gives attributes of projections over attributes of the source and the scalars.
    """

    source: Plan
    where: tuple[exp.Expr, ...]
    values: Values
    scalars: tuple[Scalar, ...]


def rows_below(plan: Plan) -> Rows:
    """Pull what is decided about the rows of an aggregate, and the values of subqueries for it, to the top."""
    match plan:
        case Filter():
            rows = rows_below(plan.child)
            return replace(rows, where=(*rows.where, *(substituted(each, rows.values) for each in plan.conjuncts)))
        case Scalar():
            rows = rows_below(plan.child)
            own = replace(plan, subquery=_substituted(plan.subquery, rows.values))
            return replace(rows, scalars=(*rows.scalars, own))
        case Project() if any(isinstance(each, Scalar) for each in spine(plan)):
            rows = rows_below(plan.child)
            named = zip(plan.output, plan.expressions, strict=True)
            return replace(rows, values={attribute.identifier: substituted(each, rows.values) for attribute, each in named})
        case _:
            below = unfold(plan)
            return Rows(below.source, below.where, below.values, ())


def with_counts(plan: Plan) -> Plan:
    """Return rows of an aggregate in which EXISTS by comparisons that are no equality is a count that is above 0, and NOT EXISTS one of 0.

    A join would look at each pair; equalities tell the partners of a row.
    """
    if isinstance(plan, (Filter, Project, Scalar)):
        return replace(plan, child=with_counts(plan.child))
    if not isinstance(plan, SemiJoin):
        return plan
    left = with_counts(plan.left)
    is_counted = plan.conjuncts and not plan.null_aware and not any(isinstance(each.unnest(), exp.EQ) for each in plan.conjuncts)
    if not is_counted:
        return replace(plan, left=left)
    name = f"partners_{plan.right.output[0].identifier}" if plan.right.output else "partners"
    number, value = (Attribute(f"{name}_{what}", what, "long", nullable=False) for what in ("count", "scalar"))
    counted = Aggregate(Filter(plan.right, plan.conjuncts), (), (), (number,), (exp.Count(this=exp.Star()),))
    known = by_identifier(left.output)
    correlated = tuple(known[each] for each in sorted(free_identifiers(counted)) if each in known)
    comparison = exp.EQ if plan.anti else exp.GT
    has_partner = comparison(this=reference(value), expression=exp.Literal.number(0))
    return Filter(Scalar(left, counted, value, correlated), (has_partner,))


def spine(plan: Plan) -> Iterable[Plan]:
    """Yield the operators that filter, project and add values to the rows of an aggregate, the last one first."""
    while isinstance(plan, (Filter, Project, Scalar)):
        yield plan
        plan = plan.child


def _substituted(plan: Plan, values: Values) -> Plan:
    """Return a subquery that reads what attributes of the rows around it stand for."""
    if not values:
        return plan
    changed = with_expressions(plan, lambda each: substituted(each, values))
    return with_inputs(changed, tuple(_substituted(each, values) for each in children(changed)))


@dataclass(slots=True, eq=False)
class _Finer:
    """Collects what the finer groups are to have. ``own`` are the columns of the rows, without those that subqueries add."""

    own: Mapping[str, Attribute]
    keys: dict[str, tuple[Attribute, exp.Expr]] = field(default_factory=dict)
    functions: dict[str, tuple[Attribute, exp.Expr]] = field(default_factory=dict)

    def read(self, expressions: Iterable[exp.Expr]) -> None:
        """Have all columns of the rows that expressions read as keys."""
        for name in sorted({name for each in expressions for name in identifiers(each)} & self.own.keys()):
            self.keys.setdefault(name, (self.own[name], reference(self.own[name])))

    def is_own(self, expression: exp.Expr) -> bool:
        """Say whether an expression reads the rows alone, nothing of a subquery or of what is around."""
        return identifiers(expression) <= self.own.keys()

    def key(self, attribute: Attribute, expression: exp.Expr) -> exp.Expr:
        """Return a key over the finer groups."""
        if not self.is_own(expression) or isinstance(expression.unnest(), exp.Column):
            self.read((expression,))
            return expression
        name = _finer_name(attribute.identifier)
        self.keys[name] = (replace(attribute, identifier=name), expression)
        return reference(self.keys[name][0])

    def function(self, attribute: Attribute, function: exp.Expr) -> exp.Expr:
        """Return an aggregate over the finer groups: one of theirs, for all of them or some, or one of their keys."""
        if self.is_own(function):
            return reference(self._partial(attribute, function))
        found = _conditional(function)
        if found is not None and self.is_own(found[0]):
            self.read((found[1],))
            return exp.Filter(this=reference(self._partial(attribute, found[0])), expression=exp.Where(this=found[1]))
        self.read((function,))
        return function

    def _partial(self, attribute: Attribute, function: exp.Expr) -> Attribute:
        made = replace(attribute, identifier=_finer_name(attribute.identifier))
        return self.functions.setdefault(function.sql(), (made, function))[0]


def _finer_name(identifier: str) -> str:
    return f"finer_{identifier}"


def _conditional(function: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """Return the aggregate and the condition of ``f(x) FILTER (WHERE c)`` and of ``f(CASE WHEN c THEN x END)``."""
    if isinstance(function, exp.Filter):
        return function.this, function.expression.this
    argument = function.this.unnest() if isinstance(function, exp.AggFunc) and isinstance(function.this, exp.Expr) else None
    is_one_branch = isinstance(argument, exp.Case) and argument.this is None and len(argument.args["ifs"]) == 1
    if argument is None or not is_one_branch or argument.args.get("default") is not None:
        return None
    branch = argument.args["ifs"][0]
    plain = function.copy()
    plain.set("this", branch.args["true"].copy())
    return plain, branch.this


def _merged(plan: Aggregate, rows: Rows) -> Plan | None:
    """Return an aggregate as merged from finer groups; None where a subquery below these stands in another place."""
    finer = _Finer(by_identifier(rows.source.output))
    below = tuple(each for each in rows.where if finer.is_own(each))
    above = tuple(each for each in rows.where if not finer.is_own(each))
    finer.read(above)
    finer.read(reference(finer.own[name]) for each in rows.scalars for name in free_identifiers(each.subquery) & finer.own.keys())
    keys = tuple(
        finer.key(attribute, substituted(each, rows.values)) for attribute, each in zip(plan.key_attributes, plan.keys, strict=True)
    )
    functions = tuple(
        finer.function(attribute, substituted(each, rows.values))
        for attribute, each in zip(plan.function_attributes, plan.functions, strict=True)
    )
    if free_identifiers(rows.source) or any(isinstance(each, Scalar) for each in every(rows.source)):
        return None
    copies = Attribute(_finer_name(f"copies_{plan.output[0].identifier}"), "copies", "bigint", nullable=False)
    partials = [*finer.functions.values(), (copies, exp.Count(this=exp.Star()))]
    groups: Plan = Aggregate(
        Filter(rows.source, below) if below else rows.source,
        tuple(attribute for attribute, _ in finer.keys.values()),
        tuple(key for _, key in finer.keys.values()),
        tuple(attribute for attribute, _ in partials),
        tuple(function for _, function in partials),
        is_finer=True,
    )
    known = by_identifier(groups.output)
    for each in rows.scalars:
        read = sorted(free_identifiers(each.subquery) & known.keys())
        groups = replace(each, child=groups, correlated=tuple(known[name] for name in read))
    decided = Filter(groups, above) if above else groups
    return Merge(decided, plan.key_attributes, keys, plan.function_attributes, functions, copies)
