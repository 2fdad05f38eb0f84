"""Attack on the whole driver by pairs of features: a query, what was asked before it, a change in between, each a choice of the grammar."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import duckdb

from imp_driver.capture import capture
from imp_driver.circuit import circuit
from imp_driver.errors import InternalError
from imp_driver.maintain import step as maintenance
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, Reason
from imp_driver.sketch import balance
from imp_driver.values import stopwatch
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.pairs.cover import Attack, Outcome
from tests.pairs.grammar import CLUSTERING, DIMENSIONS, OUT_OF_REACH, Choice, asked_before, text_of
from tests.soundness.driver_attack import Clock
from tests.soundness.engine import DuckSession, Row, Warehouse

MOST_KEYS = 9


def play(choice: Choice, chance: random.Random) -> Outcome:
    """Ask the query of a choice after what goes before it."""
    clock = Clock(random.Random(chance.random()))
    small = {"buckets": (capture, "ROW_OVERHEAD", 1 << 30), "few rows kept": (circuit, "FEW_ROWS", 5)}
    holder = small.get(choice["holder"], (balance, "FEWEST_ROWS", 3))
    with (
        patch.object(balance, "FEWEST_ROWS", 3),
        patch.object(*holder),
        patch.object(maintenance, "time", clock),
        patch.object(stopwatch, "time", clock),
    ):
        return _Play(choice, chance).run()


class _Play:
    def __init__(self, choice: Choice, chance: random.Random) -> None:
        self._choice, self._chance = choice, chance
        clustering, has_look_up = 1 + CLUSTERING.index(choice["clustering"]), choice["look-ups"] == "in files"
        self._warehouse = Warehouse(clustering=clustering, has_look_up=has_look_up)
        for table in ("r", "s"):
            self._warehouse.commit(table, [self._row(number) for number in range(chance.randint(30, 60))])
        self._sketches = Sketches(Relations(self._warehouse, 1 << 30, buckets="buckets"))
        options = Options(answers=False, sketch=SketchMode.SHADOW, fragments=int(choice["fragments"]), maximum_runs=int(choice["runs"]))
        self._session = DuckSession(self._warehouse)
        self._path = Middleware(self._session, self._warehouse, self._sketches, options)

    def run(self) -> Outcome:
        try:
            return self._asked()
        except InternalError as error:
            return Outcome(False, difference=str(error))
        except duckdb.InternalException:
            # A failed assertion of the engine.
            return Outcome(False)
        finally:
            self._warehouse.connection.close()

    def _asked(self) -> Outcome:
        choice, chance = self._choice, self._chance
        text = text_of(choice, chance)
        before = asked_before(choice, chance)
        for _ in range(2 if before is not None else 0):
            self._ask(text if choice["state"] == "again" else text_of(before or {}, chance))
        had_state = any(entry.is_held for entry in self._sketches.relations.registry.relations())
        self._change()
        for _ in range(1 if before is None else 2):
            report = self._ask(text)
            if report.reason is Reason.INTERNAL:
                return Outcome(False, difference=f"{text}: {report.detail}")
            if report.reason is Reason.FILTERED:
                return Outcome(True, frozenset(self._idle(report, had_state)))
        return Outcome(False)

    def _ask(self, text: str) -> SketchReport:
        return self._path.run(Execution(text)).report

    def _idle(self, report: SketchReport, had_state: bool) -> Iterator[str]:
        """Yield the dimensions whose value had no effect: a state that was made anew has followed no change, and so on."""
        choice = self._choice
        entry = next(each for each in self._sketches.relations.registry.relations() if each.identifier == report.sketch_id)
        was_ahead = report.decision is Decision.FRESH and self._sketches.relations.eager.ahead(entry).steps > 0
        if choice["state"] != "first" and not had_state:
            yield "state"
        if choice["change"] != "none" and report.decision is not Decision.MAINTAINED and not was_ahead:
            yield "change"
        has_effect = {
            "memory": entry.state is not None,
            "buckets": entry.bucketed is not None,
            "few rows kept": self._warehouse.looked_up + self._session.joined > 0,
            "ahead": was_ahead,
        }
        if not has_effect[choice["holder"]]:
            yield "holder"

    def _change(self) -> None:
        kind = self._choice["change"]
        if kind == "none":
            return
        table = "s" if kind == "of the other table" else "r"
        self._warehouse.commit(table, self._changed(kind, self._warehouse.rows(table)))
        if self._choice["holder"] == "ahead":
            self._sketches.relations.eager.round().run(1, lambda: False)

    def _changed(self, kind: str, rows: Sequence[Row]) -> list[Row]:
        chance = self._chance
        one = chance.randint(0, MOST_KEYS)

        def some(row: Row) -> bool:
            return row[1] == one or chance.random() < 0.1

        if kind == "delete":
            return [row for row in rows if not some(row)]
        if kind == "end of a group":
            return [row for row in rows if row[1] != one]
        if kind == "update of a value":
            return [(*row[:3], (row[3] or 0) + 2) if some(row) else row for row in rows]
        if kind == "update of a key":
            return [(row[0], one, *row[2:]) if some(row) else row for row in rows]
        return [*rows, *(self._row(100 + number) for number in range(chance.randint(1, 6)))]

    def _row(self, number: int) -> Row:
        chance = self._chance

        def maybe(value: int) -> int | None:
            return None if chance.random() < 0.1 else value

        # Keys of unequal frequency, so that few groups are large.
        key = min(chance.randint(0, MOST_KEYS), chance.randint(0, MOST_KEYS))
        return (number, maybe(key), maybe(chance.randint(0, 3)), maybe(chance.randint(-1 if chance.random() < 0.05 else 0, 4)))


_FULL_JOIN, _DISTINCT = frozenset({"full join"}), frozenset({"DISTINCT", "UNION"})
ATTACK = Attack(
    "driver",
    play,
    tuple(DIMENSIONS),
    (
        *OUT_OF_REACH,
        (
            "the group NULL of a FULL JOIN has rows from anywhere, so that it is cut only by what stands beside its groups",
            {"source": _FULL_JOIN, "around": frozenset({"itself", "filter", "aggregate"})},
        ),
        (
            "no case was found in which a sketch beside a FULL JOIN is used while it is maintained ahead or its partners are looked up",
            {"source": _FULL_JOIN, "holder": frozenset({"few rows kept", "ahead"})},
        ),
        ("a state that is cut by a column that is no group key stays in memory", {"source": _FULL_JOIN, "holder": frozenset({"buckets"})}),
        (
            "rows of a union have no partners, and whatever is asked of them is computed in process",
            {"source": frozenset({"UNION ALL"}), "holder": frozenset({"few rows kept"})},
        ),
        ("rows that DISTINCT tells apart are followed by the next query", {"source": _DISTINCT, "holder": frozenset({"ahead"})}),
        (
            "beside a FULL JOIN is cut by a column that is no group key, which is captured when it is asked for again",
            {"source": _FULL_JOIN, "state": frozenset({"first"})},
        ),
    ),
)
