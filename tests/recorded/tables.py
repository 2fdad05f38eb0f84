"""The tables of the recorded statements: small, in 20 files and more each, clustered by the column that a warehouse would choose.

A web shop (``customers``, ``orders`` clustered by customer, ``items`` clustered by order, ``products``) that an application reads through
an object-relational mapper, and two tables of dashboards: ``sales`` clustered by shop, ``visits`` clustered by time.
"""

from __future__ import annotations

from collections.abc import Iterator

_ORDERED = "timestamp_ntz'2024-01-01 08:00:00' + make_dt_interval(CAST(id % 360 AS INT), CAST(id % 9 AS INT))"
_TABLES = {
    "customers": (
        "id",
        4,
        "CAST(id AS INT) AS id, concat('customer ', id) AS name, element_at(array('north', 'south', 'west'), "
        "CAST(id % 3 + 1 AS INT)) AS region FROM range(240)",
    ),
    "orders": (
        "customer_id",
        20,
        f"CAST(id AS INT) AS id, CAST(id DIV 10 AS INT) AS customer_id, {_ORDERED} AS placed_at, CASE WHEN id DIV 200 = 11 THEN 'returned' "
        "WHEN id % 4 = 0 THEN 'open' WHEN id % 4 = 1 THEN 'paid' ELSE 'sent' END AS status FROM range(2400)",
    ),
    "items": (
        "order_id",
        20,
        "CAST(id AS INT) AS id, CAST(id DIV 2 AS INT) AS order_id, CAST(id % 40 AS INT) AS product_id, "
        "CAST(id % 3 + 1 AS INT) AS quantity, CAST(id DIV 20 + id % 7 AS DOUBLE) AS price FROM range(4800)",
    ),
    "products": (
        "id",
        1,
        "CAST(id AS INT) AS id, concat('product ', id) AS name, element_at(array('tea', 'cups', 'pots'), CAST(id % 3 + 1 AS INT)) "
        "AS category FROM range(40)",
    ),
    "sales": (
        "shop",
        20,
        "id, CAST(id DIV 20 AS INT) AS shop, element_at(array('tea', 'cups', 'pots'), CAST(id % 3 + 1 AS INT)) AS product, "
        "element_at(array('north', 'east', 'south', 'west'), CAST(id DIV 3 % 4 + 1 AS INT)) AS region, "
        "CAST(id DIV 40 + id % 11 AS DOUBLE) AS price, CAST(id % 5 + 1 AS INT) AS quantity, CAST(id DIV 60 + id % 3 AS INT) AS pieces, "
        "timestamp'2024-01-01 00:00:00' + make_dt_interval(CAST(id * 7 % 366 AS INT), CAST(id % 24 AS INT)) AS ts, "
        "timestamp_ntz'2024-01-01 00:00:00' + make_dt_interval(CAST(id * 7 % 366 AS INT), CAST(id % 24 AS INT)) AS sold, "
        "date_add(date'2024-01-01', CAST(id * 7 % 366 AS INT)) AS day FROM range(4800)",
    ),
    "visits": (
        "ts",
        20,
        "timestamp'2024-01-01 00:00:00' + make_dt_interval(CAST(id DIV 20 AS INT), CAST(id % 24 AS INT)) AS ts, "
        "CAST(id DIV 50 * 37 % 97 AS INT) AS visitor, element_at(array('home', 'search', 'cart', 'pay'), CAST(id % 4 + 1 AS INT)) AS page, "
        "CAST(id DIV 60 + id % 13 AS INT) AS seconds FROM range(7300)",
    ),
}

CHANGES = (
    (
        "INSERT INTO sales (shop, product, price, quantity, ts) VALUES (230, 'tea', 40.0, 2, timestamp'2024-03-05 10:00:00'), "
        "(17, 'cups', 3.5, 1, timestamp'2024-08-01 09:00:00')",
        "INSERT INTO visits VALUES (timestamp'2024-12-30 08:00:00', 12, 'cart', 70), (timestamp'2024-02-01 08:00:00', 90, 'pay', 5)",
        "INSERT INTO orders VALUES (2400, 235, timestamp_ntz'2024-12-30 08:00:00', 'open')",
        "INSERT INTO items VALUES (4800, 2400, 7, 2, 90.0), (4801, 2400, 8, 1, 15.0)",
    ),
    (
        "UPDATE sales SET price = price + 1 WHERE shop = 238",
        "DELETE FROM visits WHERE ts >= timestamp'2024-12-30 00:00:00' AND page = 'home'",
        "UPDATE orders SET status = 'paid' WHERE id = 2396",
        "DELETE FROM items WHERE order_id = 2390",
    ),
)
"""What happens between the rounds of the test."""


def definitions() -> Iterator[str]:
    """Yield a statement for each table."""
    for name, (column, files, rows) in _TABLES.items():
        yield f"CREATE OR REPLACE TABLE {name} USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE({files}, {column}) */ * FROM (SELECT {rows})"
