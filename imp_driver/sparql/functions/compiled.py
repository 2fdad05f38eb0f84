"""Expressions of SPARQL 1.1 (section 17) as functions of solutions: each is taken apart once, and then evaluated row by row.

There are three ways to ask for an expression: as a term, as a truth of three values, and as a number, so that neither logic nor arithmetic
writes a literal that is read at once.

NOW() is the moment at which its expression was compiled, unless ``volatile.at_one_moment`` has put one for the whole pattern. BNODE with a
text is the same blank node for the same text in equal solutions, in one expression; in several expressions where they name a node of the
solution's own beside the text (``labels.py``). What is volatile in this way ``volatile.py`` tells.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import itemgetter
from typing import Final, TypeAlias

from imp_driver.sparql.algebra import Call, Constant, Exists, Expression, Read, Variable
from imp_driver.sparql.functions import common_forms, dates, terms_made
from imp_driver.sparql.functions.arithmetic import negated, operation
from imp_driver.sparql.functions.closures import (
    NumberOf,
    applied,
    applied_test,
    as_term,
    blank_of,
    conditional,
    effective_of,
    error,
    first_of,
    labelled_blank,
    of_numbers,
    of_one_number,
    written_number,
)
from imp_driver.sparql.functions.comparison import COMPARISONS, MIRRORED, compared, equal, numbers_compared
from imp_driver.sparql.functions.library import FUNCTIONS, PREDICATES
from imp_driver.sparql.functions.logic import Solution, TruthOf, ValueOf, any_of, both, constant, either, negation
from imp_driver.sparql.functions.numerals import Number
from imp_driver.sparql.functions.values import number
from imp_driver.sparql.functions.volatile import VOLATILE, is_volatile
from imp_driver.sparql.terms import Term

__all__ = ["Matches", "Solution", "is_volatile", "truth_of", "value_of"]

Matches: TypeAlias = Callable[[Exists], Callable[[Solution], bool]]
"""What tells whether an EXISTS, or a NOT EXISTS, holds for a solution: ``is_negated`` is seen to there."""

_ARITHMETIC: Final = frozenset("+-*/")
_LOGICAL: Final = frozenset({"=", "!=", "&&", "||", "!", "IN", "NOT IN", "BOUND", *COMPARISONS, *PREDICATES})


def value_of(expression: Expression, places: Mapping[Variable, int], matches: Matches) -> ValueOf:
    """Return what gives the value of an expression for a solution, None where it is an error.

    Args:
        places: where solutions have the values of variables; a variable without a place is unbound.
        matches: what tells whether an EXISTS holds.
    """
    return _Compiler(places, matches).value(expression)


def truth_of(expression: Expression, places: Mapping[Variable, int], matches: Matches) -> Callable[[Solution], bool]:
    """Return what gives the effective boolean value of an expression for a solution; an error is false, as in FILTER."""
    truth = _Compiler(places, matches).truth(expression)
    return lambda solution: truth(solution) is True


@dataclass(frozen=True, slots=True)
class _Compiler:
    places: Mapping[Variable, int]
    matches: Matches
    salt: str = field(default_factory=lambda: uuid.uuid4().hex)
    constants: dict[int, bool] = field(default_factory=dict)
    """Whether no solution changes an expression, by what it is as an object: asked at each level of it."""

    def value(self, expression: Expression) -> ValueOf:
        match expression:
            case Constant(term):
                return lambda solution: term
            case Read(variable):
                place = self.places.get(variable)
                return error if place is None else itemgetter(place)
            case Exists():
                return as_term(self.matches(expression))
            case Call():
                found = self._called(expression)
                if not self._is_constant(expression):
                    return found
                result = found(())
                return lambda solution: result

    def truth(self, expression: Expression) -> TruthOf:
        match expression:
            case Exists():
                return self.matches(expression)
            case Call(name) if name in _LOGICAL:
                found = self._tested(expression)
                return constant(found(())) if self._is_constant(expression) else found
            case _:
                return effective_of(self.value(expression))

    def number(self, expression: Expression) -> NumberOf:
        """Return what gives a number, None where it is an error or no number."""
        if isinstance(expression, Call) and expression.name in _ARITHMETIC | {"NEGATE"} and not self._is_constant(expression):
            return self._computed(expression)
        if self._is_constant(expression):
            term = self._constant(expression)
            result = None if term is None else number(term)
            return lambda solution: result
        value = self.value(expression)

        def found(solution: Solution) -> Number | None:
            term = value(solution)
            return None if term is None else number(term)

        return found

    def _is_constant(self, expression: Expression) -> bool:
        found = self.constants.get(id(expression))
        if found is None:
            found = self.constants[id(expression)] = self._depends_on_nothing(expression)
        return found

    def _depends_on_nothing(self, expression: Expression) -> bool:
        match expression:
            case Constant():
                return True
            case Read(variable):
                return variable not in self.places
            case Exists():
                return False
            case Call(name, arguments):
                return name not in VOLATILE and all(map(self._is_constant, arguments))

    def _constant(self, expression: Expression) -> Term | None:
        """Return the value of an expression that no solution changes; None where it is an error, or not so."""
        return self.value(expression)(()) if self._is_constant(expression) else None

    def _called(self, call: Call) -> ValueOf:
        name, arguments = call.name, call.arguments
        if name in _LOGICAL:
            return as_term(self._tested(call))
        if name in _ARITHMETIC or name == "NEGATE":
            return written_number(self._computed(call))
        match name, arguments:
            case "IF", (condition, one, other):
                return conditional(self.truth(condition), self.value(one), self.value(other))
            case "COALESCE", _:
                return first_of([self.value(each) for each in arguments])
            case "NOW", ():
                now = dates.now()
                return lambda solution: now
            case "BNODE", ():
                return lambda solution: terms_made.new_blank()
            case "BNODE", (label,):
                return labelled_blank(self.salt, self.value(label))
            case "BNODE", (label, own):
                return blank_of(self.value(own), self.value(label))
        function = FUNCTIONS.get(name)
        if function is None or not function.least <= len(arguments) <= (len(arguments) if function.most is None else function.most):
            return error
        return applied(function.call, [self.value(each) for each in arguments])

    def _tested(self, call: Call) -> TruthOf:
        match call.name, call.arguments:
            case "&&", arguments if arguments:
                return reduce(both, map(self.truth, arguments))
            case "||", arguments if arguments:
                return reduce(either, map(self.truth, arguments))
            case "!", (inner,):
                return negation(self.truth(inner))
            case "BOUND", (Read(variable),):
                place = self.places.get(variable)
                return constant(False) if place is None else lambda solution: solution[place] is not None
            case "=", (one, other):
                return self._equality(one, other)
            case "!=", (one, other):
                return negation(self._equality(one, other))
            case "IN", (sought, *others):
                return self._among(sought, others)
            case "NOT IN", (sought, *others):
                return negation(self._among(sought, others))
            case symbol, (one, other) if symbol in COMPARISONS:
                return self._comparison(symbol, one, other)
        predicate = PREDICATES.get(call.name)
        if predicate is None or not predicate.least <= len(call.arguments) <= predicate.most:
            return error
        return applied_test(predicate.call, [self.value(each) for each in call.arguments])

    def _equality(self, one: Expression, other: Expression) -> TruthOf:
        place, other_place = self._place(one), self._place(other)
        if place is not None and (term := self._constant(other)) is not None:
            return common_forms.with_term(place, term)
        if other_place is not None and (term := self._constant(one)) is not None:
            return common_forms.with_term(other_place, term)
        if place is not None and other_place is not None:
            return common_forms.of_two(place, other_place)
        return applied_test(equal, [self.value(one), self.value(other)])

    def _comparison(self, symbol: str, one: Expression, other: Expression) -> TruthOf:
        place, other_place = self._place(one), self._place(other)
        if place is not None and other_place is not None:
            return common_forms.order_of_two(symbol, place, other_place)
        for read, compared_with, sign in ((place, other, symbol), (other_place, one, MIRRORED[symbol])):
            term = None if read is None else self._constant(compared_with)
            if read is not None and term is not None and (found := number(term)) is not None:
                return common_forms.with_number(sign, read, found)
        comparison = COMPARISONS[symbol]
        if _is_arithmetic(one) or _is_arithmetic(other):
            return of_numbers(lambda first, second: numbers_compared(comparison, first, second), self.number(one), self.number(other))
        return applied_test(lambda first, second: compared(comparison, first, second), [self.value(one), self.value(other)])

    def _among(self, sought: Expression, others: Sequence[Expression]) -> TruthOf:
        place = self._place(sought)
        constants = [term for each in others if (term := self._constant(each)) is not None]
        if place is not None and len(constants) == len(others):
            return common_forms.among(place, constants)
        value, values = self.value(sought), [self.value(each) for each in others]

        def truth(solution: Solution) -> bool | None:
            term = value(solution)
            if term is None:
                return None
            found = [each(solution) for each in values]
            return any_of([None if each is None else equal(term, each) for each in found])

        return truth

    def _computed(self, call: Call) -> NumberOf:
        match call.name, [self.number(each) for each in call.arguments]:
            case "NEGATE" | "-", [inner]:
                return of_one_number(negated, inner)
            case "+", [inner]:
                return inner
            case symbol, [one, other] if symbol in _ARITHMETIC:
                return of_numbers(operation(symbol), one, other)
            case _:
                return error

    def _place(self, expression: Expression) -> int | None:
        return self.places.get(expression.variable) if isinstance(expression, Read) else None


def _is_arithmetic(expression: Expression) -> bool:
    return isinstance(expression, Call) and (expression.name in _ARITHMETIC or expression.name == "NEGATE")
