"""A selection that is maintained: sums of rows whose conditions have aggregates of other rows, after each change.

Changes go into sorted sums, which costs little and settles nothing. Which rows pass is found when results are asked for: by descents, from
which only rows between the old and the new boundary are added up, else by a mask over all keys.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from imp_driver.dataflow.nested.batches import Batch, read
from imp_driver.dataflow.nested.cells import Amounts, Cell, Plan
from imp_driver.dataflow.nested.conditions import compiled
from imp_driver.dataflow.nested.description import Inner, Row, Selection, Strategy, Value
from imp_driver.dataflow.nested.inner_sums import Sorted, State, Total
from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sides import States
from imp_driver.dataflow.nested.sorted_sums import FEW, SortedSums
from imp_driver.dataflow.nested.told import Change, Results, Told

SignedRow: TypeAlias = tuple[Row, int]
"""A row and how often it comes, negative where it goes."""
_SHARED = object()
"""Stands for the partition of what all partitions share."""
UNGROUPED = ()
"""The group of all rows where there is no GROUP BY; it is there also without a row."""
_Reading: TypeAlias = tuple[int, State | None, Value | None, Value | None, Value | None]
"""Number and shared state of an inner aggregate, and what is read of its rows: argument, key, partition."""
_Entry: TypeAlias = tuple[State, Any, Key | None, Any, int]
_OuterEntry: TypeAlias = tuple[Any, Any, Key | None, Amounts]
_Labelled: TypeAlias = tuple[list[Any], Batch]
"""Rows of a batch with what each belongs to."""


class SelectionSums:
    """Follows a ``Selection`` by prefix descents, or by masks where these do not go or ``strategy`` is GENERAL.

    Attributes:
        conditions, inners: the conditions, compiled, and the inner aggregates in the order of their states.
        descents, evaluations: how often rows that pass were found by descents, and by masks.
    """

    def __init__(self, selection: Selection, strategy: Strategy = Strategy.PREFIX_DESCENT) -> None:
        program = compiled(selection)
        self.selection = selection
        self.descents = self.evaluations = 0
        self.conditions, self._keys, self.inners = program.conditions, program.keys, program.inners
        self._width = 2 * len(selection.values) + 1
        is_general = strategy is Strategy.GENERAL
        self._plan = Plan(
            self.conditions,
            self._width,
            has_groups=selection.group is not None and selection.key is not None,
            is_general=is_general,
            is_one_range=not is_general and not any(condition.needs_candidates for condition in self.conditions),
        )
        self._shared: dict[int, State] = {place: _state(each) for place, each in enumerate(self.inners) if each.partition is None}
        self._by_relation: dict[str, list[_Reading]] = {}
        for place, inner in enumerate(self.inners):
            key = None if inner.correlation is None else inner.correlation.value
            reading = (place, self._shared.get(place), inner.argument, key, inner.partition)
            self._by_relation.setdefault(inner.relation, []).append(reading)
        self._cells: dict[Any, Cell] = {}
        self._waiting: dict[Any, Cell] = {}
        self._totals: dict[Any, list[Any]] = {}
        # Not kept before someone asks for it: it is emptied by whoever asks.
        self._touched: dict[Any, None] | None = None
        self._is_shared_changed = False
        self._told = Told({} if selection.group else {UNGROUPED: (None,) * len(selection.values)})
        if selection.partition is None:
            self._cell(None)

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""
        entries = self._inner_entries(relation, row, weight)
        outer = self._outer_entry(row, weight) if relation == self.selection.relation else None
        for state, partition, key, amount, signed in entries:
            state.add(key, amount, signed)
            if partition is _SHARED:
                self._is_shared_changed = True
            else:
                self._waiting[partition] = self._cells[partition]
        if outer is not None:
            self._add_outer(*outer)

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation; what is read of them is read of all before anything is changed."""
        inner: list[tuple[int, State | None, _Labelled]] = []
        outer: list[_Labelled] = []
        for relation, signed in changes.items():
            rows, weights = [list(column) for column in zip(*signed, strict=True)] or ([], [])
            for reading in self._by_relation.get(relation, ()) if rows else ():
                inner.append((reading[0], reading[1], self._inner_batch(reading, rows, weights)))
            if rows and relation == self.selection.relation:
                outer.append(self._outer_batch(rows, weights))
        for place, state, (partitions, batch) in inner:
            for partition, part in batch.by(partitions):
                own = self._cell(partition).states[place] if state is None else state
                own.add_many(part.keys, part.columns[0], part.weights)
                self._touch(partition)
        for labels, batch in outer:
            self._add_outer_batch(labels, batch)

    def _inner_batch(self, reading: _Reading, rows: Sequence[Row], weights: Sequence[int]) -> _Labelled:
        """Return the rows that an inner aggregate has, and their partitions."""
        _, _, argument, key_of, partition_of = reading
        batch = Batch(read(key_of, rows), [read(argument, rows, 0)], weights)
        partitions = read(partition_of, rows, _SHARED)
        present = batch.present(needs_key=key_of is not None, labels=partitions)
        if present is not None:
            batch, partitions = batch.at(present), [partitions[place] for place in present]
        if key_of is not None:
            self._keys.are_whole &= set(map(type, batch.keys)) <= {int}
        return partitions, batch

    def _outer_batch(self, rows: Sequence[Row], weights: Sequence[int]) -> _Labelled:
        """Return what is summed of rows, and to which group of which partition each belongs."""
        selection, columns = self.selection, list[list[Any]]()
        for value in selection.values:
            amounts = list(map(value, rows))
            columns.append([0 if amount is None else amount * weight for amount, weight in zip(amounts, weights, strict=True)])
            columns.append([weight if amount is None else 0 for amount, weight in zip(amounts, weights, strict=True)])
        keys = read(selection.key, rows)
        self._keys.are_whole &= set(map(type, keys)) <= {int, type(None)}
        labels = zip(read(selection.partition, rows), read(selection.group, rows, UNGROUPED), strict=True)
        return list(labels), Batch(keys, [*columns, weights], weights)

    def _inner_entries(self, relation: str, row: Row, weight: int) -> list[_Entry]:
        entries: list[_Entry] = []
        for place, state, argument, key_of, partition_of in self._by_relation.get(relation, ()):
            amount = 0 if argument is None else argument(row)
            if amount is None:
                continue
            key = None
            if key_of is not None:
                key = key_of(row)
                if key is None:
                    continue
                if type(key) is not int:
                    self._keys.are_whole = False
            if state is not None:
                entries.append((state, _SHARED, key, amount, weight))
            elif partition_of is not None and (partition := partition_of(row)) is not None:
                entries.append((self._cell(partition).states[place], partition, key, amount, weight))
        return entries

    def _outer_entry(self, row: Row, weight: int) -> _OuterEntry:
        selection = self.selection
        amounts: list[Any] = []
        for value in selection.values:
            amount = value(row)
            amounts += (0, weight) if amount is None else (amount * weight, 0)
        amounts.append(weight)
        key = None if selection.key is None else selection.key(row)
        if key is not None and type(key) is not int:
            self._keys.are_whole = False
        partition = None if selection.partition is None else selection.partition(row)
        return partition, UNGROUPED if selection.group is None else selection.group(row), key, amounts

    def _cell(self, partition: Any) -> Cell:
        cell = self._cells.get(partition)
        if cell is None:
            states = [self._shared.get(place) or _state(inner) for place, inner in enumerate(self.inners)]
            cell = self._cells[partition] = Cell(states, self._plan)
            self._touch(partition)
        return cell

    def _touch(self, partition: Any) -> None:
        if partition is _SHARED:
            self._is_shared_changed = True
        else:
            self._waiting[partition] = self._cells[partition]

    def _add_outer(self, partition: Any, group: Any, key: Key | None, amounts: Amounts) -> None:
        cell = self._cells.get(partition) or self._cell(partition)
        if cell.add(group, key, amounts):
            self._pass(cell, group, amounts)
        # What passes is known of a row in a range alone.
        if key is None or cell.range is None or cell.is_to_clean:
            self._touch(partition)

    def _add_outer_batch(self, labels: Sequence[tuple[Any, Any]], batch: Batch) -> None:
        if len(labels) < FEW:
            for (partition, key_of_group), key, *amounts in zip(labels, batch.keys, *batch.columns, strict=True):
                self._add_outer(partition, key_of_group, key, amounts)
            return
        for (partition, key_of_group), part in batch.by(labels):
            for key, *amounts in zip(part.keys, *part.columns, strict=True) if None in part.keys else ():
                if key is None:
                    self._add_outer(partition, key_of_group, None, amounts)
            present = part.present(needs_key=True)
            cell = self._cell(partition)
            passed = cell.add_many(key_of_group, part if present is None else part.at(present))
            if passed is not None:
                self._pass(cell, key_of_group, passed)
            self._touch(partition)

    def _pass(self, cell: Cell, group: Any, amounts: Amounts) -> None:
        """Take in by how much the sums that pass of a partition's group have changed."""
        if self._touched is not None:
            self._touched[group] = None
        if self.selection.partition is None:
            self._totals[group] = cell.groups[group].passed
            return
        total = self._totals.get(group)
        self._totals[group] = list(amounts) if total is None else list(map(operator.add, total, amounts))

    def settle(self) -> None:
        """Find the rows that pass now; nothing to do where nothing changed."""
        waiting = self._cells if self._is_shared_changed else self._waiting
        if not waiting:
            return
        to_clean, is_whole = [], self.selection.partition is None
        for partition, cell in waiting.items():
            for key, old in cell.settle():
                self._pass(cell, key, () if is_whole else list(map(operator.sub, cell.groups[key].passed, old)))
            if cell.is_masked:
                self.evaluations += 1
            else:
                self.descents += 1
            if cell.is_to_clean or not cell.groups:
                to_clean.append((partition, cell))
        self._is_shared_changed = False
        if self._waiting:
            self._waiting = {}
        for partition, cell in to_clean:
            self._clean(partition, cell)

    def _clean(self, partition: Any, cell: Cell) -> None:
        """Forget groups and partitions that have no rows."""
        cell.is_to_clean = False
        for key in [key for key, group in cell.groups.items() if group.is_empty]:
            del cell.groups[key]
            total = self._totals.get(key)
            if total is not None and not any(total):
                del self._totals[key]
        if self.selection.partition is None or cell.groups:
            return
        own = [state for place, state in enumerate(cell.states) if place not in self._shared]
        if all(state.is_empty for state in own):
            del self._cells[partition]

    def sums(self) -> Mapping[Any, Amounts]:
        """Return for each group that has a row that passes: for each value its sum and how many rows have none, then the number of rows."""
        self.settle()
        return {key: total for key, total in self._totals.items() if total[-1]}

    def group_sums(self, group: Any) -> Amounts:
        """Return the same for one group, zeros where no row passes."""
        self.settle()
        return self._totals.get(group) or [0] * self._width

    def results(self) -> Results:
        """Return the sums of each group, None for those of nothing; without GROUP BY there is one group, also of no rows."""
        self.settle()
        if self.selection.group is None:
            return {UNGROUPED: summed(self._totals.get(UNGROUPED) or [0] * self._width)}
        return {key: summed(total) for key, total in self._totals.items() if total[-1]}

    @property
    def relations(self) -> frozenset[str]:
        """The relations whose rows matter."""
        return frozenset({self.selection.relation, *self._by_relation})

    def touched(self) -> Mapping[Any, None]:
        """Return the groups whose sums may be others than when this was asked last; the first time all groups."""
        self.settle()
        touched = self._touched
        if touched is None:
            self._touched = {}
            return dict.fromkeys(self._totals)
        if touched:
            self._touched = {}
        return touched

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""
        touched = self.touched()
        if not touched:
            return {}
        new: dict[Any, tuple[Any, ...] | None] = {}
        for group in touched:
            total = self._totals.get(group)
            is_there = self.selection.group is None or (total is not None and total[-1])
            new[group] = summed(total or [0] * self._width) if is_there else None
        return self._told.differences(new)

    @property
    def rows(self) -> SortedSums:
        """The rows by key, where there are neither partitions nor groups."""
        group = self._cells[None].groups.get(UNGROUPED)
        return SortedSums(self._width - 1) if group is None else group.rows

    @property
    def states(self) -> States:
        """What is kept of the inner aggregates, where there are no partitions."""
        return self._cells[None].states

    @property
    def has_null(self) -> bool:
        """Whether a row without a key has come, where there are no partitions."""
        return self._cells[None].has_null

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        own = [state for cell in self._cells.values() for place, state in enumerate(cell.states) if place not in self._shared]
        states = sum([state.memory for state in (*own, *self._shared.values())])
        return states + sum([cell.memory for cell in self._cells.values()])


def _state(inner: Inner) -> State:
    return Total() if inner.correlation is None else Sorted()


def summed(amounts: Amounts) -> tuple[Any, ...]:
    """Return the SUM of each value, None where no row has one."""
    rows = amounts[-1]
    return tuple([amounts[place] if rows > amounts[place + 1] else None for place in range(0, len(amounts) - 1, 2)])
