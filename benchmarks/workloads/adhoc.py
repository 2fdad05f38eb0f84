"""Exploration: queries that are asked once each, every one another template, on tables of two sizes; captures counted from the first on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import imp_driver
from benchmarks.answering import ANSWERS, PLAIN, is_answered, opened
from benchmarks.comparing import alike
from benchmarks.harness import Rows, ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity

SIZES = (25, 4)
"""Rows of a table: those of the run by so much."""
QUESTIONS = 30
KEYS = ("region", "product", "channel", "customer", "day", "date_trunc('MONTH', day)", "year(day)", "quantity")
AGGREGATES = (
    "sum(amount)",
    "avg(amount)",
    "count(*)",
    "max(amount)",
    "min(day)",
    "sum(quantity)",
    "avg(quantity * price)",
    "sum(CASE WHEN channel = 'web' THEN amount END)",
    "count(DISTINCT customer)",
    "stddev(price)",
)
CONDITIONS = (
    "region = 'north'",
    "channel IN ('web', 'shop')",
    "quantity > 3",
    "day >= DATE'2025-06-01'",
    "day BETWEEN DATE'2025-01-01' AND DATE'2025-03-31'",
    "price < 20",
    "product % 7 = 2",
    "amount IS NOT NULL",
)
_ROW = (
    "id, element_at(array('north', 'south', 'east', 'west'), CAST(1 + id % 4 AS INT)) AS region, "
    "CAST(pmod(hash(id), 200) AS INT) AS product, "
    "element_at(array('web', 'shop', 'phone'), CAST(1 + pmod(hash(id, 1), 3) AS INT)) AS channel, pmod(hash(id, 2), 5000) AS customer, "
    "date_add(DATE'2024-01-01', CAST(pmod(hash(id, 3), 730) AS INT)) AS day, CAST(1 + pmod(hash(id, 4), 9) AS INT) AS quantity, "
    "CAST(pmod(hash(id, 5), 5000) / 100 AS DOUBLE) AS price, CAST(pmod(hash(id, 6), 100000) / 100 AS DECIMAL(10,2)) AS amount"
)


def run(journal: Journal, plan: Plan, warehouse: str, rows: int) -> None:
    """Measure one case per size: QUESTIONS queries a round, none of which was asked before."""
    with opened(warehouse) as connections:
        for part in SIZES:
            table = f"adhoc_{part}"
            connections.plain.execute(f"DROP TABLE IF EXISTS {table}").close()
            connections.plain.execute(f"CREATE TABLE {table} USING DELTA AS SELECT {_ROW} FROM range({rows // part})").close()
            connections.forget()
            each = {PLAIN: connections.plain, ANSWERS: connections.answers}
            ways = {name: _way(connection, table) for name, connection in each.items()}
            take_turns(journal.page({"rows": rows // part, "queries": QUESTIONS}), plan, Work(ways, same=_alike))
            connections.plain.execute(f"DROP TABLE {table}").close()


def questions(table: str, number: int) -> list[str]:
    """Return the queries of a round, the same for all systems; none is of a template of this round or another."""
    every = _templates(random.Random(1))
    return [next(every).format(table=table) for _ in range(QUESTIONS * (number + 1))][-QUESTIONS:]


def _templates(chance: random.Random) -> Iterator[str]:
    known: set[str] = set()
    while True:
        keys = chance.sample(KEYS, chance.choice([1, 1, 2]))
        aggregates = chance.sample(AGGREGATES, chance.choice([1, 2, 3]))
        where = " AND ".join(chance.sample(CONDITIONS, chance.choice([0, 1, 2])))
        names = ", ".join(f"{each} AS c{place}" for place, each in enumerate([*keys, *aggregates]))
        order = ", ".join(f"c{place}" for place in range(len(keys)))
        limit = " LIMIT 100" * (chance.random() < 0.3)
        text = f"SELECT {names} FROM {{table}}{' WHERE ' * bool(where)}{where} GROUP BY {', '.join(keys)} ORDER BY {order}{limit}"
        if text not in known:
            known.add(text)
            yield text


def _way(connection: imp_driver.Connection, table: str) -> Callable[[], Turn]:
    rounds = iter(range(1_000_000))
    return partial(_asked, connection, table, rounds)


def _asked(connection: imp_driver.Connection, table: str, rounds: Iterator[int]) -> Turn:
    answers = [ask(connection, text) for text in questions(table, next(rounds))]
    rows: Rows = [(place, *row) for place, answer in enumerate(answers) for row in answer.rows]
    spent = {Quantity.QUERY: 1000 * sum(answer.seconds for answer in answers)}
    captures = sum("capture" in answer.report.times for answer in answers)
    served = sum(is_answered(answer.report) for answer in answers)
    return Turn(rows, spent, f"{captures} captures, {served} from states")


def _alike(one: Rows, other: Rows) -> bool:
    """Compare query by query, as their rows have different columns."""
    parts = ([[row[1:] for row in rows if row[0] == place] for place in range(QUESTIONS)] for rows in (one, other))
    return all(alike(left, right) for left, right in zip(*parts, strict=True))
