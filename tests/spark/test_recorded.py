"""Recorded statements of tools: each ends up with a sketch, or runs unchanged for the reason that its file names.

All are asked in rounds, with changes of every table between them, in shadow mode: rows that differ from those of plain Spark are an error.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import count, groupby
from pathlib import Path

import pytest
import sqlalchemy as sa

import imp_driver
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport
from tests.recorded.record import of_sqlalchemy
from tests.recorded.statements import TIED, Statement, read, tools
from tests.recorded.tables import CHANGES, definitions
from tests.seeds import WIDE
from tests.spark.reports import report_of

STATEMENTS = [statement for tool in tools() for statement in read(tool)]
NOT_ANSWERED = {
    ("sqlalchemy", "customers_of_dear_orders"): Reason.LEFT_TO_SPARK,
    ("sqlalchemy", "above_the_average"): Reason.LEFT_TO_SPARK,
    ("sqlalchemy", "number_of_pages"): Reason.LEFT_TO_SPARK,
    ("sqlalchemy", "ranked_totals"): Reason.LEFT_TO_SPARK,
    ("sqlalchemy", "dear_or_many"): Reason.LEFT_TO_SPARK,
    ("sqlalchemy", "with_items_by_subquery_2"): Reason.LEFT_TO_SPARK,
}
"""Statements whose rows Spark gives since something is decided by a sum of doubles."""
PATIENCE = 120.0
"""Seconds until what is captured in the background is there."""
_USED = (Decision.CAPTURED, Decision.MAINTAINED, Decision.FRESH, Decision.RECAPTURED)
Key = tuple[str, str]


@pytest.fixture(scope="module")
def reports(engine: imp_driver.Connection, warehouse: Path) -> dict[Key, list[SketchReport | imp_driver.Error]]:
    """What the driver reported of each statement, round by round."""
    found: dict[Key, list[SketchReport | imp_driver.Error]] = {(each.tool, each.name): [] for each in STATEMENTS}
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off", policy="incremental") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA recorded")
        cursor.execute("USE recorded")
        for definition in definitions():
            cursor.execute(definition)
        for place, changes in enumerate([(), *CHANGES]):
            for change in changes:
                cursor.execute(change)
            for statement in STATEMENTS:
                found[statement.tool, statement.name].append(_asked(cursor, statement, place))
    return found


def _asked(cursor: imp_driver.Cursor, statement: Statement, place: int) -> SketchReport | imp_driver.Error:
    call = statement.calls[place % len(statement.calls)]
    try:
        cursor.execute(call.text, call.values).fetchall()
    except imp_driver.Error as error:
        return error
    return report_of(cursor)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: f"{each.tool}-{each.name}")
def test_statement_ends_as_expected(reports: dict[Key, list[SketchReport | imp_driver.Error]], statement: Statement) -> None:
    found = reports[statement.tool, statement.name]
    assert [each for each in found if isinstance(each, imp_driver.Error)] == []
    seen = [each for each in found if isinstance(each, SketchReport)]
    codes = [reason for reason, _ in groupby(each.reason.name for each in seen)]
    assert tuple(codes) == statement.expected
    assert (seen[-1].decision in _USED and seen[-1].reason is Reason.FILTERED) is statement.is_used


def test_sqlalchemy_writes_these_statements(reports: dict[Key, list[SketchReport | imp_driver.Error]], warehouse: Path) -> None:
    """After the changes, which touch no row whose key is a value of a statement."""
    database = sa.create_engine(f"imp:///{warehouse}?sketch=off&schema=recorded", isolation_level="AUTOCOMMIT")
    assert of_sqlalchemy(database) == read("sqlalchemy")
    database.dispose()


def test_share(reports: dict[Key, list[SketchReport | imp_driver.Error]], capsys: pytest.CaptureFixture[str]) -> None:
    used = Counter(each.tool for each in STATEMENTS if each.is_used)
    every = Counter(each.tool for each in STATEMENTS)
    with capsys.disabled():
        for tool, count in every.items():
            print(f"\n{tool}: {used[tool]} of {count} statements with a sketch", end="")
    assert len(reports) == sum(every.values())


def test_rows_come_from_what_is_maintained(reports: dict[Key, list[SketchReport | imp_driver.Error]], warehouse: Path) -> None:
    """Once what was captured in the background is there; IMP_WIDE=1 compares rows with Spark's."""
    found: dict[Key, Reason | None] = {}
    expected = _expected()
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow" if WIDE else "lazy") as connection:
        cursor = connection.cursor()
        cursor.execute("USE recorded")
        end = time.monotonic() + PATIENCE
        for place in count():
            for statement in STATEMENTS:
                key = (statement.tool, statement.name)
                # Reasons of those that wait change once what they wait for is there.
                if key not in found or found[key] is not expected.get(key):
                    found[key] = _why_not_answered(_asked(cursor, statement, place))
            if all(found[key] is expected.get(key) for key in found) or time.monotonic() > end:
                break
    assert {key: reason for key, reason in found.items() if reason is not expected.get(key)} == {}


def _why_not_answered(report: SketchReport | imp_driver.Error) -> Reason | None:
    if isinstance(report, imp_driver.Error):
        raise report
    if report.served_by in (ServedBy.STATE, ServedBy.STATE_AND_SPARK):
        return None
    return report.reason if report.not_answered is None else report.not_answered.reason


def _expected() -> dict[Key, Reason]:
    """Return the statements that Spark answers, with the reasons."""
    tied = [(each.tool, each.name) for each in STATEMENTS if each.name in TIED]
    return NOT_ANSWERED | (dict.fromkeys(tied, Reason.LEFT_TO_SPARK) if WIDE else {})
