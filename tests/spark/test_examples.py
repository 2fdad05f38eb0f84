"""The examples run as they stand."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import pytest

import imp_driver
from examples import (
    alembic_migration,
    asyncio_engine,
    bill_of_materials,
    dashboard,
    fraud_rings,
    jupysql_magic,
    network_monitoring,
    order_book,
    pandas_frames,
    polars_frames,
    products_and_reviews,
    quickstart,
    sqlalchemy_orm,
    views_and_suppositions,
)
from imp_driver.reasons import ServedBy
from tests.seeds import of_today

Check: TypeAlias = Callable[[Path, pytest.CaptureFixture[str]], None]


def test_quickstart(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quickstart.main(str(warehouse))
    shown = capsys.readouterr().out
    assert "UPDATE sales SET price = price + 100 WHERE shop = 7: 10 rows" in shown
    assert shown.count("(99, 990)") == 3
    assert shown.count("(7, 1070)") == 1
    assert shown.count(f"by {ServedBy.STATE.value} (") == 3


def test_sqlalchemy_orm(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sqlalchemy_orm.main(str(warehouse))
    assert [tuple(row) for row in rows] == [(3, 1030.0), (39, 390.0), (38, 380.0), (37, 370.0), (36, 360.0)]
    shown = capsys.readouterr().out
    assert "CAPTURED" in shown
    assert "MAINTAINED" in shown
    # Filled at once, and one more sale.
    with engine.execute("DESCRIBE HISTORY example_sale") as history:
        assert [row[4] for row in history.fetchall()].count("WRITE") == 2


def test_views_and_suppositions(engine: imp_driver.Connection, warehouse: Path) -> None:
    seen = views_and_suppositions.main(str(warehouse))
    assert [source for source, _ in seen][:3] == ["STATE"] * 3
    # 2,000 rows of 3, 8, .. 98; one of 1,000; those above 90 gone; one more.
    assert [row for _, row in seen] == ["(3, 101000)", "(3, 102000)", "(3, 81900)", "(102001,)"]


def test_dashboard(engine: imp_driver.Connection, warehouse: Path) -> None:
    served = dashboard.main(str(warehouse))
    # What is captured in the background may be late on a busy machine.
    assert {tile for sources in served for tile, source in sources.items() if source == ServedBy.STATE.value} == set(dashboard.TILES)


def _bill_of_materials(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = bill_of_materials.main(str(warehouse))
    assert [cost["bicycle"] for cost in costs] == [Decimal(each) for each in ("359.30", "365.70", "361.70", "359.90")]
    assert all(set(cost) == {"bicycle", "wheel", "frame", "trailer"} for cost in costs)
    shown = capsys.readouterr().out
    assert shown.count("MAINTAINED") == 3
    assert "would contain themselves: [('hub',), ('wheel',)]" in shown


def _network_monitoring(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Two rings of four without a link between them: 4 * 4 pairs each way.
    assert network_monitoring.main(str(warehouse)) == [(0, 1), (0, 1), (32, None), (0, 5), (0, 5)]
    assert capsys.readouterr().out.count("MAINTAINED") == 4


def _fraud_rings(warehouse: Path, _: pytest.CaptureFixture[str]) -> None:
    seen = fraud_rings.main(str(warehouse))
    assert [returned for returned, _ in seen] == [["amber", "ember"], *[["amber", "dune", "ember"]] * 3, ["dune", "ember"]]
    assert [sorted(rings) for _, rings in seen[1:3]] == [
        ["amber", "beryl", "coral", "dune", "ember", "fern"],
        ["amber", "beryl", "coral", "dune", "ember", "fern", "grove"],
    ]
    assert seen[-1][1] == {"dune": "dune", "ember": "dune", "fern": "dune"}


def _order_book(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = order_book.main(str(warehouse))
    assert [f"{price:.2f}" for price, _ in seen] == ["117.29", "118.73", "118.20", "117.77", "117.33", "116.70", "116.85", "116.85"]
    assert {served_by for _, served_by in seen} == {"STATE"}
    assert capsys.readouterr().out.count("MAINTAINED") == 6


def _products_and_reviews(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdflib")
    seen = products_and_reviews.main(str(warehouse))
    listed = [[(label, price) for label, price, _ in rows] for rows, _ in seen]
    first = [("Bulb", Decimal("4.50")), ("Desk lamp", Decimal("39.90")), ("Chair", 120)]
    assert listed[0] == first
    assert ("Chair mat", 25) in listed[1]
    assert [price for _, price in listed[3]] == [Decimal("9.0"), 25, Decimal("79.80"), 120]
    assert [label for label, _ in listed[4]] == ["Chair mat", "Desk lamp", "Chair"]
    assert [extra for _, _, extra in seen[4][0]] == [None, None, "Chair mat"]
    assert [rows for _, rows in seen[3:]] == [
        [("Bulb", 0, None), ("Chair", 1, 2.0), ("Chair mat", 1, 4.0), ("Desk lamp", 2, 4.5)],
        [("Chair", 1, 2.0), ("Chair mat", 1, 4.0), ("Desk lamp", 2, 4.5)],
    ]
    assert capsys.readouterr().out.count("from STATE") == 5


EXAMPLES = [_bill_of_materials, _network_monitoring, _fraud_rings, _order_book, _products_and_reviews]


@pytest.mark.parametrize("check", of_today(EXAMPLES, len(EXAMPLES)))
def test_what_is_followed(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str], check: Check) -> None:
    """One of these each day."""
    check(warehouse, capsys)


def test_pandas_frames(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = pandas_frames.main(str(warehouse))
    assert found["shop"].tolist() == [47, 48, 49]
    assert found["total"].tolist() == [70.5, 72.0, 73.5]
    assert "the same rows: True" in capsys.readouterr().out


def test_polars_frames(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_rows, by_arrow = polars_frames.main(str(warehouse))
    assert by_arrow.rows() == [(47, 70.5), (48, 72.0), (49, 73.5)]
    assert by_rows.equals(by_arrow)
    assert "the same rows: True" in capsys.readouterr().out


def test_jupysql_magic(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = jupysql_magic.main(str(warehouse))
    assert [tuple(row) for row in rows] == [(49, 4945.0), (48, 4845.0), (47, 4745.0)]
    assert "4945.0" in capsys.readouterr().out


def test_alembic_migration(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert alembic_migration.main(str(warehouse)) == [["id", "customer", "price"], ["id", "customer"]]
    up, down = capsys.readouterr().out.splitlines()
    assert "price < 1000" in up
    assert "by_customer" in up
    assert down.endswith("[] []")


def test_asyncio_engine(engine: imp_driver.Connection, warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asyncio_engine.main(str(warehouse)) == [[(18, 1080), (19, 1090)], [(19, 1090)]]
    shown = capsys.readouterr().out
    assert "first of the stream: [(0,), (1,), (2,)]" in shown
    assert "the connection goes on: yes" in shown
