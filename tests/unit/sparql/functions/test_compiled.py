"""Expressions over solutions: forms with closures of their own say what the general ones say; constants, EXISTS, volatile calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from imp_driver.sparql.algebra import Aggregate, Bgp, Call, Constant, Exists, Expression, Extend, Filter, Read, Triple, Variable
from imp_driver.sparql.functions.compiled import Solution, is_volatile, truth_of, value_of
from imp_driver.sparql.terms import Term
from tests.unit.sparql.functions.evaluating import full, no_exists, of_terms

X, Y, Z = (Read(Variable(name)) for name in "xyz")
PLACES = {X.variable: 0, Y.variable: 1}
TERMS = ['"1"^^integer', '"01"^^integer', '"1.0"^^decimal', '"2"^^byte', '"1"^^double', '"NaN"^^double', '"0.1"^^decimal', '"0.1"^^double']
TERMS += ['"1"', '"b"', '"b"@en', "<b>", "_:b", '"true"^^boolean', '"x"^^integer', '"b"^^<u>', '"c"^^<u>', '"2011-01-10"^^date']
TERMS += ['"2011-01-10Z"^^date']
SYMBOLS = ("=", "!=", "<", ">", "<=", ">=")


def value(expression: Expression, solution: Solution) -> Term | None:
    return value_of(expression, PLACES, no_exists)(solution)  # type: ignore[arg-type]  # never called


def truth(expression: Expression, solution: Solution) -> bool:
    return truth_of(expression, PLACES, no_exists)(solution)  # type: ignore[arg-type]  # never called


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_comparisons_of_variables_are_those_of_terms(symbol: str) -> None:
    for one, other in itertools.product(map(full, TERMS), repeat=2):
        expected = of_terms(symbol, one, other)
        assert value(Call(symbol, (X, Constant(other))), (one, None)) == expected
        assert value(Call(symbol, (Constant(one), Y)), (None, other)) == expected
        assert value(Call(symbol, (X, Y)), (one, other)) == expected
        assert value(Call(symbol, (Call("COALESCE", (X,)), Y)), (one, other)) == expected
        assert truth(Call(symbol, (X, Constant(other))), (one, None)) is (expected == full('"true"^^boolean'))


@pytest.mark.parametrize(
    "constants", [TERMS, ["<b>", "<c>"], ['"1"', '"c"', "<b>"], ['"2"^^byte', '"1.0"^^decimal', "<b>"], ['"0.1"^^double'], ['"b"^^<u>'], []]
)
def test_in_of_a_variable_is_that_of_terms(constants: list[str]) -> None:
    others = tuple(Constant(full(each)) for each in constants)
    for term in map(full, TERMS):
        assert value(Call("IN", (X, *others)), (term, None)) == of_terms("IN", term, *constants)
        assert value(Call("NOT IN", (X, *others)), (term, None)) == of_terms("NOT IN", term, *constants)
        assert value(Call("IN", (X, Y, *others)), (term, term)) == of_terms("IN", term, term, *constants)


def test_constants_may_be_computed() -> None:
    two, zero = (Constant(full(f'"{each}"^^integer')) for each in (2, 0))
    solution, minus = (full('"-2.0"^^decimal'), None), Call("NEGATE", (two,))
    assert truth(Call("=", (X, minus)), solution)
    assert truth(Call("<=", (minus, X)), solution)
    assert truth(Call("IN", (X, two, minus)), solution)
    division = Call("/", (two, zero))
    assert [value(Call(name, (X, division)), solution) for name in ("=", "<", "IN")] == [None] * 3
    assert truth(Call("IN", (X, division, minus)), solution)
    assert value(Call("+", (X, division)), solution) is None


def test_what_is_unbound_is_an_error_but_for_bound() -> None:
    for expression in (X, Z, Call("=", (X, Y)), Call("<", (X, Constant(full('"1"^^integer')))), Call("IN", (X, X)), Call("IN", (X, X, Z))):
        assert value(expression, (None, '"a"')) is None
    for expression in (Call("=", (X, Constant("<b>"))), Call("=", (X, Constant('"b"'))), Call("=", (X, Constant(full('"1"^^integer'))))):
        assert value(expression, (None, '"a"')) is None
    assert truth(Call("BOUND", (X,)), (None, '"a"')) is False
    assert truth(Call("BOUND", (Y,)), (None, '"a"')) is True
    assert truth(Call("BOUND", (Z,)), (None, '"a"')) is False
    assert value(Call("SAMETERM", (X, Y)), (None, '"a"')) is None


def test_effective_boolean_values_of_variables() -> None:
    assert [truth(X, (term, None)) for term in ('"a"', '""', "<b>", None)] == [True, False, False, False]
    assert truth(Call("!", (X,)), (None, None)) is False


def test_arithmetic_within_arithmetic() -> None:
    def number(digits: str) -> Constant:
        return Constant(full(f'"{digits}"^^integer'))

    sum_ = Call("+", (Call("*", (X, number("2"))), Call("NEGATE", (Y,))))
    solution = (full('"1.50"^^decimal'), full('"1"^^byte'))
    assert value(sum_, solution) == full('"2.0"^^decimal')
    assert value(Call(">", (sum_, number("1"))), solution) == full('"true"^^boolean')
    assert value(Call(">", (sum_, Constant('"a"'))), solution) is None
    assert value(sum_, (full('"1.50"^^decimal'), '"a"')) is None
    assert value(Call("+", (X,)), solution) == full('"1.5"^^decimal')
    assert value(Call("-", (X,)), solution) == full('"-1.5"^^decimal')


def test_what_is_constant_is_evaluated_once() -> None:
    solutions: list[Solution] = []

    def matches(exists: Exists) -> Callable[[Solution], bool]:
        def holds(solution: Solution) -> bool:
            solutions.append(solution)
            return bool(solution[0]) is not exists.is_negated

        return holds

    exists = Exists(Bgp((), ()))
    found = value_of(Call("&&", (exists, Exists(exists.pattern, is_negated=True))), PLACES, matches)
    assert solutions == []
    assert found(("<b>", None)) == full('"false"^^boolean')
    assert solutions == [("<b>", None)] * 2
    assert truth_of(exists, PLACES, matches)(("<b>", None)) is True
    upper = value_of(Call("CONCAT", (Call("UCASE", (Constant('"a"'),)), Constant('"b"'))), PLACES, matches)
    first, second = upper(()), upper(("<b>", None))
    assert first == '"Ab"'
    assert first is second


def test_blank_nodes_are_new_but_for_a_label_within_a_solution() -> None:
    new = value_of(Call("BNODE"), PLACES, no_exists)  # type: ignore[arg-type]  # never called
    assert new(("<b>", None)) != new(("<b>", None))
    labelled = value_of(Call("BNODE", (Y,)), PLACES, no_exists)  # type: ignore[arg-type]  # never called
    assert labelled(("<b>", '"a"')) == labelled(("<b>", '"a"'))
    assert labelled(("<b>", '"a"')) != labelled(("<b>", '"c"'))
    assert labelled(("<b>", '"a"')) != labelled(("<c>", '"a"'))
    assert labelled(("<b>", "<c>")) is None


def test_new_values() -> None:
    for name, pattern in (("UUID", "<urn:uuid:"), ("STRUUID", '"'), ("RAND", '"'), ("NOW", '"2')):
        found = value(Call(name), (None, None))
        assert found is not None
        assert found.startswith(pattern)
    uuid = value_of(Call("UUID"), PLACES, no_exists)  # type: ignore[arg-type]  # never called
    assert uuid(()) != uuid(())
    now = value_of(Call("NOW"), PLACES, no_exists)  # type: ignore[arg-type]  # never called
    assert now(()) == now(())
    assert value(Call("YEAR", (Call("NOW"),)), (None, None)) is not None


def test_what_is_volatile() -> None:
    inner = Filter(Bgp((Triple(X.variable, "<p>", Y.variable),), ()), Call(">", (X, Call("RAND"))))
    for part in (Call("NOW"), Call("IF", (X, Call("BNODE", (Y,)), X)), Exists(inner), Aggregate("SUM", Call("RAND"))):
        assert is_volatile(part)
    assert is_volatile(Extend(inner, Z.variable, X))
    assert not is_volatile(Exists(Filter(inner.pattern, Call(">", (X, Y)))))
    assert not is_volatile(Constant('"RAND"'))
