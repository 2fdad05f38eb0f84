"""What SHOW STATES and SHOW INCREMENTAL VIEWS tell of views, and the errors of queries over them: over an engine without a JVM."""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from imp_driver.errors import OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.view_policy import TRIED
from tests.soundness.engine import drained
from tests.soundness.view_attack import NamedWarehouse, ViewedSession

OF_V = "SELECT * FROM `spark_catalog`.`default`.`v`"


@dataclass(slots=True)
class Catalog(ViewedSession):
    """Lists its views too."""

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        if text.startswith("SHOW SCHEMAS"):
            return pa.table({"namespace": ["default"]})
        if text.startswith("SHOW VIEWS"):
            return pa.table({"viewName": list(self.views), "isTemporary": [False] * len(self.views)})
        return ViewedSession.read(self, text, execution, most_bytes)


class World:
    """A warehouse with one connection; ``again`` is another process."""

    def __init__(self) -> None:
        self.warehouse = NamedWarehouse()
        self.warehouse.commit("r", [(number, number % 3, 1, number) for number in range(9)])
        self.session = Catalog(self.warehouse)
        self.again()

    def again(self) -> None:
        self.path = Middleware(self.session, self.warehouse, Sketches(Relations(self.warehouse, 1 << 30)), Options())

    def ask(self, text: str) -> list[dict[str, Any]]:
        stream = self.path.run(Execution(text)).stream
        return [] if stream is None else drained(stream)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("policy", ["AUTO", "STRICT"])
def test_a_state_of_a_view_is_shown_by_the_name_of_the_view(world: World, policy: str) -> None:
    world.ask(f"CREATE INCREMENTAL VIEW v POLICY {policy} AS SELECT g, sum(a) AS s FROM r WHERE a > 1 GROUP BY g")
    [state] = world.ask("SHOW STATES")
    assert state["statement"] == OF_V
    world.ask("SELECT x, count(*) AS n FROM r WHERE a > 2 GROUP BY x")
    assert {each["statement"] for each in world.ask("SHOW SKETCHES")} == {OF_V, "SELECT x, COUNT(*) AS n FROM r WHERE a > ? GROUP BY x"}


def test_a_state_that_was_tried_for_a_view_that_is_no_more_has_the_name_it_was_tried_under(world: World) -> None:
    world.ask("CREATE INCREMENTAL VIEW v POLICY STRICT AS SELECT g, sum(a) AS s FROM r GROUP BY g")
    world.path._sketches.relations.views.forget(("spark_catalog", "default", "v"))
    [state] = world.ask("SHOW STATES")
    assert TRIED in state["statement"]
    assert "\n" not in state["statement"]


def test_a_view_that_no_query_has_had_held_says_what_to_do(world: World) -> None:
    world.ask("CREATE INCREMENTAL VIEW v AS SELECT g, sum(a) AS s FROM r GROUP BY g")
    world.again()
    [view] = world.ask("SHOW INCREMENTAL VIEWS")
    assert (view["states"], view["rows"]) == (None, 0)
    assert view["reason"].startswith("no query of this process has had its rows held yet; SELECT * FROM the view does, ")
    world.ask("SELECT * FROM v")
    [view] = world.ask("SHOW INCREMENTAL VIEWS")
    assert (view["reason"], view["rows"]) == (None, 3)


def test_a_query_that_spark_may_not_compute_is_an_error_of_pep_249(world: World) -> None:
    world.ask("CREATE INCREMENTAL VIEW v POLICY STRICT AS SELECT g, sum(a) AS s FROM r GROUP BY g")
    with pytest.raises(OperationalError, match=r"POLICY STRICT, and the query is not answered .*NON_DETERMINISTIC") as raised:
        world.ask("SELECT rand() + s AS x FROM v")
    assert type(raised.value) is OperationalError
    assert "NotAnswered" not in "".join(traceback.format_exception(raised.value))
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
