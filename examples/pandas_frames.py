"""A pandas data frame into a Delta table and back, and a query with parameters into a frame."""

from __future__ import annotations

import sys

import pandas
import sqlalchemy as sa


def main(warehouse: str) -> pandas.DataFrame:
    """Write a frame, read it again, and return the rows of a query."""
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=lazy", isolation_level="AUTOCOMMIT")
    days = pandas.date_range("2024-01-01", periods=50, freq="D")
    frame = pandas.DataFrame({"shop": range(50), "day": days, "price": [number * 1.5 for number in range(50)], "note": ["it's"] * 50})
    # One commit of Delta, however many rows.
    frame.to_sql("example_frame", engine, if_exists="replace", index=False)
    again = pandas.read_sql_table("example_frame", engine).sort_values("shop", ignore_index=True)
    print("the same rows:", again.equals(frame.astype(again.dtypes.to_dict())))
    text = sa.text("SELECT shop, sum(price) AS total FROM example_frame GROUP BY shop HAVING sum(price) > :low ORDER BY shop")
    found = pandas.read_sql_query(text, engine, params={"low": 70})
    print(found)
    engine.dispose()
    return found


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
