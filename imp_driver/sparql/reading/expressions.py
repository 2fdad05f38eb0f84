"""Expressions (section 17 of SPARQL 1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import Call, Constant, Exists, Expression, Pattern, Read, Variable
from imp_driver.sparql.functions.names import check_call
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.tree import Iri, Number, Tree
from imp_driver.sparql.terms import RDF, iri

_SAME = {"URI": "IRI", "ISURI": "ISIRI"}
_SIGNS = {"UnaryMinus": "-", "UnaryPlus": "+"}
_OPERATORS = {"ConditionalOrExpression": "||", "ConditionalAndExpression": "&&"}


def _no_aggregate(tree: Tree) -> Expression:
    name = tree.rule.removeprefix("Aggregate_").upper()
    raise ProgrammingError(f"{name} can only stand in SELECT, HAVING and ORDER BY, and in no other aggregate: use a subquery")


@dataclass(frozen=True, slots=True)
class Expressions:
    """Reads expressions of one place.

    Attributes:
        group: reads the pattern of EXISTS.
        read: gives what a variable stands for, once there are groups not always itself.
        aggregate: gives what an aggregate stands for; without it, it is an error.
    """

    context: Context
    group: Callable[[Tree], Pattern]
    read: Callable[[Variable], Expression] = Read
    aggregate: Callable[[Tree], Expression] = _no_aggregate

    def of(self, found: Any) -> Expression:
        """Return the expression of a tree.

        Raises:
            ProgrammingError: an undeclared prefix, an aggregate where none can be, or a cast of several values.
            NotSupportedError: a function that is not known.
        """
        match found:
            case Tree():
                return self._tree(found)
            case Variable():
                return self.read(found)
            case [one]:
                return self.of(one)
            case _:
                return Constant(self.context.names.term(found, has_sign=isinstance(found, Number) and found.has_sign))

    def _tree(self, tree: Tree) -> Expression:
        rule = tree.rule
        if rule in _OPERATORS:
            operands = [self.of(one) for one in (tree.one("expr"), *tree.many("other"))]
            return reduce(lambda left, right: Call(_OPERATORS[rule], (left, right)), operands)
        if rule in ("AdditiveExpression", "MultiplicativeExpression"):
            return self._arithmetic(tree)
        if rule == "RelationalExpression":
            return self._relation(tree)
        if rule.startswith("Unary"):
            return self._unary(tree)
        if rule == "Function":
            return self._function(tree)
        if rule.startswith("Aggregate_"):
            return self.aggregate(tree)
        if rule in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            return Exists(self.group(tree.one("graph")), rule == "Builtin_NOTEXISTS")
        return self._builtin(tree)

    def _arithmetic(self, tree: Tree) -> Expression:
        result = self.of(tree.one("expr"))
        for operator, other in zip(tree.many("op"), tree.many("other"), strict=True):
            result = Call(operator, (result, self.of(other)))
        return result

    def _relation(self, tree: Tree) -> Expression:
        left, operator = self.of(tree.one("expr")), tree.one("op")
        if operator is None:
            return left
        if operator in ("IN", "NOT IN"):
            return Call(operator, (left, *self._list(tree.one("other"))))
        return Call(operator, (left, self.of(tree.one("other"))))

    def _unary(self, tree: Tree) -> Expression:
        inner = tree.one("expr")
        if isinstance(inner, Number) and not inner.has_sign and inner.sign == _SIGNS.get(tree.rule):
            # What was taken for an operator is the sign of the number alone.
            return Constant(self.context.names.term(inner))
        match tree.rule:
            case "UnaryNot":
                return Call("!", (self.of(inner),))
            case "UnaryMinus":
                return Call("NEGATE", (self.of(inner),))
            case _:
                # Plus changes no number, and is an error of everything else.
                return Call("NEGATE", (Call("NEGATE", (self.of(inner),)),))

    def _function(self, tree: Tree) -> Expression:
        name = self.context.names.term(tree.one("iri"))
        if tree.many("distinct"):
            raise NotSupportedError(f"DISTINCT in a call of {name}: there are no aggregates but those of SPARQL 1.1")
        arguments = tuple(self.of(one) for one in tree.many("expr"))
        check_call(name, len(arguments))
        return Call(name, arguments)

    def _builtin(self, tree: Tree) -> Expression:
        name = tree.rule.removeprefix("Builtin_").upper()
        name = _SAME.get(name, name)
        if name == "BOUND":
            return Call(name, (Read(tree.one("arg")),))
        if name in ("CONCAT", "COALESCE"):
            return Call(name, self._list(tree.one("arg")))
        arguments = tuple(self.of(one) for one in tree.parts.values())
        if name == "IRI" and self.context.names.base is not None:
            arguments = (*arguments, Constant(iri(self.context.names.base)))
        return Call(name, arguments)

    def _list(self, found: Any) -> tuple[Expression, ...]:
        if found == Iri(f"{RDF}nil"):
            return ()
        return tuple(self.of(one) for one in (found if isinstance(found, list) else [found]))
