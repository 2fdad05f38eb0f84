"""Conditions as formulas for z3, in three-valued logic (sketch-reuse rules 2.4).

What has no encoding becomes a function symbol of its own, keyed by its text, over the attributes that it reads: equal texts on equal
attributes are equal, and nothing else is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from imp_driver.plan.attributes import identifiers
from imp_driver.reuse.constants import constants_of, is_constant, is_null, literal_of
from imp_driver.reuse.terms import ORDERED, Algebra, Term, Truth
from imp_driver.reuse.texts import is_fixed, text_of
from imp_driver.reuse.types import Family, ValueType, literal_integer_type

_EQUALITIES = (exp.EQ, exp.NEQ)
_COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, *_EQUALITIES)
_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}


@dataclass(frozen=True, slots=True)
class Encoder:
    """Encodes expressions over one set of attribute values. Two encoders with one algebra share their function symbols."""

    algebra: Algebra
    attributes: Mapping[str, Term]

    def condition(self, node: exp.Expr) -> Truth:
        """Return when a condition is true and when it is false."""
        algebra = self.algebra
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.And() | exp.Or():
                return self._logical(self.condition(node.left), self.condition(node.right), isinstance(node, exp.And))
            case exp.Not():
                inner = self.condition(node.this)
                return Truth(inner.false, inner.true)
            case exp.Boolean():
                return Truth(algebra.truth(bool(node.this)), algebra.truth(not node.this))
            case exp.Null():
                return self._unknown()
            case exp.Is():
                return self._is(node) or self._opaque(node)
            case exp.In():
                return self._in(node) or self._opaque(node)
            case exp.Between() if not node.args.get("symmetric"):
                low = exp.GTE(this=node.this, expression=node.args["low"])
                return self._logical(self.condition(low), self.condition(exp.LTE(this=node.this, expression=node.args["high"])), True)
            case exp.Binary() if type(node) in _COMPARISONS:
                return self._comparison(type(node), node.left, node.right) or self._opaque(node)
            case exp.Column() | exp.Case() | exp.If():
                return self._of_boolean(self.term(node)) or self._opaque(node)
            case _:
                return self._opaque(node)

    def _logical(self, left: Truth, right: Truth, is_and: bool) -> Truth:
        all_of, any_of = self.algebra.every, self.algebra.some
        if is_and:
            return Truth(all_of([left.true, right.true]), any_of([left.false, right.false]))
        return Truth(any_of([left.true, right.true]), all_of([left.false, right.false]))

    def _unknown(self) -> Truth:
        return Truth(self.algebra.truth(False), self.algebra.truth(False))

    def _of_boolean(self, term: Term | None) -> Truth | None:
        if term is None or term.kind is None or term.kind.family is not Family.BOOLEAN:
            return None
        known = self.algebra.no(term.null)
        return Truth(self.algebra.every([known, term.value]), self.algebra.every([known, self.algebra.no(term.value)]))

    def _is(self, node: exp.Is) -> Truth | None:
        algebra, subject = self.algebra, node.this.unnest()
        if isinstance(node.expression, exp.Boolean):
            inner = self.condition(subject)
            wanted = inner.true if node.expression.this else inner.false
            return Truth(wanted, algebra.no(wanted))
        if not isinstance(node.expression, exp.Null):
            return None
        term = self.term(subject)
        null = self._function(subject, "is null", algebra.engine.BoolSort(algebra.context)) if term is None else term.null
        return Truth(null, algebra.no(null))

    def _in(self, node: exp.In) -> Truth | None:
        """Return the truth of IN; NULL in the list makes what is not found unknown."""
        term = self.term(node.this)
        if term is None or term.kind is None or not node.expressions or any(node.args.get(name) for name in ("query", "unnest", "field")):
            return None
        constants = constants_of(node.expressions, term.kind, in_list=True)
        if constants is None:
            return None
        values = [self.algebra.place(constant, term.kind) for constant in constants]
        if any(value is None for value in values):
            return None
        known, found = self.algebra.no(term.null), self.algebra.some([term.value == value for value in values])
        has_null = any(is_null(each) for each in node.expressions)
        false = self.algebra.truth(False) if has_null else self.algebra.every([known, self.algebra.no(found)])
        return Truth(self.algebra.every([known, found]), false)

    def _comparison(self, operator: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> Truth | None:
        if is_null(left) or is_null(right):
            return self._unknown()
        if is_constant(left) and not is_constant(right):
            return self._comparison(_MIRRORED.get(operator, operator), right, left)
        one = self.term(left)
        if one is None or one.kind is None:
            return None
        other = self._constant(right, one.kind) if is_constant(right) else self.term(right)
        is_equality = operator in _EQUALITIES
        if other is None or not (is_equality or one.kind.family in ORDERED):
            return None
        if not is_constant(right) and not self.algebra.are_comparable(one, other, is_equality):
            return None
        known = self.algebra.no(self.algebra.some([one.null, other.null]))
        holds = _compared(operator, one.value, other.value)
        return Truth(self.algebra.every([known, holds]), self.algebra.every([known, self.algebra.no(holds)]))

    def _constant(self, node: exp.Expr, kind: ValueType) -> Term | None:
        constants = constants_of([node], kind)
        value = self.algebra.place(constants[0], kind) if constants else None
        return None if value is None else Term(value, self.algebra.truth(False), kind)

    def term(self, node: exp.Expr) -> Term | None:
        """Return the value of an expression; None when it has no encoding."""
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Column():
                return self.attributes.get(node.name)
            case exp.Add() | exp.Sub() | exp.Mul():
                return self._arithmetic(node)
            case exp.Neg() if not is_constant(node):
                inner = self.term(node.this)
                return None if inner is None else self._bounded(node, -inner.value, inner, inner.kind)
            case exp.Case():
                return self._case(node)
            case exp.If():
                return self._branches([(node.this, node.args["true"])], node.args.get("false"))
            case _:
                return self._literal(node)

    def _literal(self, node: exp.Expr) -> Term | None:
        literal = literal_of(node)
        if literal is None or literal.family not in (Family.INTEGER, Family.DECIMAL) or isinstance(literal.value, bytes | None):
            return None
        kind: ValueType | None = ValueType(Family.DECIMAL, *literal.digits)
        if literal.family is Family.INTEGER:
            kind = literal_integer_type(int(literal.value))
        return None if kind is None else Term(self.algebra.number(literal.value), self.algebra.truth(False), kind)

    def _arithmetic(self, node: exp.Binary) -> Term | None:
        left, right = self.term(node.left), self.term(node.right)
        if left is None or right is None or left.kind is None or right.kind is None:
            return None
        if isinstance(node, exp.Mul) and identifiers(node.left) and identifiers(node.right):
            return None
        null = Term(None, self.algebra.some([left.null, right.null]), None)
        kind = _result(node, left.kind, right.kind)
        return self._bounded(node, _computed(node, left.value, right.value), null, kind)

    def _bounded(self, node: exp.Expr, value: Any, null: Term, kind: ValueType | None) -> Term | None:
        """Return the result of arithmetic. Without ANSI mode an integer that leaves its range becomes some other one."""
        if kind is None or not kind.is_exact_number:
            return None
        if kind.family is Family.INTEGER and not self.algebra.checks_overflow:
            other = self._function(node, "wrapped", self.algebra.sort(kind))
            value = self.algebra.engine.If(self.algebra.in_range(value, kind), value, other)
        return Term(value, null.null, kind)

    def _case(self, node: exp.Case) -> Term | None:
        subject = node.this
        branches = [
            (branch.this if subject is None else exp.EQ(this=subject, expression=branch.this), branch.args["true"])
            for branch in node.args["ifs"]
        ]
        return self._branches(branches, node.args.get("default"))

    def _branches(self, branches: list[tuple[exp.Expr, exp.Expr]], default: exp.Expr | None) -> Term | None:
        """Return the value of the first branch whose condition is true, when all branches meet in one type unchanged."""
        algebra, nothing = self.algebra, exp.Null()
        nodes = [*(value for _, value in branches), default or nothing]
        terms = [None if is_null(each) else self.term(each) for each in nodes]
        kinds = [None if term is None else term.kind for each, term in zip(nodes, terms, strict=True) if not is_null(each)]
        kind = kinds[0] if kinds else None
        for each in kinds[1:]:
            kind = None if kind is None or each is None else algebra.common(kind, each)
        if kind is None:
            return None
        absent = Term(algebra.engine.FreshConst(algebra.sort(kind)), algebra.truth(True), kind)
        found = terms[-1] or absent
        for (condition, _), term in reversed(list(zip(branches, terms[:-1], strict=True))):
            chosen, taken = term or absent, self.condition(condition).true
            value = algebra.engine.If(taken, chosen.value, found.value)
            found = Term(value, algebra.engine.If(taken, chosen.null, found.null), kind)
        return found

    def _opaque(self, node: exp.Expr) -> Truth:
        """Return a truth of which nothing is known but that it depends on its text and its attributes."""
        boolean = self.algebra.engine.BoolSort(self.algebra.context)
        value, null = self._function(node, "value", boolean), self._function(node, "is null", boolean)
        known = self.algebra.no(null)
        return Truth(self.algebra.every([known, value]), self.algebra.every([known, self.algebra.no(value)]))

    def _function(self, node: exp.Expr, aspect: str, sort: Any) -> Any:
        if not is_fixed(node):
            return self.algebra.engine.FreshConst(sort)
        text = f"{aspect} of {text_of(node)}"
        terms = [self.attributes[name] for name in sorted(identifiers(node))]
        arguments = [part for term in terms for part in (term.value, term.null)]
        if not arguments:
            return self.algebra.engine.Const(text, sort)
        return self.algebra.engine.Function(text, *(argument.sort() for argument in arguments), sort)(*arguments)


def _compared(operator: type[exp.Expr], left: Any, right: Any) -> Any:
    if operator is exp.EQ:
        return left == right
    if operator is exp.NEQ:
        return left != right
    if operator in (exp.GT, exp.GTE):
        return left > right if operator is exp.GT else left >= right
    return left < right if operator is exp.LT else left <= right


def _computed(node: exp.Binary, left: Any, right: Any) -> Any:
    if isinstance(node, exp.Mul):
        return left * right
    return left + right if isinstance(node, exp.Add) else left - right


def _result(node: exp.Binary, left: ValueType, right: ValueType) -> ValueType | None:
    """Return Spark's type of a result that needs no rounding; None for any other."""
    if not left.is_exact_number or not right.is_exact_number:
        return None
    if left.family is Family.INTEGER and right.family is Family.INTEGER:
        return Algebra.common(left, right)
    if isinstance(node, exp.Mul):
        kind = ValueType(Family.DECIMAL, left.whole + right.whole + 1, left.scale + right.scale)
    else:
        kind = ValueType(Family.DECIMAL, max(left.whole, right.whole) + 1, max(left.scale, right.scale))
    return kind if kind.fits else None
