"""All advice of ADVISE SKETCHES followed, on TPC-H's 22 queries and on top lists over a star schema: what it saves beside what was told.

Bytes are compared. Answers are off, since what is answered from groups needs no clustering. The constants stay: the estimate is exact for
those recorded.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import imp_driver
from benchmarks.answering import CUT, Connections, opened
from benchmarks.dbgen_tables import create
from benchmarks.harness import ask, named_rows
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity, Stage
from benchmarks.report import line
from benchmarks.templates import Template, nothing
from benchmarks.tpch_texts import TEMPLATES as TPCH
from benchmarks.workloads.ssb import SCHEMA as STARS
from benchmarks.workloads.ssb import create_stars
from benchmarks.workloads.tpch_answers import SCHEMA as SOURCE
from imp_driver.values.report import SketchReport

TOLD, READ = "told", "read"
_ROUNDS = 1
"""Repetitions on each layout, after two rounds in which states are captured: bytes do not vary, and a round takes more than a minute."""
_SUMS = "SELECT {key}, sum(lo_revenue) AS revenue FROM lineorder GROUP BY {key}"
TOP_LISTS = (
    Template("customers", _SUMS.format(key="lo_custkey") + " ORDER BY revenue DESC LIMIT 20", nothing),
    Template("large customers", _SUMS.format(key="lo_custkey") + " HAVING count(*) > 470", nothing),
    Template("suppliers", _SUMS.format(key="lo_suppkey") + " ORDER BY revenue DESC LIMIT 10", nothing),
    Template("parts", _SUMS.format(key="lo_partkey") + " HAVING sum(lo_quantity) > 1500", nothing),
    Template("days", _SUMS.format(key="lo_orderdate") + " ORDER BY revenue LIMIT 5", nothing),
)
"""What a dashboard of the star schema asks; of the benchmark's 13 queries none has a HAVING or a limit."""


@dataclass(frozen=True, slots=True)
class Advised:
    """One clustering of ADVISE SKETCHES. ``saved`` is in bytes, for one round of all queries."""

    table: str
    column: str
    saved: float
    statements: tuple[str, ...]


@dataclass(slots=True)
class Asked:
    """Asks all queries in turn through one connection, and keeps their last reports."""

    connection: imp_driver.Connection
    texts: Sequence[str]
    rounds: int = 0
    reports: list[SketchReport] = field(default_factory=list)

    def __call__(self) -> Turn:
        self.rounds += 1
        begin = time.perf_counter()
        answers = [ask(self.connection, text) for text in self.texts]
        spent = {Quantity.QUERY: 1000 * (time.perf_counter() - begin)}
        self.reports = [answer.report for answer in answers]
        return Turn(None, spent)

    def bytes_of(self, table: str) -> dict[int, int]:
        """Return per query that cuts a table how many of its bytes it reads."""
        found: dict[int, int] = {}
        for place, report in enumerate(self.reports):
            for each in (report, *report.also):
                if each.table is not None and each.table.split(".")[-1] == table and each.bytes_kept is not None:
                    found[place] = found.get(place, 0) + each.bytes_kept
        return found


def run(journal: Journal, plan: Plan, warehouse: str, scale: float) -> None:
    """Measure two cases per schema, before and after, and one per clustering that was advised."""
    plan = replace(plan, repetitions=min(plan.repetitions, _ROUNDS), settling=1)
    with opened(warehouse, SOURCE) as connections:
        create(connections.plain, scale)
        _follow(journal, plan, "TPC-H", connections, TPCH, scale)
    with opened(warehouse, STARS) as connections:
        create_stars(connections.plain)
        _follow(journal, plan, "star", connections, TOP_LISTS, scale)


def _follow(journal: Journal, plan: Plan, name: str, connections: Connections, templates: Sequence[Template], scale: float) -> None:
    plain, asked = connections.plain, Asked(connections.cut, [each.instance(Random(each.name), scale) for each in templates])
    take_turns(journal.page({"schema": name, "layout": "as it was made"}), plan, Work({CUT: asked}))
    advice = _advice(connections, asked.rounds)
    if not advice:
        print(f"{name}: no clustering is advised", flush=True)
        return
    before = {each.table: (asked.bytes_of(each.table), _size(plain, each.table)) for each in advice}
    for each in advice:
        for statement in each.statements:
            plain.execute(statement).close()
    take_turns(journal.page({"schema": name, "layout": "as advised"}), plan, Work({CUT: asked}))
    for each in advice:
        after = (asked.bytes_of(each.table), _size(plain, each.table))
        page = journal.page({"schema": name, "table": each.table, "clustering": each.column})
        page.asked = 1
        _write(page, each, _saved(before[each.table], after))


def _advice(connections: Connections, rounds: int) -> list[Advised]:
    """Return what is advised for the tables of the current schema; the record of statements is that of the whole warehouse."""
    (schema,) = (row["schema"] for row in named_rows(connections.plain, "SELECT current_schema() AS schema"))
    return [
        Advised(row["table_name"].split(".")[-1], row["clustering"], row["saved_bytes"] / rounds, _statements(row["statement"]))
        for row in named_rows(connections.cut, "ADVISE SKETCHES")
        if row["clustering"] is not None and row["table_name"].split(".")[-2] == schema
    ]


def _statements(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in re.split(r";\s*(?:\n|$)", text))))


def _size(connection: imp_driver.Connection, table: str) -> int:
    return int(named_rows(connection, f"DESCRIBE DETAIL {table}")[0]["sizeInBytes"])


def _saved(before: tuple[Mapping[int, int], int], after: tuple[Mapping[int, int], int]) -> float:
    """Return bytes a round less, over the queries that were cut before or are now; what is not cut reads the table."""
    places: Iterable[int] = {*before[0], *after[0]}
    return sum(before[0].get(place, before[1]) - after[0].get(place, after[1]) for place in places)


def _write(page: Page, advised: Advised, saved: float) -> None:
    for system, value in ((TOLD, advised.saved), (READ, saved)):
        page.add(system, Stage.MEASURED, 0, {Quantity.SIZE: value})
    page.facts["statement"] = "; ".join(advised.statements)
    print(line(page.case), flush=True)
