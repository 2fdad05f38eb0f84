"""A table, a dashboard query, a change, and the query again: what the driver did each time."""

from __future__ import annotations

import sys

import imp_driver


def main(warehouse: str) -> None:
    with imp_driver.connect(warehouse=warehouse, sketch="lazy") as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE OR REPLACE TABLE sales (shop INT, price INT) USING DELTA")
        cursor.executemany("INSERT INTO sales VALUES (?, ?)", [(shop, shop) for shop in range(100) for _ in range(10)])
        query = "SELECT shop, sum(price) AS total FROM sales GROUP BY shop HAVING sum(price) > ?"
        for change in (None, "UPDATE sales SET price = price + 100 WHERE shop = 7", "DELETE FROM sales WHERE shop = 7"):
            if change:
                cursor.execute(change)
                print(f"{change}: {cursor.rowcount} rows")
            print(cursor.execute(query, (970,)).fetchall())
            report = cursor.sketch_report
            if report is not None:
                print(f"  by {report.served_by.value} ({report.decision.name}, {report.delta_rows} changed rows read)")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
