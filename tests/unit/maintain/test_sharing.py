"""States that serve several templates with one plan prefix."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision
from imp_driver.state.maintained import Maintained
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.soundness.engine import DuckSession, Warehouse, drained

SUMS = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 3"
JOIN = "SELECT r.g, count(*) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING count(*) > 8"
SUMS_ABOVE = "SELECT u.g FROM (SELECT g, sum(a) AS f FROM r GROUP BY g) u WHERE u.f > 11"
TOP = "SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC, g LIMIT 3"
LARGEST = "SELECT g, max(x) AS m FROM r GROUP BY g HAVING max(x) > 1 AND count(*) > 2"
BOTH = "SELECT g FROM r GROUP BY g HAVING sum(a) > 11 OR max(x) < 2"
OTHER_ORDER = "SELECT g FROM r GROUP BY g HAVING max(x) < 2 AND sum(a) > 3"


class World:
    def __init__(self) -> None:
        self.warehouse = Warehouse()
        self.warehouse.commit("r", [(number, number % 10, number % 3, number % 5) for number in range(60)])
        self.warehouse.commit("s", [(number, number % 10, number % 3, number % 5) for number in range(30)])
        self.sketches = Sketches(Relations(self.warehouse, 1 << 30))
        # Shadow mode compares each answer with the plain one.
        self.middleware = Middleware(
            DuckSession(self.warehouse), self.warehouse, self.sketches, Options(answers=False, sketch=SketchMode.SHADOW)
        )

    def ask(self, text: str) -> SketchReport:
        outcome = self.middleware.run(Execution(text))
        drained(outcome.stream)
        return outcome.report

    def insert(self, g: int, a: int) -> None:
        self.warehouse.commit("r", [*self.warehouse.rows("r"), (99, g, 0, a)])

    @property
    def states(self) -> list[Maintained]:
        return [entry for entry in self.sketches.relations.registry.relations() if entry.state is not None]


@pytest.mark.parametrize("other", [SUMS_ABOVE, TOP])
def test_another_template_over_the_same_groups_needs_no_capture(other: str) -> None:
    world = World()
    assert world.ask(SUMS).decision is Decision.CAPTURED
    assert world.ask(other).decision is Decision.FRESH
    world.insert(2, 40)
    assert world.ask(other).decision is Decision.MAINTAINED
    assert world.ask(SUMS).decision is Decision.FRESH
    assert len(world.states) == 1


def test_a_state_with_more_aggregates_serves_those_with_fewer() -> None:
    world = World()
    assert world.ask(BOTH).decision is Decision.CAPTURED
    for text in (SUMS, TOP, SUMS_ABOVE, OTHER_ORDER):
        assert world.ask(text).decision is Decision.FRESH
    assert world.ask(LARGEST).decision is Decision.CAPTURED


def test_a_state_takes_the_place_of_those_that_it_can_serve() -> None:
    world = World()
    for text in (SUMS, LARGEST, BOTH):
        assert world.ask(text).decision is Decision.CAPTURED
    assert sorted(len(entry.block.aggregates) for entry in world.states if entry.block is not None) == [2, 2]
    for change, texts in enumerate(((SUMS, BOTH, TOP), (TOP, SUMS_ABOVE, BOTH, SUMS))):
        world.insert(change, 50)
        decisions = [world.ask(text).decision for text in texts]
        assert decisions == [Decision.MAINTAINED, *[Decision.FRESH] * (len(texts) - 1)]


def test_states_of_other_rows_or_other_groups_are_apart() -> None:
    world = World()
    world.ask(SUMS)
    for other in (
        "SELECT g, sum(a) AS f FROM r WHERE x = 1 GROUP BY g HAVING sum(a) > 3",
        "SELECT g, x, sum(a) AS f FROM r GROUP BY g, x HAVING sum(a) > 3",
    ):
        assert world.ask(other).decision is Decision.CAPTURED
    assert len(world.states) == 3


def explained(world: World, text: str) -> str:
    stream = world.middleware.run(Execution(f"EXPLAIN SKETCH {text}")).stream
    assert stream is not None
    batch = stream.next_batch()
    assert batch is not None
    return "\n".join(map(str, pa.Table.from_batches([batch]).column(0).to_pylist()))


def test_sketches_are_shown_for_every_template_that_they_serve() -> None:
    world = World()
    world.ask(SUMS)
    world.ask(TOP)
    assert f"Sketch {world.states[0].identifier}: version" in explained(world, TOP)


def test_explain_says_which_operators_follow_changes_and_which_are_left_to_spark() -> None:
    world = World()
    assert "Changes are followed by:\n  join\n    table r\n    table s" in explained(world, JOIN)
    spread = "SELECT k, var_pop(y) AS v FROM s GROUP BY k"
    spread = f"SELECT r.g, count(*) AS c FROM r JOIN ({spread}) q ON q.k = r.g WHERE q.v >= 0 GROUP BY r.g HAVING count(*) > 8"
    assert "below other operators" in explained(world, spread)
    assert "Changes are followed" not in explained(world, SUMS)
    for number in range(3):
        world.ask(JOIN)
        world.insert(number, 5)
    lines = explained(world, JOIN)
    assert "  in memory, for changes: table r: " in lines
    assert "  in memory, for changes: table s: 30 rows, " in lines


def test_explain_does_not_wait_for_a_state_that_another_connection_changes() -> None:
    world = World()
    world.ask(SUMS)
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with world.states[0].ownership.held():
            taken.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(10)
    try:
        assert "another connection is changing it" in explained(world, SUMS)
    finally:
        done.set()
        thread.join()
