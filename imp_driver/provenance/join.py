"""The pipelined hash join (algorithm 2 of the paper), mended.

Deletions restrict both tables by variables and give nothing: whoever holds what was joined restricts it too. Hence a row that was deleted
and comes again has another variable, and no trace of the old one is left that ``x AND NOT y`` would have to spare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.annotations import Annotations
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.sizes import row_bytes
from imp_driver.provenance.updates import Deletion, Kind, Output, Update
from imp_driver.provenance.windows import Window

LEFT, RIGHT = 0, 1
"""The ports of the two inputs."""


class _Side:
    """The rows of one input with their annotations (the paper's h and p), found by the values of the join key."""

    def __init__(self, diagrams: Diagrams, key: tuple[int, ...], window: Window | None) -> None:
        self.annotations: Annotations[Row] = Annotations(diagrams)
        self.window = window
        self._key = key
        self._rows: dict[Row, dict[Row, None]] = {}

    def key(self, row: Row) -> Row:
        return tuple([row[column] for column in self._key])

    def matching(self, key: Row) -> Iterable[Row]:
        return self._rows.get(key, ())

    def add(self, row: Row) -> None:
        """NULL joins with nothing."""
        key = self.key(row)
        if None not in key:
            self._rows.setdefault(key, {})[row] = None

    def remove(self, row: Row) -> None:
        key = self.key(row)
        rows = self._rows.get(key)
        if rows is not None:
            del rows[row]
            if not rows:
                del self._rows[key]


class PipelinedHashJoin:
    """Joins two streams of updates; each update meets what has come from the other side before it.

    Args:
        keys: columns of the left and of the right input that must be equal.
        joined: a left and a right row -> the row that follows, or None if a further condition is not met.
        windows: of inputs that are base relations, which of their rows expire.
    """

    def __init__(
        self,
        diagrams: Diagrams,
        keys: tuple[tuple[int, ...], tuple[int, ...]],
        joined: Callable[[Row, Row], Row | None],
        windows: tuple[Window | None, Window | None] = (None, None),
    ) -> None:
        self._diagrams = diagrams
        self._joined = joined
        self._sides = (_Side(diagrams, keys[LEFT], windows[LEFT]), _Side(diagrams, keys[RIGHT], windows[RIGHT]))

    def process(self, port: int, update: Update) -> Sequence[Output]:
        side = self._sides[port]
        is_known = update.row in side.annotations
        if update.kind is Kind.RETRACT:
            if is_known:
                side.annotations.put(update.row, self._diagrams.false)
                side.remove(update.row)
            return ()
        outputs: list[Output] = []
        if not self._diagrams.is_false(side.annotations.absorb(update.row, update.provenance)):
            if not is_known:
                side.add(update.row)
            outputs += self._matches(port, update)
        if side.window is not None:
            expired = side.window.expired(update, side.annotations)
            outputs += [Deletion(expired)] if expired else []
        return outputs

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        for side in self._sides:
            for each in side.annotations.restrict(variables):
                if self._diagrams.is_false(each.after):
                    side.remove(each.key)
        return ()

    @property
    def state_bytes(self) -> int:
        return sum(side.annotations.bytes(row_bytes) for side in self._sides)

    def _matches(self, port: int, update: Update) -> list[Output]:
        """Return what follows from an update with the rows of the other side; nothing whose annotation is false."""
        other, found = self._sides[1 - port], list[Output]()
        for match in other.matching(self._sides[port].key(update.row)):
            row = self._joined(update.row, match) if port == LEFT else self._joined(match, update.row)
            provenance = self._diagrams.and_(update.provenance, other.annotations[match])
            if row is not None and not self._diagrams.is_false(provenance):
                found.append(Update(Kind.INSERT, row, provenance))
        return found
