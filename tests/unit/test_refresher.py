"""Which materialized views are refreshed by themselves, and when."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from imp_driver.errors import OperationalError
from imp_driver.ports import Outcome
from imp_driver.refresher import LOOK_SECONDS, Rounds
from imp_driver.state.named_views import Schedule
from tests.soundness.engine import TableStream


@dataclass(slots=True)
class Warehouse:
    """Answers what the rounds ask; ``views`` are refreshed every so many seconds."""

    views: dict[str, int | None]
    asked: list[str] = field(default_factory=list)
    broken: bool = False

    def ask(self, text: str) -> Outcome:
        if text.startswith("SHOW"):
            self.asked.append("look")
            rows = pa.table({"view_name": pa.array(self.views, pa.string()), "every_seconds": pa.array([*self.views.values()], pa.int64())})
            return Outcome(TableStream(rows.schema, rows.to_batches()), -1, None)  # type: ignore[arg-type]
        self.asked.append(text.removeprefix("REFRESH MATERIALIZED VIEW ").replace("`", ""))
        if self.broken:
            raise OperationalError("broken")
        return Outcome(None, 0, None)  # type: ignore[arg-type]

    def taken(self) -> list[str]:
        found, self.asked = self.asked, []
        return found


@pytest.fixture
def schedule() -> Schedule:
    return Schedule()


def test_views_are_refreshed_when_they_are_due(schedule: Schedule) -> None:
    now = [0.0]
    warehouse = Warehouse({"c.s.a": 2, "c.s.b": None, "c.s.d": 5})
    rounds = Rounds(schedule, lambda: now[0])

    def tick(at: float) -> list[str]:
        now[0] = at
        rounds.tick(warehouse.ask, lambda: False)
        return warehouse.taken()

    assert tick(0) == ["look", "c.s.a", "c.s.d"]
    assert tick(1) == []
    assert tick(2) == ["c.s.a"]
    assert tick(5) == ["c.s.a", "c.s.d"]
    # One more of this process, which another one dropped later.
    warehouse.views["c.s.e"] = 100
    assert tick(5.5) == []
    schedule.changes += 1
    assert tick(6) == ["look", "c.s.e"]
    del warehouse.views["c.s.a"]
    assert tick(6 + LOOK_SECONDS) == ["look", "c.s.d"]


def test_what_fails_is_told_and_tried_again(schedule: Schedule, caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    warehouse = Warehouse({"c.s.a": 1}, broken=True)
    rounds = Rounds(schedule, lambda: now[0])
    for now[0] in (0.0, 1.0):
        rounds.tick(warehouse.ask, lambda: False)
    assert schedule.problems == {("c", "s", "a"): "broken"}
    assert [record.getMessage() for record in caplog.records] == ["The refresh of c.s.a failed, and is tried again: OperationalError"]
    warehouse.broken, now[0] = False, 2.0
    rounds.tick(warehouse.ask, lambda: False)
    assert schedule.problems == {}
    # Nothing is begun once it is over.
    warehouse.taken()
    now[0] = 9.0
    rounds.tick(warehouse.ask, lambda: True)
    assert warehouse.taken() == []
