"""A shop whose products are a graph and whose reviews are a table: SPARQL over the one, SQL over both.

``python examples/products_and_reviews.py warehouse`` asks, changes the graph and the table, and asks again.
"""

from __future__ import annotations

import sys
import time

import imp_driver

SHOP = "PREFIX shop: <http://example.org/shop/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
PRODUCTS = f"""SPARQL {SHOP} INSERT DATA {{
  shop:lamp a shop:Light ; rdfs:label "Desk lamp"@en ; shop:price 39.90 ; shop:partOf shop:office .
  shop:bulb a shop:Light ; rdfs:label "Bulb"@en ; shop:price 4.50 ; shop:fits shop:lamp ; shop:partOf shop:office .
  shop:chair rdfs:label "Chair"@en ; shop:price 120 ; shop:partOf shop:office .
  shop:office shop:partOf shop:furniture .
}}"""
REVIEWS = [("http://example.org/shop/lamp", 5), ("http://example.org/shop/lamp", 4), ("http://example.org/shop/chair", 2)]
# Everything in furniture, however deep, with what fits it, where something does.
LIST = f"""SPARQL {SHOP} SELECT ?label ?price ?extra WHERE {{
  ?product shop:partOf+ shop:furniture ; rdfs:label ?label ; shop:price ?price .
  OPTIONAL {{ ?other shop:fits ?product ; rdfs:label ?extra }}
}} ORDER BY ?price"""
# A view that SQL reads: terms as text, what is unbound as NULL.
VIEW = f"""CREATE OR REPLACE INCREMENTAL VIEW product AS SPARQL {SHOP}
SELECT ?product ?label WHERE {{ ?product rdfs:label ?label ; shop:partOf shop:office }}"""
RATED = """
SELECT p.label, count(r.stars) AS reviews, avg(r.stars) AS stars
FROM product p LEFT JOIN review r ON r.product = p.product GROUP BY p.label ORDER BY p.label"""
CHANGES = [
    "",
    f'SPARQL {SHOP} INSERT DATA {{ shop:mat rdfs:label "Chair mat"@en ; shop:price 25 ; shop:fits shop:chair ; shop:partOf shop:office }}',
    "INSERT INTO review VALUES ('http://example.org/shop/mat', 4)",
    f"""SPARQL {SHOP} DELETE {{ ?p shop:price ?old }} INSERT {{ ?p shop:price ?new }}
    WHERE {{ ?p a shop:Light ; shop:price ?old BIND(?old * 2 AS ?new) }}""",
    f"SPARQL {SHOP} DELETE WHERE {{ shop:bulb ?p ?o }}",
]


def main(warehouse: str) -> list[tuple[list[tuple[object, ...]], list[tuple[object, ...]]]]:
    """Return what is listed and how it is rated, at first and after each change."""
    seen = []
    with imp_driver.connect(warehouse=warehouse, graph="shop", terms="typed") as connection, connection.cursor() as cursor:
        cursor.execute("DROP GRAPH IF EXISTS shop")
        cursor.execute("CREATE GRAPH shop")
        cursor.execute(PRODUCTS)
        cursor.execute("CREATE OR REPLACE TABLE review (product STRING, stars INT) USING DELTA")
        cursor.executemany("INSERT INTO review VALUES (?, ?)", REVIEWS)
        cursor.execute(VIEW)
        for change in CHANGES:
            if change:
                cursor.execute(change)
            start = time.perf_counter()
            listed = cursor.execute(LIST).fetchall()
            milliseconds = 1000 * (time.perf_counter() - start)
            report = cursor.sketch_report
            assert report is not None
            print(f"{milliseconds:6.0f} ms, from {report.served_by.name}: {', '.join(f'{label} {price}' for label, price, _ in listed)}")
            seen.append((listed, cursor.execute(RATED).fetchall()))
    return seen


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["shop-warehouse"])
