"""States of queries over graphs are listed and dropped as others are: the driver over a table in memory, without an engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from imp_driver.errors import OperationalError, ProgrammingError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import Relation, RelationKind, ResultStream
from imp_driver.reasons import Decision
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession, Warehouse, drained
from tests.unit.answer.graphs.test_followed import KNOWS, B, C, OneTable, Reads

QUERY = "SPARQL SELECT ?x ?y FROM <g> { ?x <knows> ?y }"


@dataclass
class GraphSession(DuckSession):
    """Has the graph ``g``, which it may be kept from reading, and nothing else."""

    graph: OneTable = field(default_factory=OneTable)
    is_hidden: bool = False

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        return Relation(RelationKind.DELTA_TABLE, ("g",), "/g") if name[-1] == "g" else None

    def execute(self, execution: Execution) -> ResultStream:
        raise OperationalError("There is no engine.")

    def may_read(self, name: tuple[str, ...]) -> bool:
        return not self.is_hidden

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        return self.graph.load(text)


class World:
    """One connection, and the sketches of its warehouse."""

    def __init__(self, memory: int = 1 << 20) -> None:
        self.session = GraphSession(Warehouse())
        self.sketches = Sketches(Relations(Reads(self.session.graph), memory))  # type: ignore[arg-type]
        self._middleware = Middleware(self.session, Reads(self.session.graph), self.sketches, Options(memory=memory))  # type: ignore[arg-type]

    def ask(self, text: str = QUERY) -> list[dict[str, object]]:
        outcome = self._middleware.run(Execution(text))
        self.report, self.rowcount = outcome.report, outcome.rowcount
        return [] if outcome.stream is None else drained(outcome.stream)


def test_what_is_kept_is_listed_with_what_it_took_and_served() -> None:
    world = World()
    assert world.ask("SHOW STATES") == []
    world.ask()
    world.session.graph.commit((B, KNOWS, C, None))
    assert len(world.ask()) == 2
    identifier = world.report.sketch_id
    [row] = world.ask("SHOW STATES")
    wanted = {
        "sketch_id": identifier,
        "table_name": "g",
        "version": 1,
        "lives_in": "memory",
        "groups": 2,
        "uses": 2,
        "answers": 2,
        "captures": 1,
        "maintained": 1,
        "delta_rows": 1,
        "problem": None,
        "statement": QUERY,
    }
    assert {name: row[name] for name in wanted} == wanted
    assert row["bytes"] == world.sketches.relations.gauges()["imp_graph_bytes"] > 0
    assert world.sketches.relations.gauges()["imp_graph_states"] == 1


def test_explain_names_the_state_of_a_query() -> None:
    world = World()
    assert "State: to be captured." in [row["plan"] for row in world.ask(f"EXPLAIN {QUERY}")]
    world.ask()
    identifier = world.report.sketch_id
    lines = [str(row["plan"]) for row in world.ask(f"EXPLAIN {QUERY}")]
    assert any(line.startswith(f"State {identifier}: 1 solutions, ") and line.endswith("; g at version 0.") for line in lines)


@pytest.mark.parametrize("statement", ["DROP STATE {}", "DROP SKETCH {}", "DROP STATE ALL"])
def test_what_is_dropped_is_captured_again(statement: str) -> None:
    world = World()
    world.ask()
    world.ask(statement.format(world.report.sketch_id))
    assert world.rowcount == 1
    assert world.ask("SHOW STATES") == []
    world.ask()
    assert world.report.decision is Decision.CAPTURED


def test_another_one_stays() -> None:
    world = World()
    world.ask()
    dropped = world.report.sketch_id
    world.ask(QUERY.replace("knows", "likes"))
    kept = world.report.sketch_id
    world.ask(f"DROP STATE {dropped}")
    assert [row["sketch_id"] for row in world.ask("SHOW STATES")] == [kept]
    with pytest.raises(ProgrammingError, match="There is no sketch"):
        world.ask(f"DROP STATE {dropped}")


def test_what_may_not_be_read_is_neither_told_nor_dropped() -> None:
    world = World()
    world.ask()
    identifier = world.report.sketch_id
    world.session.is_hidden = True
    assert world.ask("SHOW STATES") == []
    with pytest.raises(ProgrammingError, match="There is no sketch"):
        world.ask(f"DROP STATE {identifier}")
    world.session.is_hidden = False
    assert [row["sketch_id"] for row in world.ask("SHOW STATES")] == [identifier]


def test_why_solutions_are_not_kept_is_told() -> None:
    world = World(memory=1_000)
    world.session.graph.commit(*((B, KNOWS, f"<{number}>", None) for number in range(100)))
    with pytest.raises(OperationalError, match="no engine"):
        world.ask()
    [*_, row] = world.ask("SHOW STATES")
    assert (row["groups"], row["lives_in"], row["bytes"]) == (None, None, 0)
    assert str(row["problem"]).startswith("STATE_TOO_LARGE")
    assert f"State {row['sketch_id']}: {row['problem']}." in [line["plan"] for line in world.ask(f"EXPLAIN {QUERY}")]
