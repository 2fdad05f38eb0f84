"""A slow twin of the operators: a multiset of rows in plain Python, exact fractions, Spark's rules written a second time.

Used by the tests of this folder for two kinds of check. *Twin*: after every delta the maintained state must agree with the twin, which
knows no increments; this finds wrong formulas, but not a wrong idea of SQL that both share. *Recomputation*: the maintained state must
agree with a state captured from the current rows; this finds forgotten or doubled changes, but no error that capture and maintenance share.
Deltas are +1 and -1 rows that also cancel, because that is where increments go wrong.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.dataflow.aggregate.exact_sums import split
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.some_groups import SomeGroups
from imp_driver.dataflow.bounds.interval import Interval
from imp_driver.sketch.cells import CapturedCells, CellCut
from imp_driver.sketch.cut_groups import Cut, CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.values.aggregates import BUFFER_SIZE, OF_MULTISETS, AccumulatorKind, AggregateSpecification, ProjectedRows, ValueForm
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.cuts import CutName
from imp_driver.values.float_grids import LIMIT
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition
from tests.operators.twin import NAN, added, canonical, exact_decimal, rank, scale_of, wrapped
from tests.seeds import WIDE

Row = tuple[tuple[Any, ...], tuple[Any, ...]]
K = AccumulatorKind


def budget(examples: int) -> settings:
    """Return hypothesis settings: few examples by default, many with IMP_WIDE=1."""
    return settings(max_examples=examples * (20 if WIDE else 1), deadline=None)


@dataclass(frozen=True)
class Block:
    """A query block: types of the keys, aggregates, and the partition over the first key or over the argument ``attribute``."""

    key_types: tuple[pa.DataType, ...]
    specifications: tuple[AggregateSpecification, ...]
    partition: RangePartition
    attribute: int | None = None

    def delta(self, signed: Sequence[tuple[Row, int]]) -> ProjectedRows:
        keys = tuple(pa.array([row[0][i] for row, _ in signed], type=kind) for i, kind in enumerate(self.key_types))
        arguments = tuple(
            None if spec.argument_type is None else pa.array([row[1][i] for row, _ in signed], type=spec.argument_type)
            for i, spec in enumerate(self.specifications)
        )
        weights = np.array([weight for _, weight in signed], dtype=np.int64)
        fragments = {} if self.attribute is None else {self.name: self.fragments([row for row, _ in signed])}
        return ProjectedRows(keys, arguments, weights, fragments)

    def fragments(self, rows: Sequence[Row]) -> npt.NDArray[np.int32]:
        """Return the fragment of each row."""
        values = [row[0][0] if self.attribute is None else row[1][self.attribute] for row in rows]
        return self.partition.locate(pa.array(values, type=self.partition.type))

    def groups(self, rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
        result: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            result.setdefault(tuple(canonical(key) for key in row[0]), []).append(row)
        return result

    @property
    def name(self) -> CutName:
        return CutName(self.partition.fragments, 0) if self.attribute is None else CutName(self.partition.fragments, None, 0, "attribute")

    def restore(self, columns: Mapping[str, pa.Array]) -> OneCut:
        """Read back a snapshot."""
        return OneCut.of(CutGroups.restore(columns, self.specifications, self.key_types, [(self.name, self.partition, "attribute")]))

    def capture(self, rows: Sequence[Row], chance: random.Random) -> OneCut:
        """Capture as Spark would, adding doubles in a random order."""
        groups = list(self.groups(rows).values())
        chance.shuffle(groups)
        keys = [pa.array([group[0][0][i] for group in groups], type=kind) for i, kind in enumerate(self.key_types)]
        parts: dict[tuple[int, str], pa.Array] = {}
        for i, spec in enumerate(self.specifications):
            columns = [captured_parts(spec, [row[1][i] for row in group], chance) for group in groups]
            for name, kind in part_types(spec).items():
                parts[i, name] = pa.array([column[name] for column in columns], type=kind)
            if spec.kind is K.SUM_FLOAT_EXACT and all(each["small"] == each["count"] for each in columns) and chance.random() < 0.5:
                # Spark is not asked for them where no double is large.
                del parts[i, "small"], parts[i, "sum"]
        counts = pa.array([len(group) for group in groups], type=pa.int64())
        state = GroupState.capture(keys, counts, parts, self.specifications, self.key_types)
        if self.attribute is None:
            return OneCut(state, {self.name: KeyCut(state, 0, self.partition, "attribute")})
        cells = [(place, *cell) for place, group in enumerate(groups) for cell in Counter(self.fragments(group).tolist()).items()]
        chance.shuffle(cells)
        captured = CapturedCells.of(*(pa.array([cell[i] for cell in cells], type=pa.int64()) for i in range(3)))
        return OneCut(state, {self.name: CellCut.capture(captured, state.rows, self.partition, "attribute")})


class OneCut(CutGroups):
    """Groups with one cut, asked as one."""

    @classmethod
    def of(cls, groups: CutGroups) -> OneCut:
        return cls(groups.state, groups.cuts)

    @property
    def cut(self) -> Cut:
        (cut,) = self.cuts.values()
        return cut

    @property
    def key_cut(self) -> KeyCut:
        assert isinstance(self.cut, KeyCut)
        return self.cut

    @property
    def partition(self) -> RangePartition:
        return self.cut.partition

    @property
    def fragment(self) -> npt.NDArray[np.int32]:
        return self.key_cut.fragment

    @property
    def rows(self) -> IntegerArray:
        return self.state.rows

    @property
    def alive(self) -> BooleanArray:
        return self.state.alive

    @property
    def groups(self) -> int:
        return self.state.groups

    @property
    def total_rows(self) -> int:
        return self.state.total_rows

    @property
    def inexact_groups(self) -> int:
        return self.state.inexact_groups

    def fragment_rows(self) -> IntegerArray:
        return self.cut.fragment_rows()

    def sketch(self, retained: BooleanArray) -> FragmentSet:
        return self.cut.sketch(retained)

    def only(self, slots: IntegerArray) -> SomeGroups:
        return self.state.only(slots)

    def key_values(self, index: int, slots: IntegerArray) -> pa.Array:
        return self.state.key_values(index, slots)

    def key_interval(self, index: int) -> Interval:
        return self.state.key_interval(index)

    def aggregate_interval(self, index: int) -> Interval:
        return self.state.aggregate_interval(index)


def part_types(spec: AggregateSpecification) -> dict[str, pa.DataType]:
    match spec.kind:
        case K.COUNT_ROWS:
            return {}
        case K.COUNT:
            return {"count": pa.int64()}
        case K.SUM_INTEGER:
            return {"count": pa.int64(), "sum": pa.int64()}
        case K.SUM_LONG | K.AVERAGE_INTEGER:
            return {"count": pa.int64(), "sum": pa.int64(), "magnitude": pa.float64()}
        case K.SUM_DECIMAL:
            return {"count": pa.int64(), "sum": pa.decimal128(38, scale_of(spec))}
        case K.SUM_WIDE_DECIMAL:
            return {"count": pa.int64(), "sum": pa.decimal128(38, scale_of(spec)), "magnitude": pa.float64()}
        case K.SUM_FLOAT | K.SUM_FLOAT_EXACT:
            bounded = {"count": pa.int64(), "sum": pa.float64(), "magnitude": pa.float64(), "nonfinite": pa.int64()}
            sums = ("part_0", "part_1", "part_2", "part_3", "part_4", "rest")
            split = {"small": pa.int64(), "below": pa.int64(), **dict.fromkeys(sums, pa.float64())}
            return bounded if spec.kind is K.SUM_FLOAT else bounded | split
        case K.BOOLEAN_AND | K.BOOLEAN_OR:
            return {"count": pa.int64(), "true": pa.int64()}
        case K.VARIANCE:
            return {"count": pa.int64(), "sum": pa.decimal128(38, scale_of(spec)), "squares": pa.decimal128(38, 2 * scale_of(spec))}
        case _ if spec.kind in OF_MULTISETS:
            return {"count": pa.int64(), "values": pa.list_(spec.argument_type), "copies": pa.list_(pa.int64())}
        case _:
            return {"count": pa.int64(), "buffer": pa.list_(spec.argument_type)}


def leaves_64_bits(block: Block, rows: Sequence[Row], signed: Sequence[tuple[Row, int]]) -> bool:
    """Say whether a delta takes a sum of integers of rows out of 64 bits; what Spark's own sum had wrapped to counts."""
    for place, spec in enumerate(block.specifications):
        if spec.kind in (K.SUM_INTEGER, K.SUM_LONG):
            totals: Counter[tuple[Any, ...]] = Counter()
            for key, group in block.groups(rows).items():
                totals[key] = wrapped(sum(row[1][place] or 0 for row in group))
            for row, weight in signed:
                totals[tuple(canonical(key) for key in row[0])] += weight * (row[1][place] or 0)
            if any(wrapped(total) != total for total in totals.values()):
                return True
        if spec.kind is K.SUM_DISTINCT and spec.form is ValueForm.TOTAL and pa.types.is_integer(spec.argument_type):
            copies = {key: Counter(row[1][place] for row in group) for key, group in block.groups(rows).items()}
            before = {key: sum(value or 0 for value in each) for key, each in copies.items()}
            for row, weight in signed:
                copies.setdefault(tuple(canonical(key) for key in row[0]), Counter())[row[1][place]] += weight
            for key, each in copies.items():
                change = sum(value or 0 for value, count in each.items() if count) - before.get(key, 0)
                if wrapped(total := wrapped(before.get(key, 0)) + change) != total:
                    return True
    return False


def applied(block: Block, state: OneCut, rows: Sequence[Row], signed: Sequence[tuple[Row, int]], chance: random.Random) -> OneCut:
    """Apply signed rows to the state of ``rows``, which are still the old ones; capture anew exactly where a sum leaves 64 bits."""
    if not leaves_64_bits(block, rows, signed):
        state.apply(block.delta(signed))
        return state
    with pytest.raises(StateCorrupt, match="leaves 64 bits"):
        state.apply(block.delta(signed))
    left = list(rows)
    for row, weight in signed:
        left += [row] * max(0, weight)
    for row, weight in signed:
        for _ in range(max(0, -weight)):
            left.pop(next(place for place, each in enumerate(left) if repr(each) == repr(row)))
    return block.capture(left, chance)


def captured_parts(spec: AggregateSpecification, values: Sequence[Any], chance: random.Random) -> dict[str, Any]:
    present = [value for value in values if value is not None]
    parts: dict[str, Any] = {"count": len(present)}
    if spec.kind in (K.SUM_INTEGER, K.SUM_LONG, K.AVERAGE_INTEGER):
        parts["sum"] = wrapped(sum(present)) if present else None
        parts["magnitude"] = added([abs(float(value)) for value in present], chance) if present else None
    elif spec.kind in (K.SUM_DECIMAL, K.SUM_WIDE_DECIMAL):
        total = sum((Fraction(value) for value in present), Fraction(0))
        parts["sum"] = exact_decimal(total, scale_of(spec)) if present else None
        if spec.kind is K.SUM_WIDE_DECIMAL:
            parts["magnitude"] = added([abs(float(value)) for value in present], chance) if present else None
    elif spec.kind in (K.SUM_FLOAT, K.SUM_FLOAT_EXACT):
        finite = [value for value in present if math.isfinite(value)]
        parts["sum"] = added(finite, chance) if finite else None
        parts["magnitude"] = added([abs(value) for value in finite], chance) if finite else None
        parts["nonfinite"] = len(present) - len(finite)
        if spec.kind is K.SUM_FLOAT_EXACT:
            small = [value for value in finite if abs(value) < LIMIT]
            split_values, rest = split(np.array(small, np.float64))
            parts["small"] = len(small)
            parts["below"] = int(np.count_nonzero(rest))
            parts |= {f"part_{place}": added(list(each), chance) if small else None for place, each in enumerate(split_values)}
            parts["rest"] = added(list(rest), chance) if small else None
    elif spec.kind in (K.MINIMUM, K.MAXIMUM):
        ordered = sorted(present, key=rank, reverse=spec.kind is K.MAXIMUM)[:BUFFER_SIZE]
        chance.shuffle(ordered)
        parts["buffer"] = ordered or None
    elif spec.kind in (K.BOOLEAN_AND, K.BOOLEAN_OR):
        parts["true"] = sum(present)
    elif spec.kind is K.VARIANCE:
        for name, power in (("sum", 1), ("squares", 2)):
            total = sum((Fraction(value) ** power for value in present), Fraction(0))
            parts[name] = exact_decimal(total, power * scale_of(spec)) if present else None
    elif spec.kind in OF_MULTISETS:
        copies = Counter(canonical(value) for value in present)
        values = list(copies)
        chance.shuffle(values)
        parts["values"] = [math.nan if value is NAN else value for value in values]
        parts["copies"] = [copies[value] for value in values]
    return parts


@dataclass(frozen=True)
class Operation:
    """One change: insert a row, delete the row at a position, replace it, or noise that cancels within the delta."""

    kind: str
    position: int
    row: Row


def operations(rows: st.SearchStrategy[Row]) -> st.SearchStrategy[list[list[Operation]]]:
    """Return streams of deltas."""
    one = st.builds(Operation, st.sampled_from(["insert", "delete", "update", "noise", "empty"]), st.integers(0, 10**6), rows)
    return st.lists(st.lists(one, max_size=12), min_size=1, max_size=5)


def step(current: list[Row], changes: Sequence[Operation], chance: random.Random) -> list[tuple[Row, int]]:
    """Change ``current`` and return the signed rows of it, shuffled."""
    signed: list[tuple[Row, int]] = []
    for change in changes:
        if change.kind in ("delete", "update") and current:
            signed.append((current.pop(change.position % len(current)), -1))
        if change.kind in ("insert", "update"):
            current.append(change.row)
            signed.append((change.row, 1))
        if change.kind == "noise":
            signed += [(change.row, 1), (change.row, -1)]
        if change.kind == "empty":
            # A whole group dies, or everything does.
            doomed = [row for row in current if canonical(row[0][0]) == canonical(change.row[0][0])]
            for row in doomed:
                current.remove(row)
            signed += [(row, -1) for row in doomed]
    chance.shuffle(signed)
    return signed


def slots_of(state: OneCut) -> dict[tuple[Any, ...], int]:
    """Return the slot of each living group, by canonical key."""
    columns = state.snapshot()
    width = sum(name.startswith("key_") for name in columns)
    keys = zip(*(map(canonical, columns[f"key_{i}"].to_pylist()) for i in range(width)), strict=True)
    return dict(zip(keys, np.flatnonzero(state.alive).tolist(), strict=True))


def inside(value: Any, lower: Any, upper: Any, scale: int = 0) -> bool:
    """Say whether a value lies between bounds that may be NaN (Spark's greatest) or multiplied by 10**scale."""
    if isinstance(value, str):
        return bool(lower <= value.encode() <= upper)
    top = math.isnan(upper)
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return top
        return (lower <= value) and (top or value <= upper)
    exact = Fraction(value) * 10**scale
    low = math.isnan(lower) is False and (lower == -math.inf or (math.isfinite(lower) and Fraction(lower) <= exact))
    return low and (top or upper == math.inf or Fraction(upper) >= exact)


def bag(rows: Sequence[Row]) -> Counter[str]:
    return Counter(map(repr, rows))
