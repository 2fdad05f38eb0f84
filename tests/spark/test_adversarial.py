"""The adversarial cases as SQL on Spark: what the calculus refuses would be wrong there too, and the driver's rows are the plain ones.

Cases that are flows of changes and not single queries stand in test_main_job.py and test_changes.py: rows outside the captured bounds, an
updated key column, OPTIMIZE, RESTORE and VACUUM, versions that move, one text with two meanings, duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import imp_driver
from imp_driver.parse.statement import parse
from imp_driver.plan.nodes import scans
from imp_driver.plan.resolve import resolve
from imp_driver.rewrite.splice import find_reference
from tests.faults.lake import Process
from tests.seeds import WIDE
from tests.soundness.cases import CASES, Case, Rows
from tests.soundness.tables import COLUMNS, Catalog
from tests.spark.reports import report_of

LIMITS = (
    ("SELECT g, count(*) AS n FROM r GROUP BY g LIMIT 1", "LIMIT_WITHOUT_ORDER"),
    ("SELECT id, rn FROM (SELECT *, row_number() OVER (ORDER BY id) AS rn FROM r) t WHERE a > 2", "ORDER_NOT_TOTAL"),
    ("SELECT g FROM r GROUP BY g HAVING rand() < sum(a)", "NON_DETERMINISTIC"),
)


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE SCHEMA adversarial")
        cursor.execute("USE adversarial")
        for table, columns in COLUMNS.items():
            cursor.execute(f"CREATE TABLE {table} ({', '.join(f'{column} INT' for column in columns)}) USING DELTA")
        yield cursor


@pytest.fixture(scope="module")
def plain(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as connection:
        yield connection.cursor()


def _values(rows: Rows) -> str:
    return ", ".join("(" + ", ".join("NULL" if value is None else str(value) for value in row) + ")" for row in rows)


def _cut(case: Case) -> str:
    """Return the query with the retained values of the case as filters on its occurrences."""
    statement = parse(case.text)
    assert statement.tree is not None
    text = case.text
    for scan in sorted(
        scans(resolve(statement.tree, Catalog())), key=lambda scan: find_reference(statement, scan.place).start, reverse=True
    ):
        if scan.occurrence in case.cut:
            column, values = case.cut[scan.occurrence]
            reference = find_reference(statement, scan.place)
            kept = " OR ".join([f"{column} <=> {'NULL' if value is None else value}" for value in values]) or "FALSE"
            alias = "" if reference.alias else f" AS {reference.name}"
            text = f"{text[: reference.start]}(SELECT * FROM {scan.table[-1]} WHERE {kept}){alias}{text[reference.end :]}"
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_using_the_cut_would_be_wrong_on_spark(plain: imp_driver.Cursor, case: Case) -> None:
    """One statement asks for both answers, over rows that it brings along: a case costs no table and no commit."""
    sources = ", ".join(f"{table} AS ({_source(table, rows)})" for table, rows in (("r", case.r), ("s", case.s)))
    both = f"SELECT 'whole', * FROM ({case.text}) UNION ALL SELECT 'cut', * FROM ({_cut(case)})"
    found: dict[str, Counter[tuple[object, ...]]] = {"whole": Counter(), "cut": Counter()}
    for which, *row in plain.execute(f"WITH {sources} {both}").fetchall():
        found[which][tuple(row)] += 1
    assert found["cut"] != found["whole"]


def _source(table: str, rows: Rows) -> str:
    columns = ", ".join(f"CAST({column} AS INT) AS {column}" for column in COLUMNS[table])
    values = f"VALUES {_values(rows or ((0, 0, 0, 0),))} AS v({', '.join(COLUMNS[table])})"
    return f"SELECT {columns} FROM {values} WHERE {'TRUE' if rows else 'FALSE'}"


def test_driver_returns_the_plain_rows_of_every_case(cursor: imp_driver.Cursor, warehouse: Path, tmp_path: Path) -> None:
    """Shadow mode raises on a difference. Another writer overwrites the tables from case to case, which is cheaper than by Spark.

    An engine without a JVM takes the place of Spark, of which the test above proves what matters; IMP_WIDE=1 asks Spark too.
    """
    decisions = asked_without_jvm(tmp_path)
    if WIDE:
        assert asked(cursor, warehouse / "adversarial.db") == decisions
    assert decisions["CAPTURED"] > 10
    assert decisions["NOT_USED"] > 5


def asked_without_jvm(folder: Path) -> Counter[str]:
    """Ask all cases, return how often each decision was made."""
    with closing(Process(folder)) as process:
        return Counter(process.ask(case.text).decision.name for case in written(folder))


def asked(cursor: imp_driver.Cursor, folder: Path) -> Counter[str]:
    """Ask all cases of Spark, return how often each decision was made."""
    decisions: Counter[str] = Counter()
    for case in written(folder):
        cursor.execute(case.text).fetchall()
        decisions[report_of(cursor).decision.name] += 1
    return decisions


def written(folder: Path) -> Iterator[Case]:
    """Yield each case when its tables stand in the folder."""
    present: dict[str, Rows | None] = {"r": None, "s": None}
    for case in CASES:
        for table, rows in (("r", case.r), ("s", case.s)):
            if present[table] != rows:
                columns = zip(*rows, strict=True) if rows else ((), (), (), ())
                arrays = [pa.array(values, pa.int32()) for values in columns]
                # A table of Spark's, which is there already, has a change feed as well.
                feed = None if (folder / table).exists() else {"delta.enableChangeDataFeed": "true"}
                write_deltalake(folder / table, pa.table(arrays, list(COLUMNS[table])), mode="overwrite", configuration=feed)
                present[table] = rows
        yield case


@pytest.mark.parametrize(("text", "reason"), LIMITS)
def test_query_without_one_answer_is_refused(cursor: imp_driver.Cursor, text: str, reason: str) -> None:
    cursor.execute(text).fetchall()
    assert cursor.sketch_report is not None
    assert cursor.sketch_report.reason.name == reason
