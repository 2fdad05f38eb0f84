"""Statements that tools have sent, all of them in each round with other constants, and changes of every table between the rounds.

Everything counts from the first query on: the tables are new, and nothing is known of any statement.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial

import imp_driver
from benchmarks.answering import ANSWERS, PLAIN, is_answered, opened
from benchmarks.comparing import alike
from benchmarks.harness import Rows
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity
from tests.recorded.statements import TIED, Statement, read, tools
from tests.recorded.tables import CHANGES, definitions

SCHEMA = "recorded"


def run(journal: Journal, plan: Plan, warehouse: str) -> None:
    """Measure one case: a round of all statements."""
    statements = [statement for tool in tools() for statement in read(tool)]
    with opened(warehouse, SCHEMA) as connections:
        for definition in definitions():
            connections.plain.execute(definition).close()
        connections.forget()
        each = {PLAIN: connections.plain, ANSWERS: connections.answers}
        ways = {name: partial(_asked, connection, statements, itertools.count()) for name, connection in each.items()}
        changes = itertools.cycle(CHANGES)
        work = Work(ways, _change(connections.plain, changes), same=partial(_same, statements))
        take_turns(journal.page({"statements": len(statements)}), plan, work)


def _change(connection: imp_driver.Connection, changes: Iterator[tuple[str, ...]]) -> Callable[[], None]:
    def change() -> None:
        for text in next(changes):
            connection.execute(text).close()

    return change


def _asked(connection: imp_driver.Connection, statements: list[Statement], rounds: Iterator[int]) -> Turn:
    number, rows, spent = next(rounds), [], 0.0
    captures = served = 0
    for place, statement in enumerate(statements):
        call = statement.calls[number % len(statement.calls)]
        begin = time.perf_counter()
        with connection.cursor() as cursor:
            found = cursor.execute(call.text, call.values).fetchall()
            spent += time.perf_counter() - begin
            report = cursor.sketch_report
        assert report is not None
        captures += "capture" in report.times
        served += is_answered(report)
        rows += [(place, *row) for row in found]
    return Turn(rows, {Quantity.QUERY: 1000 * spent}, f"{captures} captures, {served} from states")


def _same(statements: list[Statement], one: Rows, other: Rows) -> bool:
    """Compare statement by statement; of those that leave open which rows they give, how many."""
    for place, statement in enumerate(statements):
        left, right = ([row[1:] for row in rows if row[0] == place] for rows in (one, other))
        if len(left) != len(right) or (statement.name not in TIED and not alike(left, right)):
            return False
    return True
