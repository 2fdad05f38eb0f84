"""Views that are kept up to date, a table of one for everybody else, and what would be after changes that nobody makes."""

from __future__ import annotations

import sys

import imp_driver


def main(warehouse: str) -> list[tuple[str, str]]:
    """Return what each reading came from, and its first row."""
    seen = []
    with imp_driver.connect(warehouse=warehouse) as connection, connection.cursor() as cursor:

        def show(text: str) -> None:
            row = cursor.execute(text).fetchone()
            assert cursor.sketch_report is not None
            seen.append((cursor.sketch_report.served_by.name, str(row)))
            print(f"{seen[-1][0]:6} {row} <- {text}")

        for what in ("INCREMENTAL VIEW IF EXISTS view_regions", "MATERIALIZED VIEW IF EXISTS view_table", "TABLE IF EXISTS view_orders"):
            cursor.execute(f"DROP {what}")
        cursor.execute("CREATE TABLE view_orders USING DELTA AS SELECT id, id % 5 AS region, id % 100 AS price FROM range(10000)")
        query = "SELECT region, sum(price) AS revenue FROM view_orders GROUP BY region"
        cursor.execute(f"CREATE INCREMENTAL VIEW view_regions POLICY STRICT AS {query}")
        show("SELECT * FROM view_regions WHERE region = 3")
        cursor.execute("INSERT INTO view_orders VALUES (10000, 3, 1000)")
        show("SELECT * FROM view_regions WHERE region = 3")
        show("WHAT IF (DELETE FROM view_orders WHERE price > 90) SELECT * FROM view_regions WHERE region = 3")
        cursor.execute("CREATE MATERIALIZED VIEW view_table AS SELECT region, revenue FROM view_regions")
        cursor.execute("UPDATE view_orders SET price = price + 1 WHERE id = 3")
        cursor.execute("REFRESH MATERIALIZED VIEW view_table")
        print(f"{cursor.rowcount} rows written")
        show("SELECT revenue FROM view_table WHERE region = 3")
    return seen


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
