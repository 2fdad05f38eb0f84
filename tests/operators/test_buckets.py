"""A state in buckets against the state in memory over the same ranges: same groups and sketches after every delta and for all constants."""

from __future__ import annotations

import math
import pickle
import random
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.buckets.kernel import Kernel, captured
from imp_driver.buckets.state import BucketedState, ChangedElsewhere, build, coarsened, owners_of, unread
from imp_driver.capture.instrument import DERIVED_PARTS
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.persist.encoding import decoded_state, encoded_state
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.values.aggregates import OF_MULTISETS
from imp_driver.values.buckets import BUCKET
from imp_driver.values.expressions import AggregateReference, Comparison, Constant, Expression, IsNull, KeyReference
from imp_driver.values.ranges import RangePartition
from tests.operators.model import Block, OneCut, Operation, Row, budget, captured_parts, operations, part_types, step
from tests.operators.test_group import KEYS, SPECIFICATIONS, arguments, comparable_parts
from tests.soundness.buckets import MemoryBuckets

OWN = tuple(place for place, each in enumerate(SPECIFICATIONS) if each.kind not in OF_MULTISETS)
CONDITIONS: tuple[Expression | None, ...] = (
    None,
    Comparison(">", AggregateReference(0), Constant(1)),
    Comparison(">=", AggregateReference(2), Constant(0)),
    Comparison("<", AggregateReference(6), Constant(0.5)),
    IsNull(AggregateReference(8)),
    Comparison("=", KeyReference(1), Constant(1)),
)


def block_of(kind: str) -> Block:
    key_type, _, bounds = KEYS[kind]
    return Block((key_type, pa.int64()), tuple(SPECIFICATIONS[place] for place in OWN), RangePartition(key_type, bounds))


@cache
def rows_of(kind: str) -> st.SearchStrategy[Row]:
    own = arguments().map(lambda values: tuple(values[place] for place in OWN))
    return st.tuples(st.tuples(KEYS[kind][1], st.none() | st.integers(0, 1)), own)


def captured_table(block: Block, rows: list[Row], coarse: RangePartition, chance: random.Random) -> pa.Table:
    """Return what a capture reads, with the bucket of each group."""
    groups = list(block.groups(rows).values())
    keys = [pa.array([group[0][0][place] for group in groups], type=kind) for place, kind in enumerate(block.key_types)]
    columns: dict[str, Any] = {f"key_{place}": key for place, key in enumerate(keys)}
    columns["row_count"] = pa.array([len(group) for group in groups], pa.int64())
    for place, specification in enumerate(block.specifications):
        found = [_with_nonfinite(captured_parts(specification, [row[1][place] for row in group], chance)) for group in groups]
        for name, kind in part_types(specification).items():
            if name not in DERIVED_PARTS:
                columns[f"aggregate_{place}_{name}"] = pa.array([each[name] for each in found], type=kind)
    return pa.table(columns | {BUCKET: pa.array(coarse.locate(keys[0]), pa.int32())})


def _with_nonfinite(parts: dict[str, Any]) -> dict[str, Any]:
    return parts | ({"magnitude": math.nan, "sum": math.nan} if parts.get("nonfinite") else {})


def both(block: Block, rows: list[Row], chance: random.Random, condition: Expression | None) -> tuple[OneCut, BucketedState, MemoryBuckets]:
    coarse = coarsened(block.partition, 3)
    table = captured_table(block, rows, coarse, chance)
    parts = (block.specifications, block.key_types)
    empty = encoded_state(captured(table.slice(0, 0), *parts).snapshot())
    engine = MemoryBuckets(lambda text: table)
    kernel = pickle.loads(pickle.dumps(Kernel(*parts, 0, block.partition, condition, empty)))
    state = captured(table, *parts)
    memory = OneCut(state, {block.name: KeyCut(state, 0, block.partition, "attribute")})
    bucketed = unread(block.name, "attribute", "state", -1, kernel, coarse)
    return memory, build(engine, bucketed, "groups", repr(condition)), engine


def check_same(memory: OneCut, bucketed: BucketedState, engine: MemoryBuckets, condition: Expression | None) -> None:
    retained = memory.alive if condition is None else memory.alive & evaluate(condition, memory).broadcast(len(memory.rows)).may_be_true
    found = bucketed.fragments(engine, condition, repr(condition))
    assert found.members().tolist() == memory.sketch(retained).members().tolist()
    assert bucketed.rows.tolist() == memory.fragment_rows().tolist()
    assert int(bucketed.groups.sum()) == memory.groups
    assert int(bucketed.inexact.sum()) >= memory.inexact_groups
    parts: dict[Any, Any] = {}
    for data in engine.tables["state"][bucketed.version].column("data").to_pylist():
        parts |= stored_parts(data, bucketed.kernel.specifications, bucketed.kernel.key_types)
    assert parts == comparable_parts(memory)


@lru_cache(maxsize=100)
def stored_parts(data: bytes, *block: Any) -> dict[Any, Any]:
    """Return what is in a bucket; most are as they were at the check before."""
    specifications, key_types = block
    return comparable_parts(GroupState.restore(decoded_state(data), specifications, key_types))


@cache
def streams_of(kind: str) -> st.SearchStrategy[tuple[list[Row], list[list[Operation]]]]:
    return st.tuples(st.lists(rows_of(kind), max_size=12), operations(rows_of(kind)))


@pytest.mark.parametrize("kind", sorted(KEYS))
@budget(15)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_streams_give_the_same_groups_and_sketches_in_both(kind: str, data: st.DataObject, seed: int) -> None:
    block, chance = block_of(kind), random.Random(seed)
    rows, deltas = data.draw(streams_of(kind))
    condition = chance.choice(CONDITIONS)
    memory, bucketed, engine = both(block, rows, chance, condition)
    check_same(memory, bucketed, engine, condition)
    for changes in deltas:
        delta = block.delta(step(rows, changes, chance))
        condition = chance.choice((condition, condition, chance.choice(CONDITIONS)))
        try:
            memory.apply(delta)
        except StateCorrupt:
            # A capture does not say how many values of a group are infinite, so that some deltas end in a new one.
            with pytest.raises(StateCorrupt):
                bucketed.step(engine, [delta], condition, repr(condition))
            return
        bucketed.step(engine, [delta], condition, repr(condition))
        check_same(memory, bucketed, engine, condition)
        check_same(memory, bucketed, engine, chance.choice(CONDITIONS))


INTS = Block((pa.int32(),), (SPECIFICATIONS[0], SPECIFICATIONS[2]), RangePartition(pa.int32(), tuple(range(10, 100, 10))))
MANY = Comparison(">", AggregateReference(1), Constant(50))


def ints(*values: int) -> list[Row]:
    return [((value,), (None, value)) for value in values]


def test_only_touched_buckets_are_changed_and_others_asked_for_other_constants_only() -> None:
    _, bucketed, engine = both(INTS, ints(*range(100)), random.Random(1), MANY)
    assert bucketed.fragments(engine, MANY, repr(MANY)).members().tolist() == [5, 6, 7, 8, 9]
    bucketed.step(engine, [INTS.delta([(row, 1) for row in ints(95, 40)])], MANY, repr(MANY))
    assert (engine.stepped, engine.asked) == ([[1, 2]], 0)
    few = Comparison("<", AggregateReference(1), Constant(10))
    assert bucketed.fragments(engine, few, repr(few)).members().tolist() == [0]
    assert engine.asked == 1


def test_shares_of_several_tables_are_one_step() -> None:
    memory, bucketed, engine = both(INTS, ints(*range(100)), random.Random(2), MANY)
    shares = [INTS.delta([(row, 1) for row in ints(7, 7)]), INTS.delta([(row, -1) for row in ints(7)])]
    for share in shares:
        memory.apply(share)
    bucketed.step(engine, shares, MANY, repr(MANY))
    assert bucketed.rows.tolist() == memory.fragment_rows().tolist()
    assert len(engine.stepped) == 1


def test_without_signed_rows_the_engine_is_not_asked() -> None:
    _, bucketed, engine = both(INTS, ints(1, 2, 3), random.Random(6), MANY)
    bucketed.step(engine, [INTS.delta([])], MANY, repr(MANY))
    assert (engine.stepped, bucketed.version) == ([], 0)


def test_a_contradicting_delta_is_refused() -> None:
    _, bucketed, engine = both(INTS, ints(1, 2, 3), random.Random(3), MANY)
    with pytest.raises(StateCorrupt):
        bucketed.step(engine, [INTS.delta([(row, -1) for row in ints(4)])], MANY, repr(MANY))


def test_a_damaged_bucket_is_noticed() -> None:
    _, bucketed, engine = both(INTS, ints(*range(100)), random.Random(4), MANY)
    [table] = engine.tables["state"]
    place = table.schema.get_field_index("data")
    engine.tables["state"] = [table.set_column(place, "data", pa.array([b"x", *table.column("data").to_pylist()[1:]], pa.binary()))]
    with pytest.raises(StateCorrupt, match="checksum"):
        bucketed.fragments(engine, None, "None")


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_bucket_that_nothing_is_known_of_is_noticed(lost: int) -> None:
    _, bucketed, engine = both(INTS, ints(*range(100)), random.Random(5), MANY)
    [table] = engine.tables["state"]
    engine.tables["state"] = [table.filter(pc.not_equal(table.column(BUCKET), lost))]
    with pytest.raises(StateCorrupt, match="nothing is known"):
        bucketed.fragments(engine, None, "None")


def test_a_table_that_another_process_has_changed_is_given_up() -> None:
    _, bucketed, engine = both(INTS, ints(1, 2, 3), random.Random(5), MANY)
    engine.tables["state"].append(engine.tables["state"][-1])
    with pytest.raises(ChangedElsewhere):
        bucketed.step(engine, [INTS.delta([(row, 1) for row in ints(4)])], MANY, repr(MANY))


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 10, 50])
def test_buckets_are_runs_of_ranges(wanted: int) -> None:
    coarse = coarsened(INTS.partition, wanted)
    assert coarse.ranges == min(wanted, 10)
    owners = owners_of(coarse, INTS.partition)
    values = pa.array([*range(-5, 105), None], pa.int32())
    assert owners[INTS.partition.locate(values)].tolist() == coarse.locate(values).tolist()
    assert sorted(owners.tolist()) == owners.tolist()
