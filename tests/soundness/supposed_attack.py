"""Attack on WHAT IF: random changes that nobody makes, each query compared with a copy of the tables where they are made.

As a program: ``supposed_attack 200`` tries that many warehouses; the return code is 1 when a difference was found.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from imp_driver.errors import OperationalError, ProgrammingError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import TableDefinition
from imp_driver.reasons import Reason, ServedBy
from imp_driver.rewrite.shadow import Answer
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from tests.soundness.answer_shapes import of_one_source
from tests.soundness.engine import DuckSession, Row, TableStream, Warehouse, connect_engine, in_duckdb
from tests.soundness.row_shapes import of_tables
from tests.soundness.scalar_shapes import of_scalars
from tests.soundness.shapes import joins, nested, two_sided
from tests.soundness.tables import COLUMNS

_STEPS = 20


@contextmanager
def _of_engine() -> Iterator[None]:
    """Have a version that nobody has written refused as Spark does."""
    try:
        yield
    except duckdb.CatalogException as error:
        raise OperationalError(str(error)) from error


@dataclass(slots=True)
class SupposingSession(DuckSession):
    """A session whose tables are described, and which finds nothing wrong with a change."""

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        if text.startswith("EXPLAIN "):
            return pa.table({"plan": ["a plan"]})
        with _of_engine():
            return DuckSession.read(self, text, execution, most_bytes)

    def read_with(self, text: str, view: str, rows: pa.Table, execution: Execution) -> pa.Table:
        with _of_engine():
            return DuckSession.read_with(self, text, view, rows, execution)

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        fields = [{"name": column, "type": "integer", "nullable": True, "metadata": {}} for column in COLUMNS[name[-1]]]
        return TableDefinition(json.dumps({"type": "struct", "fields": fields}), (), {}, None, None)


@dataclass(slots=True)
class Supposed:
    """What was tried: queries by where their rows came from, changes that are errors, and the number of the warehouse with a difference."""

    served: Counter[ServedBy] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)
    failed: int = 0
    found_in: int | None = None
    differences: list[str] = field(default_factory=list)


def changes(chance: random.Random) -> list[str]:
    """Return one to three changes; a MERGE may be one that matches a row twice."""
    return [chance.choice([_insert, _insert, _delete, _update, _merge])(chance, chance.choice("rrs")) for _ in range(chance.randint(1, 3))]


def _number(chance: random.Random) -> str:
    return "NULL" if chance.random() < 0.15 else str(chance.randint(-1, 4))


def _condition(chance: random.Random, table: str, name: str) -> str:
    one, other = chance.choice(COLUMNS[table][1:]), chance.choice(COLUMNS[table][1:])
    forms = [f"{name}.{one} = {chance.randint(0, 4)}", f"{name}.{one} > {name}.{other}", f"{name}.{one} IS NULL"]
    forms += [f"{name}.{one} IN (1, 3) OR {name}.id < {chance.randint(0, 60)}", f"NOT {name}.{one} < 2"]
    return chance.choice(forms)


def _insert(chance: random.Random, table: str) -> str:
    other = "s" if table == "r" else "r"
    three, others = chance.sample(COLUMNS[table][1:], 3), ", ".join(COLUMNS[other][1:])
    rows = ", ".join(f"({chance.randint(0, 99)}, {', '.join(_number(chance) for _ in range(3))})" for _ in range(chance.randint(1, 4)))
    return chance.choice(
        [
            f"INSERT INTO {table} VALUES {rows}",
            f"INSERT INTO {table} (id, {', '.join(three)}) VALUES {rows}",
            f"INSERT INTO {table} ({', '.join(three)}) SELECT {others} FROM {other} WHERE {_condition(chance, other, other)}",
            f"INSERT INTO {table} SELECT id + 1, {', '.join(COLUMNS[table][1:])} FROM {table} WHERE {_condition(chance, table, table)}",
        ]
    )


def _delete(chance: random.Random, table: str) -> str:
    other = "s" if table == "r" else "r"
    forms = [f"DELETE FROM {table} WHERE {_condition(chance, table, table)}"] * 3
    forms.append(f"DELETE FROM {table} WHERE {COLUMNS[table][1]} IN (SELECT {COLUMNS[other][2]} FROM {other})")
    return chance.choice([*forms, f"DELETE FROM {table}"])


def _update(chance: random.Random, table: str) -> str:
    one, other = chance.sample(COLUMNS[table][1:], 2)
    set_one = f"{one} = {chance.choice([_number(chance), f'{other} + 1', other])}"
    set_other = f", {other} = {one}" if chance.random() < 0.4 else ""
    return f"UPDATE {table} SET {set_one}{set_other} WHERE {_condition(chance, table, table)}"


def _merge(chance: random.Random, table: str) -> str:
    other = "s" if table == "r" else "r"
    first, second, third = COLUMNS[table][1:]
    source = f"(SELECT DISTINCT {COLUMNS[other][1]} AS q1, {COLUMNS[other][2]} AS q2 FROM {other} WHERE {_condition(chance, other, other)})"
    clauses = [
        f"WHEN MATCHED AND {_condition(chance, table, table)} THEN DELETE",
        f"WHEN MATCHED AND q.q2 > 1 THEN UPDATE SET {third} = q.q2, {second} = {first}",
        chance.choice(["WHEN MATCHED THEN DELETE", f"WHEN MATCHED THEN UPDATE SET {third} = {third} + 1"]),
        f"WHEN NOT MATCHED AND q.q2 IS NOT NULL THEN INSERT (id, {first}, {third}) VALUES (7, q.q1, q.q2)",
        f"WHEN NOT MATCHED BY SOURCE AND {_condition(chance, table, table)} THEN DELETE",
        f"WHEN NOT MATCHED BY SOURCE THEN UPDATE SET {second} = 2",
    ]
    chosen = [each for each in clauses if chance.random() < 0.5] or clauses[2:3]
    also = f" AND {table}.{second} = q.q2" if chance.random() < 0.5 else ""
    return f"MERGE INTO {table} USING {source} AS q ON {table}.{first} = q.q1{also} {' '.join(chosen)}"


class _Made:
    """A copy of the newest tables, in which changes are made."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.connection = connect_engine()
        for table, columns in COLUMNS.items():
            rows = warehouse.rows(table)
            data = pa.table({column: pa.array([row[place] for row in rows], pa.int32()) for place, column in enumerate(columns)})
            self.connection.register("__imp_rows", data)
            self.connection.execute(f"CREATE TABLE {table} AS SELECT * FROM __imp_rows")
            self.connection.unregister("__imp_rows")

    def make(self, change: str) -> None:
        self.connection.execute(in_duckdb(change))

    def answer(self, query: str) -> Answer:
        found = DuckSession(Warehouse(self.connection)).warehouse.query(query)
        return Answer(TableStream(found.schema, found.to_batches()))


def attack(seed: int, numbers: Sequence[int]) -> Supposed:
    """Attack the warehouses of these numbers until there is a difference."""
    tally = Supposed()
    for number in numbers:
        _attack_one(random.Random(f"supposed {seed} {number}"), tally)
        if tally.differences:
            tally.found_in = number
            break
    return tally


def _asked(chance: random.Random) -> list[str]:
    shapes = (
        of_one_source(chance),
        of_tables(chance),
        of_scalars(chance),
        [make(chance) for make in (joins, nested, two_sided) for _ in range(2)],
    )
    return [text for text in chance.choice(shapes) if not re.search("LIMIT|row_number", text)] or [
        "SELECT g, sum(a) AS s FROM r GROUP BY g"
    ]


def _rows(chance: random.Random) -> list[Row]:
    def number() -> int | None:
        return None if chance.random() < 0.15 else chance.randint(-1, 4)

    return [(chance.randint(0, 99), number(), number(), number()) for _ in range(chance.randint(0, 25))]


def _attack_one(chance: random.Random, tally: Supposed) -> None:
    asked, warehouse = _asked(chance), Warehouse(has_look_up=chance.random() < 0.5)
    for table in COLUMNS:
        warehouse.commit(table, _rows(chance))
    sketches, session = Sketches(Relations(warehouse, 1 << 30)), SupposingSession(warehouse)
    middleware = Middleware(session, warehouse, sketches, Options())
    for step in range(_STEPS):
        if step % 5 == 4:
            table = chance.choice(list(COLUMNS))
            warehouse.commit(table, [*warehouse.rows(table)[chance.randint(0, 3) :], *_rows(chance)[:4]])
        query, supposed = chance.choice(asked), changes(chance)
        made = _Made(warehouse)
        try:
            _compare(middleware, query, supposed, made, tally)
            # What is maintained stands for the tables as they are.
            plain = middleware.run(Execution(query))
            assert plain.stream is not None
            difference = Answer(plain.stream).difference(Answer(DuckSession(warehouse).execute(Execution(query))))
        except duckdb.Error as error:
            if "INTERNAL" not in str(error):
                tally.differences.append(f"{supposed} {query}: {error}")
            return
        sketches.relations.background.settle(60)
        if difference is not None:
            tally.differences.append(f"after {supposed} {query}: {difference}")
        if tally.differences:
            return
    warehouse.connection.close()


def _compare(middleware: Middleware, query: str, supposed: list[str], made: _Made, tally: Supposed) -> None:
    failed = False
    for change in supposed:
        try:
            made.make(change)
        except duckdb.Error as error:
            if "INTERNAL" in str(error):
                raise
            failed = True
            break
    try:
        outcome = middleware.run(Execution(f"WHAT IF ({'; '.join(supposed)}) {query}"))
    except ProgrammingError as error:
        tally.failed += 1
        if "match one row" not in str(error):
            tally.differences.append(f"{supposed}: {error}")
        return
    if failed:
        return
    tally.served[outcome.report.served_by] += 1
    if outcome.report.not_answered is not None:
        tally.reasons[outcome.report.not_answered.reason] += 1
    assert outcome.stream is not None
    difference = Answer(outcome.stream).difference(made.answer(query))
    if difference is not None:
        tally.differences.append(f"WHAT IF ({'; '.join(supposed)}) {query}: {difference} ({outcome.report.served_by})")


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.supposed_attack", description=__doc__)
    parser.add_argument("warehouses", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tally = attack(given.seed, range(given.warehouses))
    print(dict(tally.served), dict(tally.reasons), tally.failed, tally.found_in, *tally.differences, sep="\n")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
