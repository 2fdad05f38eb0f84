"""A polars data frame into a Delta table and back: through SQLAlchemy, through the driver, and as Arrow."""

from __future__ import annotations

import datetime
import sys

import polars
import sqlalchemy as sa

import imp_driver

TOTALS = "SELECT shop, sum(price) AS total FROM example_polars GROUP BY shop HAVING sum(price) > ? ORDER BY shop"


def main(warehouse: str) -> list[polars.DataFrame]:
    """Write a frame, read it again, and return the rows of one query, read in two ways."""
    first = datetime.date(2024, 1, 1)
    frame = polars.DataFrame(
        {
            "shop": range(50),
            "day": [first + datetime.timedelta(days=number) for number in range(50)],
            "price": [number * 1.5 for number in range(50)],
            "note": ["it's"] * 50,
        }
    )
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=lazy", isolation_level="AUTOCOMMIT")
    # One commit of Delta, however many rows.
    frame.write_database("example_polars", engine, if_table_exists="replace")
    again = polars.read_database("SELECT * FROM example_polars ORDER BY shop", engine)
    print("the same rows:", again.equals(frame))
    engine.dispose()
    with imp_driver.connect(warehouse=warehouse, sketch="lazy") as connection:
        # polars fetches tuples from drivers that it does not know by name ..
        by_rows = polars.read_database(TOTALS, connection, execute_options={"parameters": (70,)})
        # .. but takes the rows of a cursor as Arrow, and then no value becomes an object of Python.
        cursor = connection.cursor()
        by_arrow = polars.DataFrame(cursor.execute(TOTALS, (70,)))
        print(by_arrow, cursor.sketch_report and cursor.sketch_report.decision.name)
    return [by_rows, by_arrow]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
