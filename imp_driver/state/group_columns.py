"""The groups of a relation as columns that nothing changes: threads read them at once, also while a step makes newer groups.

Only who holds the relation makes columns, of the groups as they are then; whoever asks for the versions that these stand for reads what is
there. A step never changes a column, it leaves all of them behind; the next ones are copies of them but for the groups that it touched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import Accumulator, Copy, Values
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.touched import Mark
from imp_driver.snapshot.vector import Vector
from imp_driver.state.numberings import CoarserKeys, Numbering
from imp_driver.state.places import Places
from imp_driver.values.aggregates import AggregateSpecification
from imp_driver.values.codes import BooleanArray, IntegerArray, plain

QUICKLY_MADE = 10_000
"""Groups whose columns are made whole, however few of them are asked for."""
MOST_COARSER = 32
SMALL_BYTES = 1 << 20
"""Of the coarser groups that are kept; to make larger ones anew takes about as long as to read them."""
MOST_TABLES = 8
MOST_TOUCHED = 10
"""One of so many groups may have changed for columns to be taken over."""


_Aggregate: TypeAlias = tuple[int, AggregateSpecification]
"""Place of the one whose accumulator is read, and what is read from it."""


class CoarserGroups(NamedTuple):
    """Keys of groups that others fall into, and aggregates of theirs by place."""

    keys: Sequence[pa.Array]
    values: Mapping[int, Values]

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(int(each.nbytes) for each in self.keys) + sum(map(_bytes, self.values.values()))


class NotThere(LookupError):
    """A column is to be made first, by who holds the relation."""


class GroupColumns:
    """The living groups of a relation at one vector, in an order of their own.

    Attributes:
        slots: those of the state, ascending.
        mark: what the state was like.
    """

    def __init__(self, vector: Vector, slots: IntegerArray, mark: Mark) -> None:
        self.vector = vector
        self.slots = slots
        self.mark = mark
        self.alive: BooleanArray = np.ones(len(slots), dtype=bool)
        self.keys: dict[int, pa.Array] = {}
        self.rows: IntegerArray | None = None
        self.values: dict[_Aggregate, Values] = {}
        self.accumulators: dict[_Aggregate, Copy] = {}
        self.held: dict[_Aggregate, Accumulator] = {}
        self.numberings: dict[CoarserKeys, Numbering] = {}
        self.asked: set[int | _Aggregate | CoarserKeys] = set()
        self.added_up: set[_Aggregate] = set()
        self.coarser: dict[str, CoarserGroups] = {}
        self.tables: dict[Hashable, pa.Table] = {}

    @classmethod
    def of(cls, vector: Vector, state: GroupState, earlier: GroupColumns | None) -> GroupColumns:
        """Return the columns of a state as it is now; what only few groups have changed in is taken over from earlier ones."""
        made = cls(vector, np.flatnonzero(state.alive), state.touched.mark)
        touched = None if earlier is None else state.touched.since(earlier.mark)
        if earlier is not None and touched is not None and MOST_TOUCHED * len(touched) <= len(made.slots):
            made._take_over(earlier, Places.between(earlier.slots, made.slots, touched), state)
        return made

    def _take_over(self, earlier: GroupColumns, places: Places, state: GroupState) -> None:
        changed = self.slots[places.changed]
        self.asked = set(earlier.asked)
        # A dictionary of the changed groups alone would be another one.
        plain_keys = {index: key for index, key in earlier.keys.items() if not pa.types.is_dictionary(key.type)}
        self.keys = {index: places.moved(key, state.key_values(index, changed)) for index, key in plain_keys.items()}
        self.rows = None if earlier.rows is None else places.moved_numbers(earlier.rows, state.rows[changed])
        for (index, specification), values in earlier.values.items():
            self.values[index, specification] = places.moved_values(values, state.value_as(specification, index, changed))
        for keys, numbering in earlier.numberings.items():
            if set(keys) <= earlier.keys.keys():
                before = [earlier.keys[index] for index in keys]
                moved = numbering.moved(places, [state.key_values(index, changed) for index in keys], before)
                self.numberings |= {} if moved is None else {keys: moved}

    def is_made_for(self, name: int | _Aggregate | CoarserKeys, places: IntegerArray) -> bool:
        """Note that some groups of a column are asked for; say whether it is made whole, as from the second time on.

        The first time all of them would take longer than a small part, and may be of no use before the next change.
        """
        is_small_part = len(self.slots) > QUICKLY_MADE and 2 * len(places) < len(self.slots)
        is_first = name not in self.asked
        self.asked.add(name)
        return not (is_small_part and is_first)

    @property
    def memory(self) -> int:
        """Bytes."""
        own = int(self.slots.nbytes + self.alive.nbytes) + (0 if self.rows is None else int(self.rows.nbytes))
        own += sum(each.memory for each in [*self.accumulators.values(), *self.held.values()])
        own += sum(int(each.nbytes) for each in list(self.tables.values()))
        own += sum(each.memory for each in list(self.coarser.values())) + sum(each.memory for each in list(self.numberings.values()))
        return own + sum(int(each.nbytes) for each in self.keys.values()) + sum(map(_bytes, self.values.values()))


class ReadGroups:
    """Groups for one reader, who names them by their places in the columns.

    ``state`` is given to who holds its relation, and only then: what is missing is made of it. Others have NotThere raised.
    """

    def __init__(self, columns: GroupColumns, state: GroupState | None = None) -> None:
        self._columns = columns
        self._state = state

    @property
    def alive(self) -> BooleanArray:
        """True for every place."""
        return self._columns.alive

    def key_values(self, index: int, places: IntegerArray) -> pa.Array:
        """Return the i-th group key of some groups. Raises NotThere."""
        return plain(self.key_array(index, places))

    def key_array(self, index: int, places: IntegerArray) -> pa.Array:
        """Return ``key_values``, as a dictionary where many groups have few. Raises NotThere."""
        columns = self._columns
        found = columns.keys.get(index)
        if found is None:
            held = self._held
            if not columns.is_made_for(index, places):
                return held.key_array(index, columns.slots[places])
            found = columns.keys[index] = held.key_array(index, columns.slots)
        return found if len(places) == len(columns.slots) else found.take(pa.array(places))

    def rows(self, places: IntegerArray) -> IntegerArray:
        """Return of how many rows some groups are. Raises NotThere."""
        columns = self._columns
        if columns.rows is None:
            columns.rows = self._held.rows[columns.slots]
        return columns.rows[places]

    def value_as(self, specification: AggregateSpecification, index: int, places: IntegerArray) -> Values:
        """Return an aggregate of some groups, from what the i-th one holds of its argument. Raises NotThere."""
        columns, name = self._columns, (index, specification)
        found = columns.values.get(name)
        if found is None:
            held = self._held
            if not columns.is_made_for(name, places):
                return held.value_as(specification, index, columns.slots[places])
            found = columns.values[name] = held.value_as(specification, index, columns.slots)
        return found if len(places) == len(columns.slots) else _taken(found, places)

    def rolled_up(self, specification: AggregateSpecification, index: int, places: IntegerArray, groups: RollUp) -> Values:
        """Return an aggregate of the coarser groups that some groups fall into, from what the i-th one holds. Raises NotThere."""
        columns, name = self._columns, (index, specification)
        found = columns.accumulators.get(name)
        if found is None:
            held = self._held
            if name not in columns.added_up:
                # No step takes a copy over, so one that is read once before the next would cost more than it saves.
                columns.added_up.add(name)
                return held.value_as(specification, index, columns.slots[places], groups)
            found = columns.accumulators[name] = held.copy_of(specification, index, columns.slots)
        return found.rolled_up(self.rows(places), places, groups)

    def held(self, specification: AggregateSpecification, index: int) -> Accumulator:
        """Return all that is held of an aggregate of all groups, in the order of their places. Raises NotThere."""
        columns, name = self._columns, (index, specification)
        found = columns.held.get(name)
        if found is None:
            found = columns.held[name] = self._held.read_as(specification, index, columns.slots)
        return found

    def together(self, keys: CoarserKeys, places: IntegerArray) -> tuple[RollUp, Sequence[pa.Array]]:
        """Return the coarser groups by some keys that some groups fall into, and the keys of these. Raises NotThere, NotEvaluable."""
        columns = self._columns
        found = columns.numberings.get(keys)
        if found is None:
            some = [self.key_values(key, places) for key in keys]
            if not columns.is_made_for(keys, places):
                return Numbering.of(some, len(places)).whole
            every = np.arange(len(columns.slots))
            found = columns.numberings[keys] = Numbering.of([self.key_values(key, every) for key in keys], len(every))
        return found.of_some(places)

    def kept(self, name: str, make: Callable[[], CoarserGroups]) -> CoarserGroups:
        """Return coarser groups by a name that says all that they depend on beside the columns; few of them, if small, are kept."""
        known = self._columns.coarser
        found = known.get(name)
        if found is None:
            found = make()
            if len(known) < MOST_COARSER and found.memory <= SMALL_BYTES:
                known[name] = found
        return found

    def table(self, name: Hashable, make: Callable[[], pa.Table]) -> pa.Table:
        """Return all groups as rows by a name that says all that these depend on beside the columns; a few such tables are kept."""
        known = self._columns.tables
        found = known.get(name)
        if found is None:
            found = make()
            if len(known) < MOST_TABLES:
                known[name] = found
        return found

    @property
    def groups(self) -> int:
        return len(self._columns.slots)

    @property
    def names(self) -> IntegerArray:
        """A number for each place, ascending, that its group keeps while it is there."""
        return self._columns.slots

    @property
    def _held(self) -> GroupState:
        if self._state is None:
            raise NotThere
        return self._state


class ColumnCache:
    """The newest columns of a relation. Any thread may ask for them and clear them; only who holds the relation has new ones made."""

    def __init__(self) -> None:
        self._newest: GroupColumns | None = None

    def at(self, vector: Vector) -> ReadGroups | None:
        """Return the groups at a vector as far as their columns are there; None where they are of other versions."""
        newest = self._newest
        return ReadGroups(newest) if newest is not None and newest.vector == vector else None

    def of(self, state: GroupState, vector: Vector) -> ReadGroups:
        """Return the groups as they are; the caller holds the relation for as long as it reads them."""
        newest = self._newest
        if newest is None or newest.vector != vector:
            newest = self._newest = GroupColumns.of(vector, state, newest)
        return ReadGroups(newest, state)

    def clear(self) -> None:
        """Forget all: what the groups stand for is no longer certain, or their memory is needed."""
        self._newest = None

    @property
    def memory(self) -> int:
        """Bytes. Asked under the lock of the relation."""
        newest = self._newest
        return 0 if newest is None else newest.memory


def _taken(values: Values, places: IntegerArray) -> Values:
    spread = None if values.spread is None else values.spread[places]
    return Values(values.array.take(pa.array(places)), values.exact[places], spread)


def _bytes(values: Values) -> int:
    return int(values.array.nbytes + values.exact.nbytes + (0 if values.spread is None else values.spread.nbytes))
