"""Operators on solutions, one by one: after each change they are what their definition says, and what a fresh one has from the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import pytest

from imp_driver.dataflow.mappings import ksets
from imp_driver.dataflow.mappings.constant import ConstantOperator
from imp_driver.dataflow.mappings.distinct import DistinctOperator
from imp_driver.dataflow.mappings.extend import ExtendOperator
from imp_driver.dataflow.mappings.filter import FilterOperator
from imp_driver.dataflow.mappings.group import GroupOperator
from imp_driver.dataflow.mappings.join import JoinOperator
from imp_driver.dataflow.mappings.ksets import KSet
from imp_driver.dataflow.mappings.left_join import LeftJoinOperator
from imp_driver.dataflow.mappings.modifiers import Modifiers
from imp_driver.dataflow.mappings.operator import Delta, Operator, Row, add_all
from imp_driver.dataflow.mappings.partners import Partners
from imp_driver.dataflow.mappings.project import ProjectOperator
from imp_driver.dataflow.mappings.semijoin import Keeping, SemijoinOperator
from imp_driver.dataflow.mappings.sliced import SlicedOperator
from imp_driver.dataflow.mappings.union import UnionOperator
from imp_driver.sparql.algebra import Aggregate, Bgp, Call, Constant, Read, Variable
from imp_driver.sparql.terms import XSD, literal
from tests.operators.mappings_ksets import W, X, Y, Z, random_delta
from tests.seeds import SEED, WIDE

Twin: TypeAlias = Callable[..., KSet]
LEFT, RIGHT = (X, Y, Z), (Y, Z, W)
SAME = Call("=", (Read(X), Read(W)))
MARK = Variable("mark")
TRUE, FALSE = (literal(text, f"{XSD}boolean") for text in ("true", "false"))
ROUNDS = 400 if WIDE else 30


@dataclass(frozen=True, slots=True)
class Case:
    """``inputs`` are the variables of what the operator reads; ``share`` of their values are unbound."""

    make: Callable[[], Operator]
    twin: Twin
    inputs: tuple[tuple[Variable, ...], ...] = (LEFT, RIGHT)
    share: float = 0.25


def reads_same(kset: KSet) -> Callable[[Row], bool]:
    """Return the condition that ?x and ?w are bound and equal."""
    one, other = kset.variables.index(X), kset.variables.index(W)
    return lambda row: row[one] is not None and row[one] == row[other]


def left_joined(left: KSet, right: KSet) -> KSet:
    """LeftJoin with the condition, by pairs."""
    return ksets.left_join(left, right, reads_same(ksets.join(left, right)))


def met(left: KSet, right: KSet) -> Callable[[Row], bool]:
    """Return whether a left solution has a right one with which the condition holds."""

    def holds(row: Row) -> bool:
        both = ksets.join(KSet(left.variables, {row: 1}), right)
        return bool(ksets.select(both, reads_same(both)).rows)

    return holds


def marked(left: KSet, right: KSet) -> KSet:
    holds = met(left, right)
    return KSet((*left.variables, MARK), {(*row, TRUE if holds(row) else FALSE): count for row, count in left.rows.items()})


def grouped(kset: KSet, *, is_whole: bool = False) -> KSet:
    """COUNT(*), COUNT(?y) and COUNT(DISTINCT ?y) by ?x, or of all."""
    groups: dict[Row, list[Row]] = {(): []} if is_whole else {}
    for (x, y, _), count in kset.rows.items():
        groups.setdefault(() if is_whole else (x,), []).extend([(y,)] * count)
    rows: dict[Row, int] = {}
    for key, values in groups.items():
        bound = [value for value in values if value != (None,)]
        counts = (len(values), len(bound), len(set(bound)))
        rows[(*key, *(literal(str(each), f"{XSD}integer") for each in counts))] = 1
    return KSet((), rows)


def first_two(kset: KSet) -> KSet:
    """DISTINCT ?y by ?x backwards, the second and third of them."""
    ordered = sorted(kset.rows, key=lambda row: (row[1] or "", *(term or "" for term in row)))
    ordered.sort(key=lambda row: row[0] or "", reverse=True)
    return ksets.counted((Y,), list(dict.fromkeys(row[1:2] for row in ordered))[1:3])


COUNTS = [
    (Variable("a"), Aggregate("COUNT")),
    (Variable("b"), Aggregate("COUNT", Read(Y))),
    (Variable("c"), Aggregate("COUNT", Read(Y), is_distinct=True)),
]
CASES = {
    "union": Case(lambda: UnionOperator(LEFT, RIGHT), ksets.union),
    "join": Case(lambda: JoinOperator(LEFT, RIGHT, ()), ksets.join),
    "join of bound": Case(lambda: JoinOperator(LEFT, RIGHT, LEFT), ksets.join, share=0),
    "product": Case(lambda: JoinOperator((X,), (Y,), ()), ksets.join, ((X,), (Y,))),
    "left join": Case(lambda: LeftJoinOperator(LEFT, RIGHT, (), None), ksets.left_join),
    "left join of bound": Case(lambda: LeftJoinOperator(LEFT, RIGHT, LEFT, None), ksets.left_join, share=0),
    "left join with a condition": Case(lambda: LeftJoinOperator(LEFT, RIGHT, (), SAME), left_joined),
    "diff": Case(lambda: SemijoinOperator(LEFT, RIGHT, Keeping.UNMET), ksets.diff),
    "diff of others": Case(lambda: SemijoinOperator((X,), (Y,), Keeping.UNMET), ksets.diff, ((X,), (Y,))),
    "minus": Case(lambda: SemijoinOperator(LEFT, RIGHT, Keeping.UNMET, skips_disjoint=True), ksets.minus),
    "minus of others": Case(lambda: SemijoinOperator((X,), (Y,), Keeping.UNMET, skips_disjoint=True), ksets.minus, ((X,), (Y,))),
    "exists": Case(
        lambda: SemijoinOperator(LEFT, RIGHT, Keeping.MET, condition=SAME), lambda one, other: ksets.select(one, met(one, other))
    ),
    "not exists": Case(
        lambda: SemijoinOperator(LEFT, RIGHT, Keeping.UNMET, condition=SAME),
        lambda one, other: ksets.select(one, lambda row: not met(one, other)(row)),
    ),
    "marked": Case(lambda: SemijoinOperator(LEFT, RIGHT, Keeping.MARKED, mark=MARK, condition=SAME), marked),
    "filter": Case(
        lambda: FilterOperator(LEFT, Call("=", (Read(X), Constant("<a>")))),
        lambda one: ksets.select(one, lambda row: row[0] == "<a>"),
        (LEFT,),
    ),
    "extend": Case(
        lambda: ExtendOperator(LEFT, W, Call("COALESCE", (Read(X), Read(Y)))),
        lambda one: KSet((*LEFT, W), {(*row, row[1] if row[0] is None else row[0]): count for row, count in one.rows.items()}),
        (LEFT,),
    ),
    "project": Case(lambda: ProjectOperator(LEFT, (Z, W)), lambda one: one.over((Z, W)), (LEFT,)),
    "distinct": Case(lambda: DistinctOperator(LEFT), ksets.distinct, (LEFT,)),
    "group": Case(lambda: GroupOperator(LEFT, [(X, Read(X))], COUNTS), grouped, (LEFT,)),
    "group of all": Case(lambda: GroupOperator(LEFT, [], COUNTS), lambda one: grouped(one, is_whole=True), (LEFT,)),
    "slice": Case(
        lambda: SlicedOperator(LEFT, Modifiers(Bgp((), ()), ((Read(X), True),), (Y,), is_distinct=True, offset=1, limit=2)),
        first_two,
        (LEFT,),
    ),
    "values": Case(lambda: ConstantOperator((X,), [("<a>",), (None,), ("<a>",)]), lambda: KSet((X,), {("<a>",): 2, (None,): 1}), ()),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_operator_follows_its_inputs(case: Case) -> None:
    for round_ in range(ROUNDS):
        random = Random(f"{SEED} {round_}")
        operator, inputs, total = case.make(), [dict[Row, int]() for _ in case.inputs], dict[Row, int]()
        for deltas in streamed(random, case, inputs):
            add_all(total, operator.step(deltas))
            assert all(total.values())
            expected = case.twin(*[KSet(names, dict(rows)) for names, rows in zip(case.inputs, inputs, strict=True)])
            assert total == dict(expected.rows), (SEED, round_)
            fresh = case.make()
            assert total == dict(fresh.step([dict(rows) for rows in inputs]))
            assert fresh.size == operator.size


def streamed(random: Random, case: Case, inputs: Sequence[dict[Row, int]]) -> Iterator[list[Delta]]:
    """Yield changes of all inputs, at last those after which nothing is left."""
    for _ in range(6):
        yield [random_delta(random, len(names), rows, case.share) for names, rows in zip(case.inputs, inputs, strict=True)]
    gone: list[Delta] = [{row: -count for row, count in rows.items()} for rows in inputs]
    for rows in inputs:
        rows.clear()
    yield gone


@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_partners_are_those_that_a_scan_finds(width: int) -> None:
    random = Random(f"{SEED} {width}")
    partners, rows = Partners(range(width)), dict[Row, int]()
    for _ in range(60):
        partners.change(random_delta(random, width + 1, rows, 0.3))
        assert partners.size == len(rows)
        key = tuple(random.choice(["<a>", "<b>", "<c>", None]) for _ in range(width))
        for skips in (False, True):
            found = {
                row: count
                for row, count in rows.items()
                if ksets.are_compatible(key, row[:width])
                and not (skips and all(None in pair for pair in zip(key, row[:width], strict=True)))
            }
            met_rows = list(partners.meeting(key, skips_disjoint=skips))
            assert dict(met_rows) == found
            assert len(met_rows) == len(found)
