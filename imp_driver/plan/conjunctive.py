"""Inner joins with one condition above them: their inputs, and what the condition equates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.nodes import Join, JoinKind, Plan, Scalar, Scan, SemiJoin


def inner_inputs(source: Plan) -> tuple[Plan, ...]:
    """Return the inputs of a tree of inner joins whose conditions stand above; the source itself where it is no such join."""
    if isinstance(source, Join) and source.kind is JoinKind.INNER and not source.conjuncts:
        return (*inner_inputs(source.left), *inner_inputs(source.right))
    return (source,)


def joined_scans(source: Plan) -> tuple[Scan, ...] | None:
    """Return the tables of a source that is nothing but inner joins of tables; None for another source."""
    inputs = inner_inputs(source)
    found = tuple(each for each in inputs if isinstance(each, Scan))
    return found if len(found) == len(inputs) else None


def may_be_left_out(source: Plan, where: Sequence[exp.Expr], conjunct: exp.Expr) -> bool:
    """Say whether a condition of ``where`` pairs nothing: it reads one input of the source alone, or such as equalities pair anyway.

    Without one that pairs, inputs would be joined row by row with all rows of the other.
    """
    inputs = [{attribute.identifier for attribute in each.output} for each in _paired(source)]
    read = identifiers(conjunct)
    if len(inputs) == 1 or any(read <= each for each in inputs):
        return True
    if isinstance(conjunct.unnest(), exp.EQ) or not read <= set().union(*inputs):
        return False
    return len({place for place, each in enumerate(_components(inputs, equalities_of(where))) if read & each}) == 1


def _components(inputs: Sequence[set[str]], equalities: Sequence[tuple[str, str]]) -> list[set[str]]:
    """Return the attributes of inputs that equalities connect, each such set together."""
    found = list(inputs)
    for pair in equalities:
        apart = [each for each in found if not each.isdisjoint(pair)]
        found = [each for each in found if each.isdisjoint(pair)] + ([set().union(*apart)] if apart else [])
    return found


def _paired(source: Plan) -> tuple[Plan, ...]:
    """Return what conditions above pair: the inputs of inner joins, those below the side that outer and semi-joins keep included."""
    inputs = inner_inputs(source)
    if len(inputs) > 1:
        return tuple(paired for each in inputs for paired in _paired(each))
    if isinstance(source, SemiJoin):
        return _paired(source.left)
    if isinstance(source, Join) and source.kind is JoinKind.LEFT:
        left = _paired(source.left)
        # What an outer join adds stands beside each of them.
        return left if len(left) == 1 else (*left, source.right)
    return inputs


def equalities_of(where: Sequence[exp.Expr]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of attributes that a condition equates, both ways round."""
    pairs = [pair for each in where if (pair := equality(each)) is not None]
    return (*pairs, *((other, one) for one, other in pairs))


def with_equalities(source: Plan, where: Sequence[exp.Expr]) -> Plan:
    """Return a source whose inner joins pair their rows by equalities of the conditions above it, which stay there."""
    if isinstance(source, Scalar):
        return replace(source, child=with_equalities(source.child, where))
    if not isinstance(source, Join) or source.kind is not JoinKind.INNER:
        return source
    left, right = (with_equalities(each, where) for each in (source.left, source.right))
    # Doubles may be rounded sums, of which the condition itself says whether it is decided.
    sides = [
        {attribute.identifier for attribute in each.output if attribute.type_name not in ("double", "float")} for each in (left, right)
    ]
    added = tuple(each for each in where if (pair := equality(each)) is not None and _is_across(pair, *sides))
    return replace(source, left=left, right=right, conjuncts=(*source.conjuncts, *added))


def _is_across(pair: tuple[str, str], left: Collection[str], right: Collection[str]) -> bool:
    one, other = pair
    return (one in left and other in right) or (one in right and other in left)


def equality(conjunct: exp.Expr) -> tuple[str, str] | None:
    """Return the two attributes that a conjunct equates, None where it is another condition."""
    node = conjunct.unnest()
    if not isinstance(node, exp.EQ):
        return None
    one, other = plain_identifier(node.left), plain_identifier(node.right)
    return None if one is None or other is None else (one, other)


def unless_false(conjuncts: Sequence[exp.Expr]) -> exp.Expr:
    """Return what is TRUE where all of some conditions may hold: unless one of them is FALSE."""
    every = exp.and_(*(each.copy() for each in conjuncts))
    return exp.or_(every.copy(), exp.Is(this=exp.Paren(this=every), expression=exp.Null()))
