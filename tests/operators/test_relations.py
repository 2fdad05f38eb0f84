"""Operators below the groups, on random streams: against a naive twin, and against their own result from nothing.

Occurrence 0 has the columns ``k`` and ``v``, occurrence 1 ``l`` and ``w``.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_, xor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.access import Access
from imp_driver.dataflow.arrangement import MOST_CROSSED, Arrangement, TooManyRows
from imp_driver.dataflow.compute import Compute
from imp_driver.dataflow.distinct import Distinct
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.dataflow.full_join import FullJoin
from imp_driver.dataflow.groups import Groups, result_type
from imp_driver.dataflow.join import InnerJoin
from imp_driver.dataflow.not_in import NotIn
from imp_driver.dataflow.operator import NotFound, Operator
from imp_driver.dataflow.outer_join import LeftJoin
from imp_driver.dataflow.partners import Partnered
from imp_driver.dataflow.semijoin import SemiJoin
from imp_driver.dataflow.set_operation import SetOperation, Sides
from imp_driver.dataflow.top import Top
from imp_driver.dataflow.union import Union
from imp_driver.dataflow.window.whole import PartitionAggregate
from imp_driver.dataflow.windowed import Windowed
from imp_driver.dataflow.zset import consolidated, empty
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, ValueForm
from imp_driver.values.expressions import Arithmetic, Column, Comparison, Constant
from imp_driver.values.tables import ZSet
from imp_driver.values.windows import UP_TO_PEERS, Number, OrderColumn, Running, WindowFunction
from tests.operators.model import budget

Value = float | None
Row = tuple[Value, ...]
Bag = Counter[Row]
Twin = Callable[[Bag, Bag], Bag]

NAMES = (("k", "v"), ("l", "w"))
LEFT, RIGHT = (Access(place, pa.schema([pa.field(name, pa.int64()) for name in names])) for place, names in enumerate(NAMES))


def signed(bag: Bag, schema: pa.Schema) -> ZSet:
    rows = list(bag)
    columns = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate(schema.types)]
    return ZSet(pa.table(columns, schema=schema), np.array([bag[row] for row in rows], dtype=np.int64))


def bag_of(rows: ZSet) -> Bag:
    found: Bag = Counter()
    columns = [rows.rows.column(name).to_pylist() for name in rows.rows.column_names]
    for row, weight in zip(zip(*columns, strict=True), rows.weights.tolist(), strict=True):
        found[row] += weight
    return settled(found)


def settled(bag: Bag) -> Bag:
    return Counter({row: weight for row, weight in bag.items() if weight})


def less(new: Bag, old: Bag) -> Bag:
    difference = Counter(new)
    difference.subtract(old)
    return settled(difference)


@dataclass(slots=True)
class Database:
    """Old rows and changes of the two occurrences; rows cannot be found by the columns of ``without``, nor all of those of ``large``."""

    old: list[Bag]
    changes: list[Bag]
    without: frozenset[str] = frozenset()
    large: frozenset[int] = frozenset()
    asked: list[str] = field(default_factory=list)
    sides: dict[tuple[int, bool], Arrangement] = field(default_factory=dict)

    def new(self, occurrence: int) -> Bag:
        both = Counter(self.old[occurrence])
        both.update(self.changes[occurrence])
        return settled(both)

    def change(self, occurrence: int) -> ZSet:
        return signed(self.changes[occurrence], (LEFT, RIGHT)[occurrence].schema)

    def arrangement(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
        self.asked.append(key)
        if key in self.without:
            raise NotFound
        return self._side(occurrence, is_new=is_new)

    def whole(self, occurrence: int, *, is_new: bool) -> Arrangement:
        if occurrence in self.large:
            raise NotFound
        return self._side(occurrence, is_new=is_new)

    def _side(self, occurrence: int, *, is_new: bool) -> Arrangement:
        if (occurrence, is_new) not in self.sides:
            bag = self.new(occurrence) if is_new else self.old[occurrence]
            self.sides[occurrence, is_new] = Arrangement(signed(bag, (LEFT, RIGHT)[occurrence].schema))
        return self.sides[occurrence, is_new]


def pairs(left: Bag, right: Bag, meets: Callable[[Row, Row], bool]) -> Bag:
    found: Bag = Counter()
    for one, copies in left.items():
        for other, more in right.items():
            if meets(one, other):
                found[(*one, *other)] += copies * more
    return found


def partners(row: Row, right: Bag, meets: Callable[[Row, Row], bool]) -> int:
    return sum(pairs(Counter({row: 1}), right, meets).values())


def always(one: Row, other: Row) -> bool:
    return one[0] is not None and one[0] == other[0]


def is_larger(one: Row, other: Row) -> bool:
    return one[1] is not None and other[1] is not None and one[1] > other[1]


def larger(one: Row, other: Row) -> bool:
    return always(one, other) and is_larger(one, other)


def whatever(one: Row, other: Row) -> bool:
    return True


def left_joined(left: Bag, right: Bag, meets: Callable[[Row, Row], bool]) -> Bag:
    found = pairs(left, right, meets)
    for row, copies in left.items():
        if not partners(row, right, meets):
            found[(*row, None, None)] += copies
    return found


def kept(left: Bag, right: Bag, meets: Callable[[Row, Row], bool]) -> Bag:
    return Counter({row: copies for row, copies in left.items() if partners(row, right, meets)})


def full_joined(left: Bag, right: Bag, meets: Callable[[Row, Row], bool]) -> Bag:
    found = left_joined(left, right, meets)
    for row, copies in right.items():
        if not any(meets(each, row) for each in left):
            found[(None, None, *row)] += copies
    return found


def not_in(left: Bag, right: Bag) -> Bag:
    """Whether k is not among the l, as SQL says it."""
    members = [row[0] for row in right]

    def stays(k: Value) -> bool:
        return not members or (k is not None and None not in members and k not in members)

    return Counter({row: copies for row, copies in left.items() if stays(row[0])})


def in_both(left: Bag, right: Bag) -> Bag:
    return Counter({row: min(copies, right[row]) for row, copies in left.items() if row in right})


def once(bag: Bag) -> Bag:
    return Counter(dict.fromkeys(bag, 1))


def united(left: Bag, right: Bag) -> Bag:
    found = Counter(left)
    found.update(right)
    return found


def computed(left: Bag) -> Bag:
    found: Bag = Counter()
    for (k, v), copies in left.items():
        if v is not None and v > 0:
            found[k, None if k is None else k + v] += copies
    return found


def grouped(left: Bag) -> Bag:
    members: dict[Value, list[Value]] = {}
    for (k, v), copies in left.items():
        members.setdefault(k, []).extend([v] * copies)
    found: Bag = Counter()
    for k, values in members.items():
        there = [value for value in values if value is not None]
        average = sum(there) / len(there) if there else None
        different = set(there)
        bits = [reduce(each, there) if there else None for each in (and_, or_, xor)]
        found[
            (
                *(k, len(values), len(there), sum(there) if there else None, min(there, default=None), max(there, default=None), average),
                *(len(different), sum(different) if there else None, *bits),
            )
        ] = 1
    return found


def windowed(left: Bag) -> Bag:
    """Add the rank by v within k, the sum of v of the same k, and how many v come up to the row's own."""
    found: Bag = Counter()
    for (k, v), copies in left.items():
        own = [value for (key, value), n in left.items() for _ in range(n) if key == k]
        there = [value for value in own if value is not None]
        up_to = [value for value in there if v is not None and value <= v]
        rank = 1 + sum(value != v and (value is None or (v is not None and value < v)) for value in own)
        found[k, v, rank, sum(there) if there else None, len(up_to)] += copies
    return found


def ranked(left: Bag) -> Bag:
    """Add the dense rank among all rows by v, the greatest first and NULL last."""
    order = sorted({v for _, v in left if v is not None}, reverse=True)
    return Counter({(k, v, 1 + (len(order) if v is None else order.index(v))): copies for (k, v), copies in left.items()})


def first_rows(left: Bag) -> Bag:
    """Return the second and third row by v and k, NULL first."""
    return Counter(sorted(left.elements(), key=lambda row: [(each is not None, each or 0) for each in row[::-1]])[1:3])


LARGER = Comparison(">", Column("v"), Column("w"))
BOTH = Partnered(LEFT, RIGHT, ("k", "l"), None)
SOME = Partnered(LEFT, RIGHT, ("k", "l"), LARGER)
BY_CONDITION = Partnered(LEFT, RIGHT, None, LARGER)
ANY = Partnered(LEFT, RIGHT, None, None)


def total(kind: AccumulatorKind, argument: pa.DataType | None) -> AggregateSpecification:
    return AggregateSpecification(kind, ValueForm.TOTAL, argument)


FUNCTIONS = (
    (total(AccumulatorKind.COUNT_ROWS, None), None),
    *((total(kind, pa.int64()), "v") for kind in (AccumulatorKind.COUNT, AccumulatorKind.SUM_LONG)),
    *((total(kind, pa.int64()), "v") for kind in (AccumulatorKind.MINIMUM, AccumulatorKind.MAXIMUM)),
    (AggregateSpecification(AccumulatorKind.AVERAGE_INTEGER, ValueForm.AVERAGE, pa.int64()), "v"),
    *((total(kind, pa.int64()), "v") for kind in (AccumulatorKind.COUNT_DISTINCT, AccumulatorKind.SUM_DISTINCT)),
    *((total(kind, pa.int64()), "v") for kind in (AccumulatorKind.BIT_AND, AccumulatorKind.BIT_OR, AccumulatorKind.BIT_XOR)),
)
GROUPED = pa.schema(
    [pa.field("k", pa.int64()), *(pa.field(each.kind.name, result_type(each)) for each, _ in FUNCTIONS)],
)
KV = pa.schema([pa.field("k", pa.int64()), pa.field("v", pa.int64())])
COMPUTE = Compute(
    LEFT, Comparison(">", Column("v"), Constant(0)), (Column("k"), Arithmetic("+", Column("k"), Column("v"))), pa.schema(list(KV))
)
UNION = Union((LEFT, RIGHT), NAMES, KV)
BOTH_SIDES = Sides(LEFT, RIGHT, KV)

RANK, DENSE_RANK = Number.RANK, Number.DENSE_RANK
BY_V = (OrderColumn("v", descending=False, nulls_first=True),)
WINDOWED = Windowed(
    LEFT,
    (
        ("r", WindowFunction(RANK, ("k",), BY_V, UP_TO_PEERS)),
        ("s", PartitionAggregate(("k",), total(AccumulatorKind.SUM_LONG, pa.int64()), "v")),
        ("c", WindowFunction(Running.COUNT, ("k",), BY_V, UP_TO_PEERS, "v")),
    ),
    ("k",),
    frozenset({"k"}),
    pa.schema([*KV, ("r", pa.int32()), ("s", pa.int64()), ("c", pa.int64())]),
)
RANKED = Windowed(
    LEFT,
    (("r", WindowFunction(DENSE_RANK, (), (OrderColumn("v", descending=True, nulls_first=False),), UP_TO_PEERS)),),
    (),
    frozenset(),
    pa.schema([*KV, ("r", pa.int32())]),
)
FIRST = Top(
    LEFT, WindowFunction(Number.ROW_NUMBER, (), (*BY_V, OrderColumn("k", descending=False, nulls_first=True)), UP_TO_PEERS), 1, 2, KV
)

RELATIONS: Mapping[str, tuple[Operator, Twin]] = {
    "access": (LEFT, lambda left, right: left),
    "compute": (COMPUTE, lambda left, right: computed(left)),
    "join": (InnerJoin.of((LEFT, RIGHT), (("k", "l"), ("l", "k"))), lambda left, right: pairs(left, right, always)),
    "left join": (LeftJoin(BOTH), lambda left, right: left_joined(left, right, always)),
    "left join on more": (LeftJoin(SOME), lambda left, right: left_joined(left, right, larger)),
    "semi-join": (SemiJoin(BOTH, False), lambda left, right: kept(left, right, always)),
    "anti-join": (SemiJoin(BOTH, True), lambda left, right: less(left, kept(left, right, always))),
    "semi-join on more": (SemiJoin(SOME, False), lambda left, right: kept(left, right, larger)),
    "full join": (FullJoin.of(BOTH), lambda left, right: full_joined(left, right, always)),
    "full join on more": (FullJoin.of(SOME), lambda left, right: full_joined(left, right, larger)),
    "full join by a condition": (FullJoin.of(BY_CONDITION), lambda left, right: full_joined(left, right, is_larger)),
    "cross join": (InnerJoin.of((LEFT, RIGHT), ()), lambda left, right: pairs(left, right, whatever)),
    "left join by a condition": (LeftJoin(BY_CONDITION), lambda left, right: left_joined(left, right, is_larger)),
    "semi-join by a condition": (SemiJoin(BY_CONDITION, False), lambda left, right: kept(left, right, is_larger)),
    "anti-join by a condition": (SemiJoin(BY_CONDITION, True), lambda left, right: less(left, kept(left, right, is_larger))),
    "any row": (SemiJoin(ANY, False), lambda left, right: kept(left, right, whatever)),
    "no row": (SemiJoin(ANY, True), lambda left, right: less(left, kept(left, right, whatever))),
    "not in": (NotIn(BOTH, ("k", "l")), not_in),
    "intersect": (SetOperation(BOTH_SIDES, "INTERSECT", True), lambda left, right: once(in_both(left, right))),
    "intersect all": (SetOperation(BOTH_SIDES, "INTERSECT", False), in_both),
    "except": (SetOperation(BOTH_SIDES, "EXCEPT", True), lambda left, right: Counter({row: 1 for row in left if row not in right})),
    "except all": (SetOperation(BOTH_SIDES, "EXCEPT", False), lambda left, right: left - right),
    "union": (UNION, united),
    "distinct": (Distinct(LEFT), lambda left, right: Counter(dict.fromkeys(left, 1))),
    "distinct union": (Distinct(UNION), lambda left, right: Counter(dict.fromkeys(united(left, right), 1))),
    "groups": (Groups(LEFT, ("k",), FUNCTIONS, GROUPED), lambda left, right: grouped(left)),
    "window": (WINDOWED, lambda left, right: windowed(left)),
    "window over all rows": (RANKED, lambda left, right: ranked(left)),
    "first rows": (FIRST, lambda left, right: first_rows(left)),
    "groups of a union": (Groups(UNION, ("k",), FUNCTIONS, GROUPED), lambda left, right: grouped(united(left, right))),
}

values = st.none() | st.integers(-2, 3)


def streams(keys: st.SearchStrategy[Value]) -> st.SearchStrategy[list[list[list[Row]]]]:
    row: st.SearchStrategy[Row] = st.tuples(keys, values)
    rows = st.lists(row, max_size=6)
    return st.lists(st.lists(rows, min_size=2, max_size=2), min_size=1, max_size=5)


STREAM = streams(st.none() | st.integers(0, 2))


@pytest.mark.parametrize("name", sorted(RELATIONS))
@budget(60)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_stream_agrees_with_a_naive_twin_and_with_a_start_from_nothing(name: str, data: st.DataObject, seed: int) -> None:
    relation, twin = RELATIONS[name]
    chance = random.Random(seed)
    current: list[Bag] = [Counter(), Counter()]
    total: Bag = Counter()
    for inserted in data.draw(STREAM):
        changes: list[Bag] = []
        for bag, rows in zip(current, inserted, strict=True):
            there = list(bag.elements())
            doomed = chance.sample(there, chance.randint(0, min(3, len(there))))
            changes.append(less(Counter(rows), Counter(doomed)))
        database = Database(current, changes)
        old, current = current, [database.new(0), database.new(1)]
        found = bag_of(relation.step(database))
        assert found == less(twin(*current), twin(*old))
        total = settled(united(total, found))
        assert total == bag_of(relation.step(Database([Counter(), Counter()], current)))
        for is_new, tables in ((False, old), (True, current)):
            assert bag_of(relation.every(database, is_new=is_new)) == settled(twin(*tables))
        for key in _findable(relation):
            _check_matching(relation, twin, database, key, chance)


def _findable(relation: Operator) -> list[str]:
    """Return the columns by which rows are found: not those that are computed."""
    if isinstance(relation, Groups):
        return list(relation.keys)
    if isinstance(relation, (Windowed, Top)):
        return sorted(relation.found_by) if isinstance(relation, Windowed) else []
    return ["k"] if isinstance(relation, Compute) else relation.schema.names


def _check_matching(relation: Operator, twin: Twin, database: Database, key: str, chance: random.Random) -> None:
    wanted = [chance.choice([None, 0, 1, 2]) for _ in range(chance.randint(0, 3))]
    place = relation.schema.get_field_index(key)
    for is_new in (False, True):
        tables = [database.new(0), database.new(1)] if is_new else database.old
        expected = {row: n for row, n in twin(*tables).items() if row[place] is not None and row[place] in wanted}
        assert bag_of(relation.rows(database, key, pa.array(wanted, pa.int64()), is_new=is_new)) == expected


def test_rows_that_no_key_finds_are_left_to_the_engine() -> None:
    nothing: list[Bag] = [Counter(), Counter()]
    both = frozenset({0, 1})
    with pytest.raises(NotFound):
        Distinct(LEFT).step(Database(nothing, [Counter({(None, None): 1}), Counter()], large=both))
    with pytest.raises(NotFound):
        Distinct(LEFT).step(Database(nothing, [Counter({(1, 1): 1}), Counter()], frozenset({"k", "v"}), both))
    for each in (InnerJoin.of((LEFT, RIGHT), ()), LeftJoin(BY_CONDITION), SemiJoin(ANY, False), NotIn(BOTH, ("k", "l"))):
        with pytest.raises(NotFound):
            each.step(Database(nothing, [Counter({(1, 1): 1}), Counter()], large=both))


def test_windows_and_first_rows_that_are_not_certain_are_left_to_the_engine() -> None:
    tied = Database([Counter({(1, 1): 1}), Counter()], [Counter({(2, 1): 1, (3, 1): 1}), Counter()])
    by_v = WindowFunction(Number.ROW_NUMBER, (), BY_V, UP_TO_PEERS)
    numbered = Windowed(LEFT, (("n", by_v),), (), frozenset(), pa.schema([*KV, ("n", pa.int32())]))
    for each in (numbered, Top(LEFT, by_v, 0, 2, KV)):
        with pytest.raises(NotEvaluable, match="tie"):
            each.step(tied)
    for other, key in ((RANKED, "k"), (WINDOWED, "v"), (FIRST, "k")):
        with pytest.raises(NotFound):
            other.rows(tied, key, pa.array([1], pa.int64()), is_new=True)


def test_a_large_left_side_is_asked_by_keys_where_these_tell_all() -> None:
    old: list[Bag] = [Counter({(1, 1): 1, (2, 1): 1, (None, 1): 1}), Counter({(1, 0): 1})]
    large = frozenset({0})
    assert bag_of(NotIn(BOTH, ("k", "l")).step(Database(old, [Counter(), Counter({(2, 0): 1})], large=large))) == {(2, 1): -1}
    with_null: list[Bag] = [old[0], Counter({(1, 0): 1, (None, 0): 1})]
    assert not bag_of(NotIn(BOTH, ("k", "l")).step(Database(with_null, [Counter(), Counter({(2, 0): 1})], large=large)))
    assert not bag_of(SemiJoin(ANY, False).step(Database(old, [Counter(), Counter({(2, 0): 1})], large=large)))
    with pytest.raises(NotFound):
        NotIn(BOTH, ("k", "l")).step(Database(old, [Counter(), Counter({(None, 0): 1})], large=large))


def test_more_pairs_than_a_condition_may_have_are_left_to_the_engine() -> None:
    rows: Bag = Counter({(k, 1): 1 for k in range(MOST_CROSSED // 1000 + 1)})
    with pytest.raises(TooManyRows):
        LeftJoin(BY_CONDITION).step(Database([Counter(), Counter({(k, 1): 1 for k in range(1000)})], [rows, Counter()]))


def test_a_group_is_found_by_another_key_where_one_is_null() -> None:
    database = Database([Counter({(1, 5): 2}), Counter()], [Counter({(1, 5): -2, (None, 5): 1, (2, None): 1}), Counter()])
    assert bag_of(Distinct(LEFT).step(database)) == {(1, 5): -1, (None, 5): 1, (2, None): 1}


def test_versions_that_contradict_each_other_are_left_to_the_engine() -> None:
    # A row that was never there goes away: what was looked up is of another version.
    database = Database([Counter(), Counter()], [Counter({(1, 1): -1}), Counter()])
    with pytest.raises(NotFound):
        Groups(LEFT, ("k",), FUNCTIONS, GROUPED).step(database)
    with pytest.raises(NotFound):
        SemiJoin(BOTH, False).step(Database([Counter({(1, 1): 1}), Counter()], [Counter(), Counter({(1, 1): -1})]))


def test_sums_that_may_overflow_are_left_to_the_engine() -> None:
    database = Database([Counter(), Counter()], [Counter({(1, 2**62): 2}), Counter()])
    with pytest.raises(NotEvaluable):
        Groups(LEFT, ("k",), FUNCTIONS, GROUPED).step(database)


def test_types_of_aggregates_below_other_operators() -> None:
    assert result_type(total(AccumulatorKind.SUM_DECIMAL, pa.decimal128(12, 2))) == pa.decimal128(22, 2)
    assert result_type(total(AccumulatorKind.MAXIMUM, pa.string())) == pa.string()
    assert result_type(total(AccumulatorKind.SUM_DECIMAL, pa.decimal128(30, 2))) == pa.decimal128(38, 2)
    average = AggregateSpecification(AccumulatorKind.SUM_DECIMAL, ValueForm.AVERAGE, pa.decimal128(12, 2))
    assert result_type(average) == pa.decimal128(16, 6)
    for each in (
        total(AccumulatorKind.SUM_FLOAT, pa.float64()),
        total(AccumulatorKind.SUM_DISTINCT, pa.float64()),
        AggregateSpecification(AccumulatorKind.SUM_FLOAT, ValueForm.AVERAGE, pa.float64()),
        AggregateSpecification(AccumulatorKind.SUM_DECIMAL, ValueForm.AVERAGE, pa.decimal128(36, 2)),
        AggregateSpecification(AccumulatorKind.VARIANCE, ValueForm.SAMPLE_VARIANCE, pa.int64()),
    ):
        with pytest.raises(NotEvaluable):
            result_type(each)


def test_sums_of_wide_decimals_that_may_pass_38_digits_are_left_to_the_engine() -> None:
    child = Access(0, pa.schema([pa.field("k", pa.int64()), pa.field("d", pa.decimal128(38, 0))]))
    schema = pa.schema([pa.field("k", pa.int64()), pa.field("s", pa.decimal128(38, 0))])

    class One(Database):
        def change(self, occurrence: int) -> ZSet:
            return ZSet(
                pa.table([[1], ["1"]], schema=pa.schema([child.schema.field(0), ("d", pa.string())])).cast(child.schema), np.ones(1, int)
            )

        def arrangement(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
            return Arrangement(self.change(occurrence))

    with pytest.raises(NotEvaluable):
        Groups(child, ("k",), ((total(AccumulatorKind.SUM_DECIMAL, pa.decimal128(38, 0)), "d"),), schema).step(One([], []))


def test_sums_of_decimals_and_extrema_of_text() -> None:
    child = Access(0, pa.schema([pa.field("k", pa.int64()), pa.field("d", pa.decimal128(5, 2)), pa.field("t", pa.string())]))
    schema = pa.schema([pa.field("k", pa.int64()), pa.field("s", pa.decimal128(15, 2)), pa.field("t", pa.string())])
    functions = ((total(AccumulatorKind.SUM_DECIMAL, pa.decimal128(5, 2)), "d"), (total(AccumulatorKind.MAXIMUM, pa.string()), "t"))
    groups = Groups(child, ("k",), functions, schema)
    texts = pa.schema([child.schema.field(0), ("d", pa.string()), ("t", pa.string())])
    rows = pa.table([[1, 1, 2], ["1.50", "2.25", None], ["a", "b", None]], schema=texts)

    class One(Database):
        def change(self, occurrence: int) -> ZSet:
            return ZSet(rows.cast(child.schema), np.array([2, 1, 1]))

        def arrangement(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
            return Arrangement(self.change(occurrence))

    found = groups.step(One([], []))
    assert sorted(map(str, found.rows.to_pylist())) == sorted(
        map(str, pa.table([[1, 2], ["5.25", None], ["b", None]], names=["k", "s", "t"]).cast(schema).to_pylist())
    )


def test_rows_are_equal_as_spark_groups_them() -> None:
    rows = pa.table({"x": pa.array([0.0, -0.0, float("nan"), float("nan"), None, None])})
    found = consolidated(ZSet(rows, np.array([1, 1, 2, -2, 1, 2])))
    assert sorted(found.weights.tolist()) == [2, 3]
    assert len(consolidated(empty(rows.schema)).weights) == 0
