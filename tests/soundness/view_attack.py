"""Attack on incremental views: random views over tables and over each other, random changes, each reading compared with the plain one.

As a program: ``view_attack 200`` tries that many warehouses; the return code is 1 when a difference was found.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import duckdb
import pyarrow as pa

from imp_driver.errors import NotSupportedError, OperationalError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import Relation, RelationKind, ResultStream, View, ViewColumn
from imp_driver.reasons import Decision, RecaptureReason, ServedBy
from imp_driver.rewrite.shadow import Answer
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.view_policy import ViewPolicy
from tests.soundness.answer_shapes import of_one_source
from tests.soundness.driver_attack import random_row
from tests.soundness.engine import DuckSession, TableStream, Warehouse, in_duckdb
from tests.soundness.row_shapes import of_tables
from tests.soundness.scalar_shapes import of_scalars
from tests.soundness.selected_shapes import of_selected
from tests.soundness.series_shapes import of_series
from tests.soundness.shapes import absent, joins, nested, two_sided
from tests.soundness.tables import COLUMNS
from tests.soundness.window_shapes import of_windows_below

_STEPS, _VIEWS = 24, 5
_CREATE = re.compile(r"CREATE (?:OR REPLACE )?VIEW `?(\w+)`? (?:TBLPROPERTIES \('[\w.]+' = '(\w+)'\) )?AS (.*)", re.DOTALL)
_DROP = re.compile(r"DROP VIEW `(?:\w+`\.`)*(\w+)`")
_TYPES = {pa.int32(): "integer", pa.int64(): "long", pa.float64(): "double", pa.bool_(): "boolean", pa.string(): "string"}
_NAMESPACE = ("spark_catalog", "default")


class NamedWarehouse(Warehouse):
    """A warehouse where full names stand for what is in the one schema."""

    def query(self, text: str) -> pa.Table:
        return Warehouse.query(self, text.replace("`spark_catalog`.`default`.", ""))


@dataclass(slots=True)
class ViewedSession(DuckSession):
    """A session with permanent views."""

    views: dict[str, View] = field(default_factory=dict)

    def execute(self, execution: Execution) -> ResultStream:
        made, dropped = _CREATE.fullmatch(execution.text), _DROP.fullmatch(execution.text)
        if made is not None:
            self._make(made[1].lower(), None if made[2] is None else ViewPolicy[made[2]], made[3])
        elif dropped is not None:
            self.views.pop(dropped[1].lower())
            self.warehouse.connection.execute(f"DROP VIEW {dropped[1]}")
        else:
            return DuckSession.execute(self, execution)
        return TableStream(pa.schema([]), [])

    def _make(self, name: str, policy: ViewPolicy | None, query: str) -> None:
        schema = self.warehouse.query(f"SELECT * FROM ({query}) LIMIT 0").schema
        columns = tuple(ViewColumn(each.name, each.name, _TYPES[each.type]) for each in schema)
        self.warehouse.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {in_duckdb(query)}")
        self.views[name] = View(query, _NAMESPACE, columns, is_ansi=True, policy=policy)

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        view = self.views.get(name[-1].lower())
        if view is not None:
            return Relation(RelationKind.VIEW, (*_NAMESPACE, name[-1].lower()), None, view)
        return DuckSession.resolve(self, name)


@dataclass(slots=True)
class Views:
    """What was tried: readings by where their rows came from, and views that are not made under their policy."""

    served: Counter[ServedBy] = field(default_factory=Counter)
    decisions: Counter[Decision] = field(default_factory=Counter)
    policies: Counter[ViewPolicy] = field(default_factory=Counter)
    refused: int = 0
    strict: int = 0
    layers: int = 0
    found_in: int | None = None
    differences: list[str] = field(default_factory=list)


def attack(seed: int, numbers: Sequence[int]) -> Views:
    """Attack the warehouses of these numbers until there is a difference."""
    tally = Views()
    for number in numbers:
        _attack_one(random.Random(f"views {seed} {number}"), tally, over_windows=number % 7 == 5)
        if tally.differences:
            tally.found_in = number
            break
    return tally


def _query(chance: random.Random, *, over_windows: bool) -> str:
    if over_windows and chance.random() < 0.4:
        return _over_windows(chance)
    shapes = (of_one_source, of_tables, of_scalars, of_selected, of_series)
    texts = [*chance.choice(shapes)(chance), *(make(chance) for make in (joins, nested, absent, two_sided, _of_inner_groups))]
    return chance.choice([each for each in texts if not re.search("LIMIT|row_number|ORDER BY", each)] or texts[-1:])


def _over_windows(chance: random.Random) -> str:
    """Return groups over windows or first rows of whole numbers, of rows that are all different, so that none tie."""
    texts = (text for _ in count() for text in of_windows_below(chance))
    text = next(text for text in texts if not re.search(r"avg\(|percent|cume|DECIMAL", text))
    return re.sub(r"FROM (r|\(SELECT r\.id.*?s\.k\)) t", "FROM (SELECT DISTINCT id, g, x, a FROM r) t", text)


def _of_inner_groups(chance: random.Random) -> str:
    """Return a query over groups of different values, which are joined by their keys or by an aggregate."""
    inner = chance.choice(["count(DISTINCT b)", "sum(DISTINCT b)", "count(DISTINCT b, y)", "max(b)", "bit_or(b)", "bool_or(b > 1)"])
    column = "n" if chance.random() < 0.4 and "bool" not in inner else "k"
    kind = chance.choice(["JOIN", "LEFT JOIN"])
    source = f"r {kind} (SELECT k, {inner} AS n FROM s GROUP BY k) q ON q.{column} = r.x"
    return f"SELECT r.g AS g, count(q.n) AS c, max(q.n) AS m, sum(r.a) AS s FROM {source} GROUP BY r.g"


def _upper(chance: random.Random, name: str, columns: Sequence[ViewColumn]) -> str:
    """Return a query over a view."""
    one, other = chance.choice(columns).name, chance.choice(columns).name
    forms = [
        f"SELECT {one} AS k, count(*) AS c, max({other}) AS m FROM {name} GROUP BY {one}",
        f"SELECT q.{one} AS k, q.{other} AS o FROM {name} q WHERE q.{one} IS NOT NULL",
        f"SELECT q.{one} AS k, s.b AS b FROM {name} q JOIN s ON q.{one} = s.k",
        f"SELECT DISTINCT {one} AS k FROM {name}",
        f"SELECT r.g AS k, count(*) AS c FROM r LEFT JOIN {name} q ON q.{one} = r.x GROUP BY r.g",
        f"SELECT g AS k FROM r UNION ALL SELECT q.{one} FROM {name} q",
    ]
    return chance.choice(forms[: 2 if _TYPES[pa.int32()] != _type(columns, one) else None])


def _type(columns: Sequence[ViewColumn], name: str) -> str:
    return next(each.type_name for each in columns if each.name == name)


def _create(name: str, policy: ViewPolicy | None, text: str) -> str:
    incremental = ("", "") if policy is None else ("INCREMENTAL ", f" POLICY {policy.name}")
    return f"CREATE OR REPLACE {incremental[0]}VIEW {name}{incremental[1]} AS {text}"


def _made(chance: random.Random, session: ViewedSession, middleware: Middleware, number: int, tally: Views, *, over_windows: bool) -> None:
    below = chance.choice(list(session.views)) if session.views and chance.random() < 0.6 else None
    text = _query(chance, over_windows=over_windows) if below is None else _upper(chance, below, session.views[below].columns)
    schema = session.warehouse.query(f"SELECT * FROM ({text}) LIMIT 0").schema
    if len({name.lower() for name in schema.names}) != len(schema.names) or not all(re.fullmatch(r"\w+", each) for each in schema.names):
        return
    if any(each not in _TYPES for each in schema.types):
        return
    policy = chance.choice([*ViewPolicy, None])
    try:
        middleware.run(Execution(_create(f"v{number}", policy, text)))
    except NotSupportedError:
        tally.refused += 1
        if f"v{number}" in session.views or any("imp_tried" in each for each in session.views):
            tally.differences.append(f"{text}: refused, and there")
        return
    tally.policies.update([] if policy is None else [policy])
    tally.layers += below is not None


def _replaced(chance: random.Random, session: ViewedSession, middleware: Middleware, tally: Views) -> None:
    """Have a view leave out some of its rows; others over it follow."""
    name = chance.choice(list(session.views))
    view = session.views[name]
    columns = ", ".join(each.name for each in view.columns)
    text = f"SELECT {columns} FROM ({view.text}) q WHERE {chance.choice(view.columns).name} IS NOT NULL"
    try:
        middleware.run(Execution(_create(name, view.policy, text)))
    except NotSupportedError:
        tally.refused += 1
        if session.views[name] is not view:
            tally.differences.append(f"{text}: refused, and replaced")


def _attack_one(chance: random.Random, tally: Views, *, over_windows: bool) -> None:
    warehouse = NamedWarehouse(has_look_up=chance.random() < 0.5)
    for table in COLUMNS:
        warehouse.commit(table, [random_row(chance, -2) for _ in range(chance.randint(2, 30))])
    session = ViewedSession(warehouse)
    sketches = Sketches(Relations(warehouse, 1 << 30))
    middleware = Middleware(session, warehouse, sketches, Options())
    for number in range(_VIEWS):
        _made(chance, session, middleware, number, tally, over_windows=over_windows)
    for _ in range(_STEPS):
        if chance.random() < 0.6:
            table = chance.choice(list(COLUMNS))
            kept = [row for row in warehouse.rows(table) if chance.random() < 0.85]
            warehouse.commit(table, [*kept, *(random_row(chance, -2) for _ in range(chance.randint(0, 5)))])
        if session.views and chance.random() < 0.08:
            _replaced(chance, session, middleware, tally)
        if session.views and not tally.differences:
            _read(chance, session, middleware, sketches, tally)
            sketches.relations.background.settle(60)
    warehouse.connection.close()


def _read(chance: random.Random, session: ViewedSession, middleware: Middleware, sketches: Sketches, tally: Views) -> None:
    name = chance.choice(list(session.views))
    view = session.views[name]
    text = f"SELECT * FROM {name}" if chance.random() < 0.7 else _upper(chance, name, view.columns)
    try:
        outcome = middleware.run(Execution(text))
        assert outcome.stream is not None
        difference = Answer(outcome.stream).difference(Answer(DuckSession(session.warehouse).execute(Execution(text))))
    except OperationalError as error:
        if "POLICY STRICT" not in str(error):
            raise
        # What stands above the view may be Spark's alone to compute; its own rows are there, but for extremes of which all known are gone.
        tally.strict += 1
        if view.policy is ViewPolicy.STRICT and text.startswith("SELECT *") and RecaptureReason.INEXACT_STATE.name not in str(error):
            tally.differences.append(f"{view.text}: {error}")
        return
    except duckdb.InternalException:
        # A failed assertion of the engine.
        return
    report = outcome.report
    tally.served[report.served_by] += 1
    tally.decisions[report.decision] += 1
    if difference is not None:
        tally.differences.append(f"{text} of {view.text} ({view.policy}): {difference}, {report}")
    is_held = view.policy is not None and view.policy.is_followed and text.startswith("SELECT *")
    # Rows that a STRICT view holds too are captured again when it is made anew.
    is_lost = any(each.policy is ViewPolicy.STRICT and each.cause is not None for each in sketches.relations.registry.relations())
    if is_held and not is_lost and report.served_by is not ServedBy.STATE:
        tally.differences.append(f"{text} of {view.text} ({view.policy}): {report.served_by}, {report.not_answered}")


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.view_attack", description=__doc__)
    parser.add_argument("warehouses", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tally = attack(given.seed, range(given.warehouses))
    print(tally)
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
