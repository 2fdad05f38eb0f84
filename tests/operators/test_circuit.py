"""Circuits: inputs by name, tables and other maintained relations alike; what is asked for once in a step; how they are shown."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from imp_driver.circuit.circuit import Circuit, circuit_of
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.operator import Stateful
from imp_driver.dataflow.zset import each_once
from imp_driver.plan.bind import bind
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.tables import SchemaColumn, ZSet
from tests.seeds import WIDE
from tests.unit.tables import analysis_of

Row = tuple[int, int]
SCHEMA = (SchemaColumn("g", "integer", False), SchemaColumn("x", "long", False))
Name = tuple[str, ...]
T: Name = ("t",)
S: Name = ("s",)
TOTALS: Name = ("totals",)


def circuit(text: str) -> Circuit:
    analysis = analysis_of(text, SCHEMA)
    found = circuit_of(bind(analysis.block, None, analysis.columns), (pa.int32(),))
    assert found is not None
    return found


def table(rows: list[Row]) -> pa.Table:
    return pa.table({"g": pa.array([row[0] for row in rows], pa.int32()), "x": pa.array([row[1] for row in rows], pa.int64())})


def signed(added: list[Row], gone: list[Row]) -> ZSet:
    return ZSet(table([*added, *gone]), np.array([1] * len(added) + [-1] * len(gone), dtype=np.int64))


@dataclass(slots=True)
class Newest:
    """Finds rows of the newest version; ``asked`` are the look-ups."""

    tables: dict[tuple[str, ...], pa.Table]
    asked: list[tuple[tuple[str, ...], str, tuple[int, ...]]] = field(default_factory=list)

    def __call__(self, name: tuple[str, ...], columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet:
        self.asked.append((name, key, tuple(values.to_pylist())))
        rows = self.tables[name]
        return each_once(rows.filter(pc.is_in(rows.column(key), value_set=values)).select(columns))


JOIN = "SELECT t.g, sum(s.x) FROM t JOIN {} s ON t.g = s.g GROUP BY t.g HAVING sum(s.x) > 1"
LEFT = "SELECT t.g, sum(s.x) FROM t LEFT JOIN s ON t.g = s.g GROUP BY t.g HAVING sum(s.x) > 1"


def bag_of(found: ZSet) -> Counter[tuple[object, ...]]:
    bag: Counter[tuple[object, ...]] = Counter()
    for row, weight in zip(found.rows.to_pylist(), found.weights.tolist(), strict=True):
        bag[tuple(sorted(row.items()))] += weight
    return Counter({row: weight for row, weight in bag.items() if weight})


class Totals:
    """The sum of x of each g, maintained, as an input of others."""

    def __init__(self) -> None:
        specification = AggregateSpecification(AccumulatorKind.SUM_INTEGER, ValueForm.TOTAL, pa.int64())
        self.state = GroupState.empty((specification,), (pa.int32(),))

    def apply(self, delta: ZSet) -> ZSet:
        keys, arguments = (delta.rows.column(name).combine_chunks() for name in ("g", "x"))
        change = self.state.apply(ProjectedRows((keys,), (arguments,), delta.weights))
        assert change is not None
        return ZSet(change.rows.rename_columns(["g", "x"]), change.weights)

    @property
    def rows(self) -> pa.Table:
        found = self.state.rows_at(np.flatnonzero(self.state.alive))
        assert found is not None
        return found.rows.rename_columns(["g", "x"])


@pytest.mark.parametrize("seed", range(200 if WIDE else 20))
def test_another_maintained_relation_is_an_input_like_a_table(seed: int) -> None:
    chance = random.Random(seed)
    joined, totals = circuit(JOIN.format("totals")), Totals()
    t: list[Row] = []
    r: list[Row] = []
    for _ in range(6):
        changes = []
        before = bag_of(_whole(joined, t, totals.rows))
        for rows in (t, r):
            added = [(chance.randint(0, 4), chance.randint(-3, 3)) for _ in range(chance.randint(0, 5))]
            gone = [rows.pop(chance.randrange(len(rows))) for _ in range(min(len(rows), chance.randint(0, 3)))]
            rows += added
            changes.append(signed(added, gone))
        total_changes = totals.apply(changes[1])
        expected = Counter({g: sum(x for each, x in r if each == g) for g in {g for g, _ in r}})
        assert dict(zip(*(totals.rows.column(name).to_pylist() for name in ("g", "x")), strict=True)) == dict(expected)
        found = joined.changed({T: changes[0], TOTALS: total_changes}, Newest({T: table(t), TOTALS: totals.rows}))
        after = bag_of(_whole(joined, t, totals.rows))
        after.subtract(before)
        assert bag_of(found) == Counter({row: weight for row, weight in after.items() if weight})


def _whole(joined: Circuit, t: list[Row], totals: pa.Table) -> ZSet:
    """Return all rows, as a change from nothing."""
    inputs = {T: signed(t, []), TOTALS: ZSet(totals, np.ones(len(totals), dtype=np.int64))}
    return joined.changed(inputs, Newest({T: table(t), TOTALS: totals}))


def test_what_is_asked_for_once_in_a_step_is_not_looked_up_again() -> None:
    newest = Newest({T: table([(1, 1), (2, 1)]), S: table([(1, 5), (1, 6)])})
    found = circuit(LEFT).changed({T: signed([(1, 1)], []), S: signed([(1, 6)], [])}, newest)
    assert newest.asked == [(S, "g", (1,)), (T, "g", (1,))]
    assert sum(found.weights.tolist()) == 2


def test_a_circuit_shows_its_operators_and_what_is_kept_of_its_tables() -> None:
    assert circuit(LEFT).described() == [
        "left join",
        "  table t",
        "  selection and projection",
        "    table s",
    ]
    text = "SELECT t.g, sum(x) FROM t WHERE g IN (SELECT g FROM s WHERE x > 3) GROUP BY t.g HAVING sum(x) > 1"
    assert circuit(text).described()[0] == "semi-join"


def test_a_state_of_groups_keeps_the_contract() -> None:
    state: Stateful = Totals().state
    assert (state.name, state.is_exact) == ("groups", True)
    assert state.memory >= 0
