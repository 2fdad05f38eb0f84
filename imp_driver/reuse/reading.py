"""Conditions as atoms: one expression compared with constants (sketch-reuse rules 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from imp_driver.reuse.constants import Constant, constants_of, is_constant, is_null, place
from imp_driver.reuse.types import Family, ValueType, type_of


class Operator(Enum):
    ABOVE = ">"
    FROM = ">="
    BELOW = "<"
    UP_TO = "<="
    IN = "IN"
    NOT_IN = "NOT IN"
    PREFIX = "LIKE"
    IS_NULL = "IS NULL"
    NOT_NULL = "IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Atom:
    """An operator with its constants: one for an order comparison and for a prefix, any number for a list, none for NULL tests."""

    operator: Operator
    constants: tuple[Constant, ...] = ()


NOT_NULL = Atom(Operator.NOT_NULL)


@dataclass(frozen=True, slots=True)
class Reading:
    """A conjunct as atoms over one subject; ``never``: it is true for no row, a comparison with NULL for instance."""

    subject: exp.Expr
    atoms: tuple[Atom, ...] = ()
    never: bool = False


_COMPARISONS: Mapping[type[exp.Expr], tuple[type[exp.Expr], type[exp.Expr]]] = {
    exp.GT: (exp.LT, exp.LTE),
    exp.GTE: (exp.LTE, exp.LT),
    exp.LT: (exp.GT, exp.GTE),
    exp.LTE: (exp.GTE, exp.GT),
    exp.EQ: (exp.EQ, exp.NEQ),
    exp.NEQ: (exp.NEQ, exp.EQ),
}
"""Each comparison with its mirror image (operands exchanged) and its negation."""

_OPERATORS: Mapping[type[exp.Expr], Operator] = {
    exp.GT: Operator.ABOVE,
    exp.GTE: Operator.FROM,
    exp.LT: Operator.BELOW,
    exp.LTE: Operator.UP_TO,
    exp.EQ: Operator.IN,
    exp.NEQ: Operator.NOT_IN,
}


def read(conjunct: exp.Expr, types: Mapping[str, str | None], negated: bool = False) -> Reading | None:
    """Read a conjunct (``conjuncts_of`` has split BETWEEN), or its negation, as atoms; None when it is nothing of the kind."""
    match conjunct:
        case exp.Paren():
            return read(conjunct.this, types, negated)
        case exp.Not():
            return read(conjunct.this, types, not negated)
        case exp.Null():
            return Reading(conjunct, never=True)
        case exp.Boolean():
            return Reading(conjunct, never=bool(conjunct.this) is negated)
        case exp.Is() if is_null(conjunct.expression) and not is_constant(conjunct.this):
            return Reading(conjunct.this, (NOT_NULL if negated else Atom(Operator.IS_NULL),))
        case exp.In():
            return _read_list(conjunct, types, negated)
        case exp.Like() if bool(conjunct.args.get("negate")) is negated:
            return _read_prefix(conjunct, types)
        case exp.Binary() if type(conjunct) in _COMPARISONS:
            return _read_comparison(conjunct, types, negated)
        case _:
            return None


def _read_comparison(node: exp.Binary, types: Mapping[str, str | None], negated: bool) -> Reading | None:
    operator: type[exp.Expr] = type(node)
    subject, constant = node.left, node.right
    if is_constant(subject):
        operator, subject, constant = _COMPARISONS[operator][0], constant, subject
    if is_constant(subject) or not is_constant(constant):
        return None
    return _compared(subject, _COMPARISONS[operator][1] if negated else operator, constant, types)


def _compared(subject: exp.Expr, operator: type[exp.Expr], constant: exp.Expr, types: Mapping[str, str | None]) -> Reading | None:
    if is_null(constant):
        return Reading(subject, never=True)
    kind = type_of(subject, types)
    constants = None if kind is None else constants_of([constant], kind)
    return None if kind is None or constants is None else _reading(subject, Atom(_OPERATORS[operator], constants), kind)


def _read_list(node: exp.In, types: Mapping[str, str | None], negated: bool) -> Reading | None:
    kind = type_of(node.this, types)
    if any(node.args.get(name) for name in ("query", "unnest", "field")) or not node.expressions:
        return None
    has_null = any(is_null(each) for each in node.expressions)
    if negated and has_null:
        return Reading(node.this, never=True)
    constants = None if kind is None else constants_of(node.expressions, kind, in_list=True)
    if kind is None or constants is None:
        return None
    return _reading(node.this, Atom(Operator.NOT_IN if negated else Operator.IN, constants), kind)


def _read_prefix(node: exp.Like, types: Mapping[str, str | None]) -> Reading | None:
    """Read LIKE with a pattern whose only wildcard is one % at its end."""
    kind, pattern = type_of(node.this, types), node.expression.unnest()
    if is_null(pattern):
        return Reading(node.this, never=True)
    if kind is None or kind.family is not Family.STRING or not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return None
    text = str(pattern.this)
    if not text.endswith("%") or any(special in text[:-1] for special in "%_\\"):
        return None
    return Reading(node.this, (Atom(Operator.PREFIX, (place(text[:-1].encode("utf-8", "surrogatepass")),)),))


def _reading(subject: exp.Expr, atom: Atom, kind: ValueType) -> Reading:
    """Bring atoms over whole numbers to closed bounds between which values lie."""
    if kind.is_discrete:
        atom = Atom(*_closed(atom))
    return Reading(subject, (atom,), never=atom.operator is Operator.IN and not atom.constants)


def _closed(atom: Atom) -> tuple[Operator, tuple[Constant, ...]]:
    ranks = [constant.low for constant in atom.constants if not isinstance(constant.low, bytes)]
    match atom.operator:
        case Operator.ABOVE:
            return Operator.FROM, (_whole(floor(ranks[0]) + 1),)
        case Operator.FROM:
            return Operator.FROM, (_whole(ceil(ranks[0])),)
        case Operator.BELOW:
            return Operator.UP_TO, (_whole(ceil(ranks[0]) - 1),)
        case Operator.UP_TO:
            return Operator.UP_TO, (_whole(floor(ranks[0])),)
        case _:
            return atom.operator, tuple(place(rank) for rank in ranks if rank.denominator == 1)


def _whole(value: int) -> Constant:
    return place(Fraction(value))
