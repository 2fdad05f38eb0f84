"""Incremental views: after a change beside computing anew, in layers, read as they are, and under suppositions that nobody makes.

Each view is made by ``answers`` as an incremental one, under a name that plain Spark and DuckDB compute anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import imp_driver
from benchmarks.answering import ANSWERS, PLAIN, RECOMPUTED, Connections, answered, opened
from benchmarks.comparing import up_to_ties
from benchmarks.dbgen_tables import TABLES, create
from benchmarks.harness import Rows, ask
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.recomputing import Recomputing, recomputing
from benchmarks.records import Quantity
from benchmarks.rounds import Question, Refresh, take_rounds

SCHEMA = "viewed"
SHARES = {"0.01 %": 10_000, "0.1 %": 1_000, "1 %": 100}
"""One of so many orders has its lines changed."""
LAYERS, IN_A_LAYER = 10, 5
LAYERED_ROWS, CHANGED_ROWS, READ_GROUPS = 1_000_000, 100, 5_000
SUPPOSED_ROWS = 1_000
_PRICE = "l_extendedprice * (1 - l_discount)"
VIEWS: Mapping[str, str] = {
    "Q3": f"SELECT l_orderkey, sum({_PRICE}) AS revenue, o_orderdate, o_shippriority FROM customer, orders, lineitem "
    "WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' "
    "AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey, o_orderdate, o_shippriority",
    "Q5": f"SELECT n_name, sum({_PRICE}) AS revenue FROM customer, orders, lineitem, supplier, nation, region "
    "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey "
    "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' "
    "AND o_orderdate < DATE '1995-01-01' GROUP BY n_name",
    "Q10": f"SELECT c_custkey, c_name, sum({_PRICE}) AS revenue, c_acctbal, n_name FROM customer, orders, lineitem, nation "
    "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' "
    "AND l_returnflag = 'R' AND c_nationkey = n_nationkey GROUP BY c_custkey, c_name, c_acctbal, n_name",
    "L1": f"SELECT c_nationkey, year(o_orderdate) AS y, sum({_PRICE}) AS revenue, count(*) AS c FROM customer, orders, lineitem "
    "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey GROUP BY c_nationkey, year(o_orderdate)",
    "L2": "SELECT n_name, y, revenue FROM {L1} JOIN nation ON c_nationkey = n_nationkey",
    "L3": "SELECT y, max(revenue) AS revenue, count(*) AS c FROM {L2} GROUP BY y",
}
"""TPC-H's queries without their last rows' order, and three layers of views."""
ASKED = {each: "SELECT count(*) AS n, max(revenue) AS revenue FROM {" + each + "}" for each in ("Q3", "Q5", "Q10", "L3")}


def run(journal: Journal, plan: Plan, warehouse: str, scale: float) -> None:
    """Measure the views of TPC-H after changes, fifty views in layers, reading one, and a dashboard under a supposition."""
    with opened(warehouse, SCHEMA) as connections:
        _layers(journal, plan, connections)
        create(connections.plain, scale)
        with recomputing(connections.plain, TABLES) as engine:
            for share in SHARES:
                _changes(journal, plan, connections, engine, share)


def _name(view: str) -> str:
    return f"view_{view.lower()}"


@contextmanager
def _made(connections: Connections, views: Mapping[str, str]) -> Iterator[None]:
    """Have incremental views, by their names here."""
    connections.forget()
    names = {each: _name(each) for each in views}
    for each, text in views.items():
        connections.answers.execute(f"CREATE OR REPLACE INCREMENTAL VIEW {names[each]} AS {text.format(**names)}").close()
    try:
        yield
    finally:
        for each in reversed(list(views)):
            connections.answers.execute(f"DROP INCREMENTAL VIEW {names[each]}").close()


def _ask(connection: imp_driver.Connection, texts: Sequence[str]) -> Turn:
    """Ask some queries one after the other; their times are added up."""
    turns = [answered(ask(connection, text)) for text in texts]
    spent = {Quantity.QUERY: sum(each.spent[Quantity.QUERY] for each in turns)}
    spent[Quantity.ANSWERED] = min(each.spent[Quantity.ANSWERED] for each in turns)
    rows: Rows = [row for each in turns for row in each.rows or ()]
    return Turn(rows, spent, " ".join(dict.fromkeys(each.decision for each in turns)))


def _ways(connections: Connections, texts: Callable[[], Sequence[str]]) -> dict[str, Way]:
    return {PLAIN: lambda: replace(_ask(connections.plain, texts()), decision=""), ANSWERS: lambda: _ask(connections.answers, texts())}


def _changes(journal: Journal, plan: Plan, connections: Connections, engine: Recomputing | None, share: str) -> None:
    names = {each: _name(each) for each in VIEWS}
    with _made(connections, VIEWS):
        if engine is not None:
            for each, text in VIEWS.items():
                engine.change(f"CREATE OR REPLACE VIEW {names[each]} AS {text.format(**names)}")
        questions = []
        for each, asked in ASKED.items():
            text = asked.format(**names)
            ways = _ways(connections, partial(_once, text))
            if engine is not None:
                ways[RECOMPUTED] = partial(engine.ask, text)
            page = journal.page({"view": each, "changed": share})
            questions.append(Question(page, Work(ways, same=up_to_ties((), None)), _nothing))
        page = journal.page({"view": "change", "changed": share})
        take_rounds(
            page,
            replace(plan, settling=0, limit=math.inf),
            questions,
            Refresh("updates", partial(_change, connections, engine, SHARES[share])),
            Refresh("nothing", lambda _: None),
        )


def _once(text: str) -> Sequence[str]:
    return (text,)


def _nothing() -> None:
    return


def _change(connections: Connections, engine: Recomputing | None, every: int, number: int) -> None:
    orders = f"(l_orderkey DIV 32 * 8 + l_orderkey % 8) % {every} = {number}"
    text = f"UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE {orders}"
    connections.plain.execute(text).close()
    if engine is not None:
        engine.change(text)


@dataclass(frozen=True, slots=True)
class _Layered:
    """Five views a layer, each over one of the layer below: finer groups first, fewer keys and conditions above."""

    table: str

    def views(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for column in range(IN_A_LAYER):
            key = f"CAST(a % {50 * (column + 1)} AS INT)"
            found[f"p0_{column}"] = f"SELECT {key} AS k, sum(b) AS s, count(*) AS c FROM {self.table} GROUP BY {key}"
            for layer in range(1, LAYERS):
                below = "{" + f"p{layer - 1}_{column}" + "}"
                found[f"p{layer}_{column}"] = (
                    f"SELECT k, s + {layer} AS s, c FROM {below} WHERE k > {layer}"
                    if layer % 3
                    else f"SELECT k % {40 - layer} AS k, sum(s) AS s, sum(c) AS c FROM {below} GROUP BY k % {40 - layer}"
                )
        return found


def _layers(journal: Journal, plan: Plan, connections: Connections) -> None:
    table = "layered"
    connections.plain.execute(f"DROP TABLE IF EXISTS {table}").close()
    rows = f"SELECT CAST(id % {READ_GROUPS} AS INT) AS a, id % 97 AS b FROM range"
    connections.plain.execute(f"CREATE TABLE {table} USING DELTA AS {rows}(0, {LAYERED_ROWS}, 1, 16)").close()
    views = _Layered(table).views()
    starts = count(LAYERED_ROWS, 7 * CHANGED_ROWS)
    insert = lambda: connections.plain.execute(_inserted(table, rows, next(starts))).close()  # noqa: E731
    with _made(connections, views):
        texts = [f"SELECT count(*) AS n, sum(s) AS s FROM {_name(each)}" for each in views]
        page = journal.page({"view": f"{len(views)} in {LAYERS} layers", "changed": f"{CHANGED_ROWS} rows"})
        take_turns(page, plan, Work(_ways(connections, lambda: texts), insert))
    one = {"read": f"SELECT a, sum(b) AS s, avg(b) AS m, count(*) AS c FROM {table} GROUP BY a"}
    with _made(connections, one):
        page = journal.page({"view": f"read {READ_GROUPS} rows", "changed": "nothing"})
        take_turns(page, plan, Work(_ways(connections, lambda: [f"SELECT * FROM {_name('read')}"])))
    _suppositions(journal, plan, connections, table)


def _inserted(table: str, rows: str, first: int) -> str:
    return f"INSERT INTO {table} {rows}({first}, {first + CHANGED_ROWS})"


def _suppositions(journal: Journal, plan: Plan, connections: Connections, table: str) -> None:
    """Ask ten queries under one supposition, another one each round; to write its rows is no part of the time."""
    tiles = [f"SELECT a % {5 + each} AS k, sum(b) AS s, count(*) AS c FROM {table} GROUP BY a % {5 + each}" for each in range(10)]
    numbers, texts = count(1), list[str]()

    def suppose() -> None:
        first = next(numbers) * SUPPOSED_ROWS
        values = ", ".join(f"({each % READ_GROUPS}, {each % 89})" for each in range(first, first + SUPPOSED_ROWS))
        texts[:] = [f"WHAT IF (INSERT INTO {table} VALUES {values}) {tile}" for tile in tiles]

    suppose()
    connections.forget()
    for text in tiles * 2:
        ask(connections.answers, text)
    page = journal.page({"view": f"{len(tiles)} queries", "changed": f"{SUPPOSED_ROWS} supposed rows"})
    take_turns(page, plan, Work(_ways(connections, lambda: texts), suppose))
