"""Recursive relations under changes of given rows, in two phases: what has lost its level leaves, and then what can be derived is put in.

The level of a derivation is one more than the highest of its rows, 0 where all of them are given; that of a row is the least of its
derivations. Both phases go from level to level, with all rows of one at once.

Losses. A row that has lost a derivation at its own level leaves unless it has another one at that level; lower than that no derivation
can be. Such a derivation rests on rows of lower levels alone, of which it is known by then whether they leave, so that no cycle keeps
itself alive. Rows that leave take derivations at their level from others, which are looked at when the turn of these comes.

Gains. Each row that has left begins again with the best derivation that is there, and so does each row that follows from a new given
one. When the turn of a level comes, its rows are put in, unless they are there at a lower one, and what follows from them gains in turn.

Only rows whose level changes are followed in a batch of losses or of gains alone. Where both come at once, a row can leave and come back
to its level by what others gained; it is followed all the same.

Sources: delete and re-derive (Gupta, Mumick, Subrahmanian: Maintaining Views Incrementally, 1993), whose deletion takes too much away
because it has no levels; with levels, and backward and forward search, Motik, Nenov, Piro, Horrocks: Maintenance of Datalog
Materialisations Revisited (2019), section 4, and Ramalingam and Reps: An Incremental Algorithm for a Generalization of the
Shortest-Path Problem (1996), in which each row is a node and its level the length of its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from imp_driver.dataflow.recursion.equal_places import EqualPlaces
from imp_driver.dataflow.recursion.joins import Backward, Forward, Relations
from imp_driver.dataflow.recursion.keys import ABSENT, GIVEN, LevelArray, distinct
from imp_driver.dataflow.recursion.levels import Endless, TooManyRows
from imp_driver.values.codes import IntegerArray

_MANY = 1 << 18
"""Rows that may wait more than once."""
_NO_KEYS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class KeyChanges:
    """Keys of rows of one relation that are there no longer, and of those that are there now; both ascend."""

    removed: IntegerArray
    added: IntegerArray


class _Waiting:
    """Rows by the level at which they are settled, and by relation."""

    def __init__(self) -> None:
        self._keys: dict[tuple[int, int], list[IntegerArray]] = {}
        self._times: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._times)

    def put(self, relation: int, keys: IntegerArray, levels: LevelArray | int) -> None:
        """Have rows settled at a level, or each at its own."""
        if not len(keys):
            return
        if isinstance(levels, int):
            self._put(relation, keys, levels)
            return
        order = levels.argsort(kind="stable")
        ordered, keys = levels[order], keys[order]
        begins = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        for begin, end in zip([0, *begins.tolist()], [*begins.tolist(), len(keys)], strict=True):
            self._put(relation, keys[begin:end], int(ordered[begin]))

    def _put(self, relation: int, keys: IntegerArray, level: int) -> None:
        time = level, relation
        known = self._keys.get(time)
        if known is None:
            self._keys[time] = [keys]
            heappush(self._times, time)
            return
        known.append(keys)
        if len(keys) and sum(map(len, known[1:])) > max(_MANY, len(known[0])):
            # Many derivations of the same rows would need more memory than the rows.
            self._keys[time] = [distinct(np.concatenate(known))]

    def pop(self) -> tuple[int, int, IntegerArray]:
        """Return the lowest level, a relation, and its rows at that level, each once."""
        time = heappop(self._times)
        keys = self._keys.pop(time)
        return *time, distinct(keys[0] if len(keys) == 1 else np.concatenate(keys))


class Settling:
    """The rules over some rows."""

    def __init__(self, places: Sequence[EqualPlaces], relations: Relations, *, most_rows: int, most_levels: int) -> None:
        self._relations = relations
        forward = [(each.rule.reads[read], Forward(each, read, relations)) for each in places for read in range(len(each.rule.reads))]
        self._readers = {relation: [each for read, each in forward if read == relation] for relation in relations.layouts}
        backward = [Backward(each, relations) for each in places]
        self._rules = {relation: [each for each in backward if each.head == relation] for relation in relations.made}
        self._most_rows, self._most_levels = most_rows, most_levels
        self.touched = 0

    def change(self, removed: Mapping[int, IntegerArray], added: Mapping[int, IntegerArray]) -> dict[int, KeyChanges]:
        """Take given rows, which are there, away, and put others, which are not, in; all ascend.

        Returns:
            What changed of each recursive relation.

        Raises:
            Endless: there are too many rows or levels; the object is of no use afterwards.
        """
        losing, gaining = _Waiting(), _Waiting()
        for relation, keys in removed.items():
            self._lose(losing, relation, keys, GIVEN)
        for relation in removed.keys() | added.keys():
            self._relations.given[relation].change(removed.get(relation, _NO_KEYS), added.get(relation, _NO_KEYS))
        left = self._settle_losses(losing)
        for relation, keys in left.items():
            self._gain_again(gaining, relation, keys)
        for relation, keys in added.items():
            self._gain(gaining, relation, keys, GIVEN)
        new = self._settle_gains(gaining)
        return {relation: self._changed(relation, left.get(relation, _NO_KEYS), new.get(relation, _NO_KEYS)) for relation in self._rules}

    def _changed(self, relation: int, left: IntegerArray, new: IntegerArray) -> KeyChanges:
        """Return which rows are gone for good, of those that have left, and which are new, of those put in where there was none."""
        if not len(left):
            return KeyChanges(left, new)
        is_gone = self._relations.made[relation].levels(left) == ABSENT
        is_back = np.zeros(len(new), dtype=np.bool_)
        back = left[~is_gone]
        is_back[new.searchsorted(back)] = True
        return KeyChanges(left[is_gone], new[~is_back])

    def _settle_losses(self, losing: _Waiting) -> dict[int, IntegerArray]:
        """Return the rows that have left, ascending."""
        left: dict[int, list[IntegerArray]] = {}
        while losing:
            level, relation, keys = losing.pop()
            best = self._best(relation, keys, level)
            keys = keys[best > level]
            if len(keys):
                # Others at the same level are to lose the derivations that they have with these.
                self._lose(losing, relation, keys, level)
                self._relations.made[relation].remove(keys)
                left.setdefault(relation, []).append(keys)
        return _ascending(left)

    def _settle_gains(self, gaining: _Waiting) -> dict[int, IntegerArray]:
        """Return the rows that were not there before, ascending."""
        new: dict[int, list[IntegerArray]] = {}
        while gaining:
            level, relation, keys = gaining.pop()
            if level > self._most_levels:
                raise Endless(f"it has not ended after {self._most_levels} rounds")
            rows = self._relations.made[relation]
            before = rows.levels(keys)
            is_better = before > level
            keys, more = keys[is_better], keys[before == ABSENT]
            if not len(keys):
                continue
            rows.put(keys, level, len(more))
            if len(rows) > self._most_rows:
                raise TooManyRows(f"it has more than {self._most_rows} rows")
            new.setdefault(relation, []).append(more)
            self._gain(gaining, relation, keys, level)
        return _ascending(new)

    def _lose(self, losing: _Waiting, relation: int, keys: IntegerArray, level: int) -> None:
        """Have those settled that have their level by rows at a level."""
        for reader in self._readers[relation]:
            rows = self._relations.made[reader.head]
            for heads, levels in reader.heads(keys, level):
                self.touched += len(heads)
                here = (rows.levels(heads) == levels).nonzero()[0]
                losing.put(reader.head, heads[here], levels if isinstance(levels, int) else levels[here])

    def _gain(self, gaining: _Waiting, relation: int, keys: IntegerArray, level: int) -> None:
        """Have those settled that have a lower level by rows at a level."""
        for reader in self._readers[relation]:
            rows = self._relations.made[reader.head]
            for heads, levels in reader.heads(keys, level):
                self.touched += len(heads)
                here = (rows.levels(heads) > levels).nonzero()[0]
                gaining.put(reader.head, heads[here], levels if isinstance(levels, int) else levels[here])

    def _gain_again(self, gaining: _Waiting, relation: int, keys: IntegerArray) -> None:
        """Have rows settled at the level that they have by the rows that are there."""
        best = self._best(relation, keys, ABSENT)
        here = (best < ABSENT).nonzero()[0]
        gaining.put(relation, keys[here], best[here])

    def _best(self, relation: int, keys: IntegerArray, below: int) -> LevelArray:
        """Return the lowest level of a derivation that each row has from rows of levels below some, ``ABSENT`` where there is none."""
        best = np.full(len(keys), ABSENT, dtype=np.int16)
        self.touched += len(keys)
        for rule in self._rules[relation]:
            # A row of level 0 has been derived from given ones alone, and no other row has.
            if below == ABSENT or rule.is_base == (below == 0):
                rule.lower(best, keys, below)
        return best


def _ascending(keys: Mapping[int, Iterable[IntegerArray]]) -> dict[int, IntegerArray]:
    return {relation: np.sort(np.concatenate(list(parts))) for relation, parts in keys.items()}
