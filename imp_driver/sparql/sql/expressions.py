"""Expressions of SPARQL as SQL, errors as NULL: AND, OR and NOT then have the truth tables of section 17.2, and FILTER keeps TRUE alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import Call, Constant, Exists, Expression, Read, Variable
from imp_driver.sparql.sql.arithmetic import arithmetic, negated
from imp_driver.sparql.sql.comparison import compared
from imp_driver.sparql.sql.functions import ERROR, function
from imp_driver.sparql.sql.relations import Column
from imp_driver.sparql.sql.values import Known, Number, Stored, Text, Truth, Value, number_of, term_of, truth_of

_LONGEST = 200_000
"""Characters of SQL: what is nested deeply reads its parts many times."""


def too_far(name: str) -> NotSupportedError:
    return NotSupportedError(
        f"EXISTS inside EXISTS over ?{name} of the outermost solution has no SQL of Spark; the driver answers the query in process."
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may read: columns, and how EXISTS is written over them.

    ``far`` are variables of a solution around the one around this, which Spark does not let a subquery read.
    """

    columns: Mapping[Variable, Column]
    exists: Callable[[Exists], str]
    far: frozenset[Variable] = frozenset()

    def value(self, expression: Expression) -> Value:
        """Return an expression's value. Raises NotSupportedError."""
        found = self._value(expression)
        if len(str(found)) > _LONGEST:
            raise NotSupportedError("An expression is nested too deeply to be written as SQL; the driver answers the query in process.")
        return found

    def truth(self, expression: Expression) -> str:
        """Return the effective boolean value. Raises NotSupportedError."""
        return truth_of(self.value(expression))

    def test(self, expression: Expression) -> str:
        """Return what is TRUE where the effective boolean value is, and FALSE or NULL elsewhere. Raises NotSupportedError."""
        match expression:
            case Call("&&" | "||" as name, arguments):
                word = " AND " if name == "&&" else " OR "
                return f"({word.join(self.test(each) for each in arguments)})"
            case Call("=" | "<" | ">" | "<=" | ">=" as name, (left, right)):
                return compared(name, self.value(left), self.value(right), is_test=True)
            case Call("IN", (value, *others)) if others:
                found = self.value(value)
                return f"({' OR '.join(compared('=', found, self.value(each), is_test=True) for each in others)})"
            case _:
                return self.truth(expression)

    def _value(self, expression: Expression) -> Value:
        match expression:
            case Constant(term):
                return Known(term)
            case Read(variable):
                column = self.columns.get(variable)
                if column is None and variable in self.far:
                    raise too_far(variable.name)
                return ERROR if column is None else Stored(column.text, column.is_resource, column.is_integer)
            case Exists():
                return Truth(self.exists(expression))
            case Call(name, arguments):
                return self._call(name, arguments)

    def _call(self, name: str, arguments: tuple[Expression, ...]) -> Value:
        match name:
            case "BOUND":
                return Truth(self._bound(arguments[0]))
            case "&&" | "||":
                word = " AND " if name == "&&" else " OR "
                return Truth(f"({word.join(self._truth(each) for each in arguments)})")
            case "!":
                return Truth(f"NOT ({self._truth(arguments[0])})")
            case "IF":
                return self._if(*arguments)
            case "COALESCE":
                return _first([self._value(each) for each in arguments])
        values = [self._value(each) for each in arguments]
        return _operation(name, values) or _named(name, values)

    def _truth(self, expression: Expression) -> str:
        return truth_of(self._value(expression))

    def _bound(self, expression: Expression) -> str:
        value = self._value(expression)
        return "FALSE" if value == ERROR else f"{term_of(value)} IS NOT NULL"

    def _if(self, condition: Expression, *branches: Expression) -> Value:
        truth = self._truth(condition)
        first, second = (self._value(each) for each in branches)

        def either(a: str, b: str) -> str:
            return f"CASE WHEN {truth} THEN {a} WHEN NOT ({truth}) THEN {b} END"

        match first, second:
            case Truth(a), Truth(b):
                return Truth(either(a, b))
            case Text(a, same), Text(b, other):
                return Text(either(a, b), same if same == other else either(same, other))
            case Number(), Number():
                rank = first.rank if first.rank == second.rank else either(first.rank, second.rank)
                return Number(rank, either(first.exact, second.exact), either(first.floating, second.floating))
            case _:
                return Stored(either(term_of(first), term_of(second)), _is_resource(first) and _is_resource(second))


def _first(values: Sequence[Value]) -> Value:
    if not values:
        return ERROR
    return Stored(f"coalesce({', '.join(map(term_of, values))})", all(map(_is_resource, values)))


def _is_resource(value: Value) -> bool:
    return (isinstance(value, Stored) and value.is_resource) or (isinstance(value, Known) and value.term[0] != '"')


def _operation(name: str, values: Sequence[Value]) -> Value | None:
    match name:
        case "=" | "!=" | "<" | ">" | "<=" | ">=":
            return Truth(compared(name, *values))
        case "IN" | "NOT IN":
            found = " OR ".join(compared("=", values[0], each) for each in values[1:]) or "FALSE"
            return Truth(f"({found})" if name == "IN" else f"NOT ({found})")
        case "NEGATE":
            number = number_of(values[0])
            return ERROR if number is None else negated(number)
        case "+" | "-" | "*" | "/":
            numbers = [number_of(each) for each in values]
            known = [each for each in numbers if each is not None]
            if len(known) < len(numbers):
                return ERROR
            return known[0] if len(known) == 1 else arithmetic(name, known[0], known[1])
        case _:
            return None


def _named(name: str, values: Sequence[Value]) -> Value:
    found = function(name, values)
    if found is None:
        raise NotSupportedError(f"{name} has no SQL of Spark that is the same to the letter; the driver answers the query in process.")
    return found
