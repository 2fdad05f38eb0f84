"""What one state's upkeep costs and what its sketch saves, learned from its own past; from that, whether to bring it up to date now.

History beats a formula. Times are in seconds. Without enough history the answer is to maintain, unless the sketch was of no use so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from imp_driver.snapshot.vector import Vector

CHEAP = 0.03
"""Upkeep below this is always done: the estimates are not better than that."""
FEWEST = 2
"""Maintenance steps behind an estimate."""
_REMEMBERED = 8
_WEIGHT = 0.3
"""Of the newest in a moving average."""
_MARGIN = 1.25
"""Hysteresis: a decision is changed when the other side is better by this factor."""
_DEARER = 2.0
"""Factor by which maintenance must be dearer than the last capture for capturing to be tried."""
MOST_PUT_OFF = 8
"""Times in a row, after which one step is made to learn anew."""
PATIENCE = 3
"""Useless sketches in a row after which maintenance is left out now and then."""
LONGEST_REST = 64
"""Queries, at most, between two tries."""
LEAST_LOSS = 2.0
"""Seconds by which captures and upkeep exceed what was saved, from which on a state is given up where upkeep does not pay."""
_MOST_DOUBLINGS = 8
"""Of the steps that are left out between two tries of a state that is given up."""

_SUMS = ("all_captures", "all_upkeep", "all_saved")


class Advice(Enum):
    """What to do about a state that is behind."""

    MAINTAIN = "maintain"
    RECAPTURE = "capture again"


@dataclass(frozen=True, slots=True)
class Judgement:
    """``is_worth_it`` says whether the sketch saves the queries of one version more than ``advice`` costs.

    ``cost`` and ``saved`` as far as they are known; ``spent`` and ``gained`` are what the state has cost and saved until now.
    """

    advice: Advice
    is_worth_it: bool
    cost: float | None = None
    saved: float | None = None
    spent: float = 0.0
    gained: float = 0.0

    @property
    def is_given_up(self) -> bool:
        """Whether even queries that see the same versions are not to wait for it."""
        return not self.is_worth_it and self.spent > self.gained + LEAST_LOSS

    @property
    def detail(self) -> str:
        estimate = f"to {self.advice.value} is estimated at {_milliseconds(self.cost)}, what it saves at {_milliseconds(self.saved)}"
        if not self.is_given_up:
            return estimate
        return f"{estimate}; until now it has cost {_milliseconds(self.spent)} and saved {_milliseconds(self.gained)}"


@dataclass(slots=True)
class Costs:
    """Mutable; what two threads learn at once may count once.

    Attributes:
        captured: what the last capture took.
        saved: what the filter saves a query, a moving average; None before the first such query.
        queries: that see the same versions, a moving average.
        all_captures, all_upkeep, all_saved: sums over its life, what saved nothing counted as nothing.
    """

    captured: float | None = None
    saved: float | None = None
    queries: float = 1.0
    all_captures: float = 0.0
    all_upkeep: float = 0.0
    all_saved: float = 0.0
    _asked: int = 0
    _steps: tuple[tuple[int, float], ...] = ()
    _useless: int = 0
    _rested: int = 0
    _recaptures: bool = False
    _put_off: int = 0
    _vain: int = 0
    _awaited: Vector | None = None

    def learned(self) -> dict[str, object]:
        """Return what is worth remembering longer than a process, as values of JSON."""
        sums = {name: getattr(self, name) for name in _SUMS}
        steps = [list(step) for step in self._steps]
        return {"captured": self.captured, "saved": self.saved, "queries": self.queries, "steps": steps, **sums}

    @classmethod
    def of(cls, learned: Mapping[str, Any]) -> Costs:
        """Invert ``learned``; what is missing is as at first. Raises TypeError or ValueError for values that cannot be."""
        sums = {name: float(learned.get(name, 0.0)) for name in _SUMS}
        costs = cls(learned.get("captured"), learned.get("saved"), float(learned.get("queries", 1.0)))
        costs.all_captures, costs.all_upkeep, costs.all_saved = (sums[name] for name in _SUMS)
        costs._steps = tuple((int(rows), float(seconds)) for rows, seconds in learned.get("steps", ()))[-_REMEMBERED:]
        return costs

    @property
    def is_useless(self) -> bool:
        """Whether the last sketches kept almost everything."""
        return self._useless >= PATIENCE

    def note_use(self, *, is_useful: bool) -> None:
        """Learn whether a sketch skips anything."""
        self._useless = 0 if is_useful else self._useless + 1

    def note_other_cut(self) -> None:
        """Learn that sketches by another column come, of which nothing is known."""
        self.saved, self._useless, self._rested, self._put_off = None, 0, 0, 0

    def rests(self) -> bool:
        """Say whether maintenance is left out this time: after a few useless sketches ever rarer ones are tried."""
        if not self.is_useless or self._rested >= min(2 ** (self._useless - PATIENCE), LONGEST_REST):
            self._rested = 0
            return False
        self._rested += 1
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether upkeep or a capture is put off."""
        return self._awaited is not None

    def is_put_off_at(self, vector: Vector) -> bool:
        return self._awaited == vector

    def put_off(self, vector: Vector) -> None:
        """Let upkeep wait until these versions are asked for again."""
        self._awaited = vector

    def resume(self) -> None:
        """Put nothing off any more."""
        self._awaited = None

    def note_asked(self, *, is_new: bool) -> None:
        """Count one query; ``is_new`` for the first at its versions of the tables."""
        if is_new and self._asked:
            self.queries = (1 - _WEIGHT) * self.queries + _WEIGHT * self._asked
        self._asked = 1 if is_new else self._asked + 1

    def note_capture(self, seconds: float) -> None:
        self.captured, self._awaited = seconds, None
        self.all_captures += seconds

    def note_maintenance(self, rows: int, seconds: float) -> None:
        self.all_upkeep += seconds
        self._steps = (*self._steps, (rows, seconds))[-_REMEMBERED:]

    def note_query(self, seconds: float, gain: float) -> None:
        """Learn from a query that took ``seconds`` with a filter of this estimated gain (rewrite/gain.py); without a filter it is 0."""
        gain = min(0.95, max(0.0, gain))
        saved = seconds * gain / (1 - gain)
        self.all_saved += saved
        self.saved = saved if self.saved is None else (1 - _WEIGHT) * self.saved + _WEIGHT * saved

    def maintenance(self, rows: int) -> float | None:
        """Estimate the maintenance of so many changed rows; None without enough history."""
        steps = self._steps
        if len(steps) < FEWEST:
            return None
        # The fastest of the small steps is the fixed part: what is slower was disturbed, or larger.
        least = min(steps, key=lambda step: step[1])
        most = max(steps)
        if most[0] <= 2 * least[0] or most[1] <= least[1]:
            return least[1] * max(1.0, rows / max(1, most[0]))
        rate = (most[1] - least[1]) / (most[0] - least[0])
        return least[1] + rate * max(0, rows - least[0])

    def judge(self, rows: int) -> Judgement:
        """Say what to do about so many changed rows.

        A state at a loss is tried ever more rarely until upkeep pays again: where its queries come more often, or its tables change less.
        """
        cost = self.maintenance(rows)
        if cost is None and self.saved == 0.0:
            # Nothing was saved yet: the first steps, which for a join cost about a capture, are not worth a try.
            cost = self.captured
        if cost is None or cost <= CHEAP:
            self._recaptures, self._put_off = False, 0
            return Judgement(Advice.MAINTAIN, True, cost, self.saved)
        factor = 1.0 if self._recaptures else _DEARER
        self._recaptures = self.captured is not None and cost > factor * self.captured
        if self._recaptures:
            cost = self.captured
        assert cost is not None
        margin = 1 / _MARGIN if self._put_off else _MARGIN
        saved = None if self.saved is None else self.saved * max(1.0, self.queries)
        advice = Advice.RECAPTURE if self._recaptures else Advice.MAINTAIN
        if saved is None or cost <= margin * saved:
            self._put_off = self._vain = 0
            return Judgement(advice, True, cost, saved)
        judgement = Judgement(advice, False, cost, saved, self.all_captures + self.all_upkeep, self.all_saved)
        if self._put_off < MOST_PUT_OFF << self._vain:
            self._put_off += 1
            return judgement
        self._put_off = 0
        self._vain = min(self._vain + 1, _MOST_DOUBLINGS) if judgement.is_given_up else 0
        return replace(judgement, is_worth_it=True)


def _milliseconds(seconds: float | None) -> str:
    return "an unknown time" if seconds is None else f"{seconds * 1000:.0f} ms"
