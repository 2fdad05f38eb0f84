"""A dashboard by SQLAlchemy (extra ``sqlalchemy``): tiles with other filters each time, while sales come in. After some rounds no tile
asks Spark."""

from __future__ import annotations

import sys

import sqlalchemy as sa

TILES = {
    "revenue by shop": "SELECT shop, sum(price) AS revenue FROM example_sales WHERE day >= :since GROUP BY shop "
    "ORDER BY revenue DESC LIMIT 5",
    "revenue by month": "SELECT trunc(day, 'MM') AS month, sum(price) AS revenue FROM example_sales WHERE kind = :kind "
    "GROUP BY trunc(day, 'MM')",
    "total": "SELECT count(*) AS sales, avg(price) AS price FROM example_sales WHERE kind = :kind AND day >= :since",
    "newest": "SELECT id, shop, price FROM example_sales ORDER BY id DESC LIMIT 3",
}
ROUNDS = 8


def main(warehouse: str) -> list[dict[str, str]]:
    """Ask all tiles in each round, with a sale between them; return what the rows of each tile came from, round by round."""
    engine = sa.create_engine(f"imp:///{warehouse}", isolation_level="AUTOCOMMIT")
    served = []
    with engine.connect() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS example_sales"))
        connection.execute(
            sa.text(
                "CREATE TABLE example_sales USING DELTA AS SELECT id, CAST(id % 40 AS INT) AS shop, "
                "substr('abc', CAST(id % 3 AS INT) + 1, 1) AS kind, date_add(DATE'2024-01-01', CAST(id % 360 AS INT)) AS day, "
                "CAST(id % 500 AS DECIMAL(10, 2)) AS price FROM range(2000)"
            )
        )
        for number in range(ROUNDS):
            filters = {"since": f"2024-{number + 2:02}-01", "kind": "abc"[number % 3]}
            sources = {}
            for tile, text in TILES.items():
                result = connection.execute(sa.text(text), {name: value for name, value in filters.items() if f":{name}" in text})
                sources[tile] = result.cursor.sketch_report.served_by.value
                result.fetchall()
            connection.execute(sa.text("INSERT INTO example_sales VALUES (:id, 3, 'a', DATE'2024-12-01', 99.00)"), {"id": 5000 + number})
            served.append(sources)
            print(f"round {number + 1}:", "; ".join(f"{tile}: {source}" for tile, source in sources.items()))
    engine.dispose()
    return served


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
