"""States that serve blocks with other row conditions: which groups they hold decides what they may be asked."""

from __future__ import annotations

import pyarrow as pa
import pytest

from imp_driver.errors import DataError
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession
from tests.unit.maintain.test_sharing import World

ALL = "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 1"
ON_KEYS = (
    "g + 1 > 5",
    "g % 2 = 0",
    "abs(g - 5) > 2",
    "coalesce(g, 0) > 4",
    "nullif(g, 4) < 9",
    "CASE WHEN g > 4 THEN g < 9 ELSE g = 2 END",
    "IF(g > 4, g < 8, FALSE)",
    "greatest(g, 2) < 4",
    "CAST(g AS STRING) LIKE '%7'",
    "substring(CAST(g AS STRING), 1, 1) > '6'",
    "(g > 7 OR g + 1 < 3)",
    "g > 2 AND g % 3 = 1",
)


@pytest.mark.parametrize(
    "end", ["ORDER BY f DESC, g LIMIT 2", "ORDER BY f, g LIMIT 2", "ORDER BY f DESC, g LIMIT 1 OFFSET 1", "ORDER BY g LIMIT 2"]
)
@pytest.mark.parametrize("condition", ON_KEYS)
def test_first_groups_are_not_asked_of_a_state_with_groups_that_the_block_has_not(condition: str, end: str) -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    world.ask(f"SELECT g, sum(a) AS f FROM r WHERE {condition} GROUP BY g {end}")


@pytest.mark.parametrize("condition", ["g + 1 > {}", "g % {} = 0", "abs(g - 9) < {}"])
def test_first_groups_are_not_asked_of_a_state_of_other_constants(condition: str) -> None:
    world = World()
    top = f"SELECT g, sum(a) AS f FROM r WHERE {condition} GROUP BY g ORDER BY f DESC, g LIMIT 3"
    for constant in (1, 6, 4, 2):
        world.ask(top.format(constant))


def test_plain_comparisons_are_asked_of_the_groups_before_the_first_are_taken() -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    report = world.ask("SELECT g, sum(a) AS f FROM r WHERE g > 3 AND g < 8 GROUP BY g ORDER BY f DESC, g LIMIT 2")
    assert report.decision is Decision.FRESH


def test_conditions_on_groups_are_asked_of_a_state_with_more_groups() -> None:
    world = World()
    assert world.ask(ALL).decision is Decision.CAPTURED
    report = world.ask("SELECT g, sum(a) AS f FROM r WHERE g % 2 = 0 GROUP BY g HAVING sum(a) > 13")
    assert report.decision is Decision.FRESH
    assert "served by the state of other constants" in report.detail


class _Overflowing(DuckSession):
    """Finds a row with a large key, for which ``g * 2`` cannot be computed, where no condition on keys keeps it away."""

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        if "* 2" in text and "g < " not in text.replace("`", ""):
            raise DataError("[ARITHMETIC_OVERFLOW] overflow", error_class="ARITHMETIC_OVERFLOW")
        return DuckSession.read(self, text, execution, most_bytes)


def test_where_all_groups_cannot_be_captured_those_that_the_conditions_leave_are() -> None:
    world = World()
    world.middleware = Middleware(
        _Overflowing(world.warehouse), world.warehouse, world.sketches, Options(answers=False, sketch=SketchMode.SHADOW)
    )
    text = "SELECT g, sum(a) AS f FROM r WHERE g < {} AND g * 2 < {} GROUP BY g HAVING sum(a) > 3"
    assert world.ask(text.format(7, 9)).decision is Decision.CAPTURED
    assert world.ask(text.format(8, 11)).reason is Reason.CAPTURE_FAILED
    deferred, captured, fresh = (world.ask(text.format(8, 11)) for _ in range(3))
    assert deferred.reason is Reason.CAPTURE_DEFERRED
    assert (captured.decision, fresh.decision) == (Decision.CAPTURED, Decision.FRESH)
    world.insert(2, 40)
    assert world.ask(text.format(8, 11)).decision is Decision.MAINTAINED
