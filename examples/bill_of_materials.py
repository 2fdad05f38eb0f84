"""What a product is made of, through all levels, and what its parts cost: a recursive view that follows the part list and the prices."""

from __future__ import annotations

import sys
from decimal import Decimal

import imp_driver

PRICES = {"spoke": "0.40", "rim": "18.00", "hub": "11.50", "tyre": "14.00", "tube": "61.00", "bolt": "0.15"}
COMPONENTS = [
    ("bicycle", "wheel", 2),
    ("bicycle", "frame", 1),
    ("bicycle", "bolt", 12),
    ("wheel", "spoke", 32),
    ("wheel", "rim", 1),
    ("wheel", "hub", 1),
    ("wheel", "tyre", 1),
    ("frame", "tube", 4),
    ("frame", "bolt", 6),
    ("trailer", "wheel", 2),
    ("trailer", "tube", 2),
]
# A recursion is a set. A bolt is reached by several routes, each with a quantity of its own: the route keeps equal quantities apart.
NEEDS = (
    "WITH RECURSIVE needs(product, part, quantity, route) AS ("
    "SELECT whole, part, quantity, concat(whole, '/', part) FROM bom_component "
    "UNION SELECT n.product, c.part, n.quantity * c.quantity, concat(n.route, '/', c.part) "
    "FROM needs n JOIN bom_component c ON c.whole = n.part) "
)
INSIDE = (
    "WITH RECURSIVE inside(whole, part) AS (SELECT whole, part FROM bom_component "
    "UNION SELECT i.whole, c.part FROM inside i JOIN bom_component c ON c.whole = i.part) "
    "SELECT whole FROM inside WHERE whole = part ORDER BY whole"
)


def main(warehouse: str) -> list[dict[str, Decimal]]:
    """Return the cost of each product at first and after each change."""
    seen = []
    with imp_driver.connect(warehouse=warehouse) as connection, connection.cursor() as cursor:
        for what in ("INCREMENTAL VIEW IF EXISTS bom_cost", "TABLE IF EXISTS bom_component", "TABLE IF EXISTS bom_price"):
            cursor.execute(f"DROP {what}")
        cursor.execute("CREATE TABLE bom_component (whole STRING, part STRING, quantity INT) USING DELTA")
        cursor.executemany("INSERT INTO bom_component VALUES (?, ?, ?)", COMPONENTS)
        cursor.execute("CREATE TABLE bom_price (part STRING, price DECIMAL(10, 2)) USING DELTA")
        cursor.executemany("INSERT INTO bom_price VALUES (?, ?)", [(part, Decimal(price)) for part, price in PRICES.items()])
        cursor.execute(
            f"CREATE INCREMENTAL VIEW bom_cost POLICY STRICT AS {NEEDS}"
            "SELECT n.product, sum(n.quantity * p.price) AS cost FROM needs n JOIN bom_price p ON p.part = n.part GROUP BY n.product"
        )

        def costs(what: str) -> dict[str, Decimal]:
            found: dict[str, Decimal] = dict(cursor.execute("SELECT product, cost FROM bom_cost").fetchall())
            report = cursor.sketch_report
            assert report is not None
            assert report.served_by.name == "STATE"
            assert found == _by_hand(*(cursor.execute(f"SELECT * FROM bom_{table}").fetchall() for table in ("component", "price")))
            print(f"{what}: {found['bicycle']} for a bicycle ({report.decision.name}, {report.delta_rows} changed rows)")
            return found

        seen.append(costs("at first"))
        cursor.execute("UPDATE bom_price SET price = 0.50 WHERE part = 'spoke'")
        seen.append(costs("dearer spokes"))
        cursor.execute("UPDATE bom_component SET quantity = 28 WHERE whole = 'wheel' AND part = 'spoke'")
        seen.append(costs("fewer of them"))
        cursor.execute("DELETE FROM bom_component WHERE whole = 'bicycle' AND part = 'bolt'")
        seen.append(costs("no bolts but those of the frame"))

        # A part that contains itself has no finite list: it is told before anybody writes it.
        assert cursor.execute(INSIDE).fetchall() == []
        cycle = cursor.execute(f"WHAT IF (INSERT INTO bom_component VALUES ('hub', 'wheel', 1)) {INSIDE}").fetchall()
        print(f"with a wheel in its hub these would contain themselves: {cycle}")
        assert cycle == [("hub",), ("wheel",)]

        pieces: list[tuple[str, int]] = cursor.execute(
            f"{NEEDS}SELECT part, sum(quantity) AS pieces FROM needs WHERE product = ? GROUP BY part ORDER BY part", ("bicycle",)
        ).fetchall()
        print(f"a bicycle needs {pieces}")
        assert dict(pieces)["spoke"] == 56
        assert dict(pieces)["bolt"] == 6
    return seen


def _by_hand(components: list[tuple[str, str, int]], prices: list[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """Return what each whole costs, by plain recursion."""
    price = dict(prices)

    def cost(whole: str) -> Decimal:
        return sum((number * (price.get(part, Decimal(0)) + cost(part)) for name, part, number in components if name == whole), Decimal(0))

    return {whole: cost(whole) for whole, _, _ in components}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
