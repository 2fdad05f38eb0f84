"""Queries over permanent views: cut inside the view's text, and compared with an engine that knows of no sketch."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.reasons import Decision, Reason
from imp_driver.values.report import SketchReport

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Both:
    """A connection that sketches, one that does not, and names: ``d`` and ``o`` schemas of this test."""

    sketched: imp_driver.Cursor
    plain: imp_driver.Cursor
    names: dict[str, str]

    def run(self, text: str) -> None:
        self.sketched.execute(text.format(**self.names))

    def answer(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query after comparing both engines."""
        text = text.format(**self.names)
        rows = self.sketched.execute(text).fetchall()
        names = [column[0] for column in self.sketched.description or ()]
        assert Counter(rows) == Counter(self.plain.execute(text).fetchall())
        assert names == [column[0] for column in self.plain.description or ()]
        return sorted(rows, key=repr)

    def report(self) -> SketchReport:
        assert self.sketched.sketch_report is not None
        return self.sketched.sketch_report


@pytest.fixture
def both(engine: imp_driver.Connection, warehouse: Path) -> Iterator[Both]:
    """``r`` in ``d``: ten groups of ten rows, g, x = 10 * g + 0..9, one file per two groups; ``r`` in ``o``: the same groups in reverse."""
    number = next(_numbers)
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental", answers="off") as connection:
        found = Both(connection.cursor(), engine.cursor(), {"d": f"views_d{number}", "o": f"views_o{number}"})
        for schema, key in (("d", "id DIV 10"), ("o", "9 - id DIV 10")):
            found.run(f"CREATE SCHEMA {{{schema}}}")
            found.run(
                f"CREATE TABLE {{{schema}}}.r USING DELTA AS SELECT /*+ REPARTITION_BY_RANGE(5, g) */ CAST({key} AS INT) AS g, id AS x "
                "FROM range(100)"
            )
        found.run("USE {d}")
        yield found


VIEWS = (
    "CREATE VIEW names (grp, amount) AS SELECT g, x FROM r WHERE x <> 3 -- a comment",
    "CREATE VIEW sums AS SELECT grp AS k, sum(amount) AS total, count(*) AS rows FROM names q GROUP BY grp",
    "CREATE VIEW tops AS SELECT g, sum(x) AS s FROM r GROUP BY g ORDER BY s DESC, g LIMIT 2",
    "CREATE VIEW big AS SELECT * FROM sums WHERE total > 700",
    "CREATE VIEW {o}.apart AS WITH r AS (SELECT * FROM r) SELECT r.g, x FROM r JOIN (SELECT k FROM {d}.sums) ON k = g",
    "CREATE VIEW {o}.both AS SELECT k, r.x FROM {d}.big JOIN {o}.r ON k = r.g",
    "USE {o}",
    "CREATE VIEW names AS SELECT -1 AS grp, -1 AS amount",
    "CREATE VIEW sums AS SELECT -1 AS k, -1 AS total",
)
CUT = (
    "SELECT sums.* FROM {d}.sums WHERE total > 700",
    "SELECT a, avg(b) FROM {d}.names AS v(a, b) GROUP BY a HAVING min(b) > 60",
    "SELECT k, count(*) FROM (SELECT k, x FROM {o}.both) GROUP BY k",
    "SELECT g, count(*) FROM {o}.apart WHERE g IN (SELECT k FROM {d}.big) GROUP BY g",
    "SELECT * FROM {d}.tops",
    "SELECT g FROM {d}.r WHERE x > 15 AND EXISTS (SELECT 1 FROM {d}.big b WHERE b.k = g)",
    "SELECT one.k, two.total FROM {d}.big one JOIN {d}.big two ON one.k = two.k",
    "WITH names AS (SELECT g AS grp, -x AS amount FROM {d}.r), r AS (SELECT grp FROM names) "
    "SELECT k, count(*) FROM {d}.big JOIN r ON k = grp GROUP BY k",
    "SELECT k FROM {d}.sums WHERE total > 900 UNION ALL SELECT g FROM {d}.r WHERE g IN (SELECT k FROM {d}.big)",
)


def test_blocks_are_cut_inside_views_and_follow_the_table(both: Both) -> None:
    for view in VIEWS:
        both.run(view)
    for query in CUT:
        assert both.answer(query), query
        assert (both.report().reason, both.report().attribute) == (Reason.FILTERED, "g"), query
    both.run("INSERT INTO {d}.r VALUES (2, 5000), (11, 800), (NULL, 900)")
    both.run("UPDATE {d}.r SET x = x - 95 WHERE g IN (8, 9) AND x > 82")
    for query in CUT:
        both.answer(query)
        assert both.report().decision in (Decision.MAINTAINED, Decision.FRESH), query
        assert both.report().reason in (Reason.FILTERED, Reason.COVERS_ALMOST_ALL), query


SUM = "SELECT k, t FROM {d}.v WHERE t > 700"


def test_redefined_view_is_read_anew(both: Both) -> None:
    both.run("CREATE VIEW v AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g")
    assert [row[0] for row in both.answer(SUM)] == [7, 8, 9]
    first = both.report().template
    for definition, expected in (
        ("CREATE OR REPLACE VIEW v AS SELECT g AS k, sum(x) AS t FROM {o}.r GROUP BY g", [0, 1, 2]),
        ("ALTER VIEW v AS SELECT g AS k, max(x) * 10 AS t FROM r GROUP BY g", [7, 8, 9]),
        ("CREATE OR REPLACE VIEW v (t, k) AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g", []),
    ):
        both.run(definition)
        assert [row[0] for row in both.answer(SUM)] == expected
        assert both.report().template != first
    both.run("CREATE OR REPLACE VIEW v AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g")
    assert [row[0] for row in both.answer(SUM)] == [7, 8, 9]
    assert (both.report().decision, both.report().template) == (Decision.FRESH, first)
    both.run("DROP VIEW v")
    with pytest.raises(imp_driver.ProgrammingError, match="TABLE_OR_VIEW_NOT_FOUND"):
        both.run(SUM)
    both.run("CREATE TABLE v USING DELTA AS SELECT 1 AS k, 800 AS t")
    assert both.answer(SUM) == [(1, 800)]


def test_every_type_that_is_known_keeps_conditions_on_it(both: Both) -> None:
    """Spark stored the types of these columns; where the plan's agree, no conversion stands between a condition and the groups."""
    both.run(
        "CREATE TABLE kinds USING DELTA AS SELECT g, CAST(x AS SMALLINT) AS s, CAST(x AS INT) AS i, x AS l, CAST(x AS FLOAT) AS f, "
        "CAST(x AS DOUBLE) AS d, CAST(x AS DECIMAL(12, 2)) AS e, CAST(x AS STRING) AS t FROM r"
    )
    columns = [f"{name}({each})" for name in ("sum", "avg", "min", "max", "count") for each in ("s", "i", "l", "f", "d", "e")]
    columns += ["count(*)", "min(t)", "max(t)", "sum(i + s)", "sum(l * 2)", "min(e - i)", "max(d + 1)"]
    items = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
    both.run(f"CREATE VIEW aggregates AS SELECT g, {items} FROM kinds GROUP BY g")
    for place, column in enumerate(columns):
        both.run(f"EXPLAIN SKETCH SELECT g FROM {{d}}.aggregates WHERE c{place} > {repr('7') if '(t)' in column else 9}")
        assert any("groups filtered: yes" in line for (line,) in both.sketched.fetchall()), column


def test_table_that_changes_its_columns_after_the_view_was_made(both: Both) -> None:
    both.run("CREATE VIEW v AS SELECT * FROM r")
    query = "SELECT g, sum(x) FROM {d}.v GROUP BY g HAVING sum(x) > 700"
    star = "SELECT * FROM {d}.v WHERE g IN (SELECT g FROM {d}.v GROUP BY g HAVING sum(x) > 900)"
    both.run("ALTER TABLE r ADD COLUMN later INT")
    assert len(both.answer(query)) == 3
    assert both.report().reason is Reason.FILTERED
    assert len(both.answer(star)) == 10
    assert both.report().reason is Reason.FILTERED
    both.run("CREATE OR REPLACE TABLE r USING DELTA AS SELECT CAST(x / 7 AS DECIMAL(20, 3)) AS x, g FROM {o}.r")
    for text in (
        query,
        star,
        "SELECT g FROM {d}.v GROUP BY g HAVING max(x) <= 1",
        "SELECT g FROM {d}.v WHERE x < 8 GROUP BY g HAVING sum(x) > 1",
    ):
        both.answer(text)
    both.run("CREATE OR REPLACE TABLE r USING DELTA AS SELECT x, CAST(g AS STRING) AS g FROM {o}.r")
    both.answer(query)
    assert both.report().reason is Reason.NO_PLAIN_GROUP_KEY


def test_names_in_views_are_not_those_of_the_session(both: Both) -> None:
    both.run("CREATE VIEW v AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g")
    both.run("CREATE TEMPORARY VIEW r AS SELECT 1 AS g, 900 AS x")
    assert [row[0] for row in both.answer(SUM)] == [7, 8, 9]
    assert both.report().reason is Reason.FILTERED
    both.run("CREATE TEMPORARY VIEW w AS SELECT k FROM v")
    both.sketched.execute("SELECT k, count(*) FROM w GROUP BY k HAVING count(*) > 0").fetchall()
    assert both.report().reason is Reason.TEMPORARY_VIEW


@pytest.mark.parametrize(
    ("definition", "detail"),
    [
        ("CREATE VIEW v WITH SCHEMA EVOLUTION AS SELECT g AS k, sum(x) AS t FROM {d}.r GROUP BY g", "schema mode EVOLUTION"),
        ("CREATE VIEW v WITH SCHEMA BINDING AS SELECT g AS k, sum(x) AS t FROM {d}.r GROUP BY g", "schema mode BINDING"),
        ("CREATE VIEW v DEFAULT COLLATION UTF8_LCASE AS SELECT g AS k, sum(x) AS t FROM {d}.r GROUP BY g", "collation"),
        ("CREATE VIEW v AS SELECT k, t FROM {d}.padded", "type CHAR"),
    ],
)
def test_views_with_a_meaning_of_their_own_run_unchanged(both: Both, definition: str, detail: str) -> None:
    both.run("CREATE TABLE padded (k CHAR(3), t INT) USING DELTA")
    both.run(definition)
    both.answer(SUM)
    assert (both.report().decision, both.report().reason) == (Decision.NOT_USED, Reason.VIEW)
    assert detail in both.report().detail


@pytest.mark.parametrize(("name", "value"), [("spark.sql.session.timeZone", "Asia/Tokyo"), ("spark.sql.ansi.enabled", "false")])
def test_view_made_under_other_settings_runs_unchanged(both: Both, name: str, value: str) -> None:
    both.run("CREATE VIEW v AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g")
    both.run(f"SET {name} = {value}")
    both.answer(SUM)
    assert both.report().reason is Reason.VIEW
    assert name in both.report().detail
    both.run("CREATE VIEW here AS SELECT g AS k, x AS t FROM r")
    both.sketched.execute("SELECT k FROM here GROUP BY k HAVING sum(t) > 700").fetchall()
    assert both.report().reason is Reason.FILTERED
    both.run(f"RESET {name}")
    both.answer(SUM)
    assert both.report().reason is Reason.FILTERED


def test_temporary_function_is_not_seen_by_a_view(both: Both) -> None:
    both.run("CREATE VIEW v AS SELECT g AS k, sum(x) AS t FROM r GROUP BY g")
    both.run("CREATE TEMPORARY FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN 2 * x")
    both.answer(SUM)
    assert both.report().reason is Reason.VIEW
    both.run("DROP TEMPORARY FUNCTION twice")
    both.answer(SUM)
    assert both.report().reason is Reason.FILTERED


def test_names_that_resolve_along_a_path_run_unchanged(both: Both) -> None:
    query = "SELECT g FROM r GROUP BY g HAVING sum(x) > 900"
    both.run(query)
    assert (both.report().reason, both.sketched.fetchall()) == (Reason.FILTERED, [(9,)])
    both.run("SET spark.sql.path.enabled = true")
    both.run("SET PATH = system.builtin, spark_catalog.{o}, spark_catalog.{d}")
    both.run(query)
    assert (both.report().reason, both.sketched.fetchall()) == (Reason.NOT_A_DELTA_TABLE, [(0,)])
