"""Views resolve like derived tables, with the names of their own schema and their columns as recorded."""

from __future__ import annotations

import pyarrow as pa
import pytest

from imp_driver.parse.statement import parse
from imp_driver.plan.nodes import Plan, scans
from imp_driver.plan.outputs import known_type
from imp_driver.plan.resolve import resolve
from imp_driver.plan.views import DEEPEST
from imp_driver.ports import View
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis, analyse
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import Views, plan_of, view_of

SCHEMA = (
    SchemaColumn("g", "integer", True),
    SchemaColumn("x", "long", True),
    SchemaColumn("d", "decimal(10,2)", True),
    SchemaColumn("s", "string", True),
    SchemaColumn("f", "float", True),
    SchemaColumn("c", "char(3)", True),
    SchemaColumn("n", "struct", True),
)
GROUPS = view_of("SELECT g, sum(x) AS t, avg(d) AS a FROM r GROUP BY g", "g k integer", "t t long", "a a decimal(14,6)")


def _resolved(text: str, **views: View) -> Plan:
    tree = parse(text).tree
    assert tree is not None
    named = {("c", *(name.split("__") if "__" in name else ("s", name))): view for name, view in views.items()}
    return resolve(tree, Views(SCHEMA, named))


def _analysis(text: str, **views: View) -> Analysis:
    return analyse(_resolved(text, **views))[0]


def _refused(text: str, **views: View) -> Refused:
    with pytest.raises(Refused) as caught:
        _analysis(text, **views)
    return caught.value


def test_block_is_over_base_columns() -> None:
    block = _analysis("SELECT k FROM v WHERE t > 7 AND k < 3", v=GROUPS).block
    assert [key.sql() for key in block.keys] == ['"g"']
    assert [conjunct.sql() for conjunct in block.having] == ['SUM("x") > 7', '"g" < 3']
    renamed = view_of("SELECT x, g FROM r WHERE s = 'b'", "g k integer", "x amount long")
    block = _analysis("SELECT a FROM w AS q(a, b) WHERE b > 1 GROUP BY a HAVING max(b) > 2", w=renamed).block
    assert [conjunct.sql() for conjunct in block.where] == ["\"s\" = 'b'", '"x" > 1']


def test_names_are_those_of_the_schema_in_which_the_view_was_made() -> None:
    views = {"u__v": view_of("SELECT g, x FROM r JOIN w ON k = g", "g g integer", "x x long", schema="q"), "q__w": GROUPS}
    plan = _resolved("WITH r AS (SELECT g FROM z), w AS (SELECT g FROM z) SELECT v.g FROM u.v", **views)
    found = {scan.table: [reference.name for reference in scan.views] for scan in scans(plan)}
    assert found == {("c", "q", "r"): [("c", "u", "v")], ("c", "s", "r"): [("c", "u", "v"), ("c", "q", "w")]}


def test_columns_around_are_not_visible_in_a_view() -> None:
    inside = view_of("SELECT g FROM r WHERE outside > 1", "g g integer")
    refused = _refused("SELECT g FROM (SELECT g, x AS outside FROM r) q WHERE EXISTS (SELECT 1 FROM v WHERE v.g = q.g)", v=inside)
    assert refused.reason is Reason.AMBIGUOUS_NAME


def test_each_reference_has_places_of_its_own_unless_the_query_reads_a_common_table_twice() -> None:
    twice = scans(_resolved("SELECT a.k FROM v a JOIN v b ON a.k = b.k", v=GROUPS))
    assert len({id(scan.place) for scan in twice}) == 2
    common = scans(_resolved("WITH q AS (SELECT k FROM v) SELECT a.k FROM q a JOIN q b ON a.k = b.k", v=GROUPS))
    assert (len(common), len({id(scan.place) for scan in common}), len({id(scan.views[0]) for scan in common})) == (2, 1, 1)


def test_column_of_another_type_is_converted_and_no_longer_a_key() -> None:
    changed = view_of("SELECT g, sum(x) AS t FROM r GROUP BY g", "g k long", "t t integer")
    block = _analysis("SELECT k FROM v WHERE t > 7", v=changed).block
    assert [conjunct.sql("spark") for conjunct in block.having] == ["CAST(SUM(`x`) AS INT) > 7"]
    narrow = view_of("SELECT g, x FROM r", "g g string", "x x long")
    assert _refused("SELECT g FROM v GROUP BY g HAVING avg(x) > 1", v=narrow).reason is Reason.NO_PLAIN_GROUP_KEY
    quiet = view_of("SELECT g, x FROM r", "g g integer", "x x integer", is_ansi=False)
    refused = _refused("SELECT g FROM v GROUP BY g HAVING sum(x) > 1", v=quiet)
    assert (refused.reason, "may have changed" in refused.detail) == (Reason.VIEW, True)
    same = view_of("SELECT g, x FROM r", "g g integer", "x x long", is_ansi=False)
    assert _analysis("SELECT g FROM v GROUP BY g HAVING sum(x) > 1", v=same).safe == (0,)


READ = "SELECT k FROM v WHERE t > 7"
BODY = "SELECT g, sum(x) AS t FROM r GROUP BY g"


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        (BODY, ("g k integer", "missing t long"), Reason.AMBIGUOUS_NAME),
        ("SELECT g, x, x AS t, d AS t FROM r", ("g k integer", "t t long"), Reason.AMBIGUOUS_NAME),
        ("SELECT g, sum(x) FROM r GROUP BY g", ("g k integer", "sum(x) t long"), Reason.AMBIGUOUS_NAME),
        ("SELECT g, sum(x) AS t FROM r WHERE s = 'a\\b' GROUP BY g", ("g k integer", "t t long"), Reason.UNSUPPORTED_EXPRESSION),
        ("SELECT g, sum(x) AS t FROM r WHERE s = 'today' GROUP BY g", ("g k integer", "t t long"), Reason.NON_DETERMINISTIC),
        ("SELECT g, sum(mine(x)) AS t FROM r GROUP BY g", ("g k integer", "t t long"), Reason.UNKNOWN_FUNCTION),
        ("SELECT g, sum(x) AS t FROM r WHERE x > :p GROUP BY g", ("g k integer", "t t long"), Reason.VIEW),
        ("SELECT g, sum(x) AS t FROM r WHERE x > ? GROUP BY g", ("g k integer", "t t long"), Reason.VIEW),
        ("DELETE FROM r", ("g k integer", "t t long"), Reason.VIEW),
        ("SELECT g, FROM WHERE", ("g k integer", "t t long"), Reason.NOT_PARSED),
        ("SELECT g, sum(x) AS t FROM c.r GROUP BY g", ("g k integer", "t t long"), Reason.AMBIGUOUS_NAME),
        ("SELECT g, sum(x) AS t FROM r VERSION AS OF 3 GROUP BY g", ("g k integer", "t t long"), Reason.TIME_TRAVEL),
        ("SELECT k, t FROM v", ("k k integer", "t t long"), Reason.RECURSION),
        ("SELECT k, t FROM w", ("k k integer", "t t long"), Reason.RECURSION),
    ],
)
def test_refusals(text: str, columns: tuple[str, ...], reason: Reason) -> None:
    assert _refused(READ, v=view_of(text, *columns), w=view_of("SELECT k, t FROM v", "k k integer", "t t long")).reason is reason


def test_view_with_a_problem_is_refused_with_it() -> None:
    refused = _refused(READ, v=view_of(BODY, "g k integer", "t t long", problem="another time zone"))
    assert (refused.reason, refused.detail) == (Reason.VIEW, "c.s.v: another time zone")
    assert _refused("SELECT k FROM v VERSION AS OF 1 WHERE t > 7", v=GROUPS).reason is Reason.TIME_TRAVEL


def test_views_over_views_have_a_limit() -> None:
    views = {f"v{level}": view_of(f"SELECT g, x FROM v{level - 1}", "g g integer", "x x long") for level in range(1, DEEPEST + 1)}
    views["v0"] = view_of("SELECT g, x FROM r", "g g integer", "x x long")
    query = "SELECT g FROM v{} GROUP BY g HAVING sum(x) > 1"
    assert len(_analysis(query.format(DEEPEST - 1), **views).scans[0].views) == DEEPEST
    assert _refused(query.format(DEEPEST), **views).reason is Reason.VIEW


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("count(*)", pa.int64()),
        ("count(DISTINCT s)", pa.int64()),
        ("sum(g)", pa.int64()),
        ("sum(d)", pa.decimal128(20, 2)),
        ("sum(f)", pa.float64()),
        ("avg(g)", pa.float64()),
        ("avg(d)", pa.decimal128(14, 6)),
        ("avg(f)", pa.float64()),
        ("max(g)", pa.int32()),
        ("min(s)", pa.string()),
        ("max(d)", pa.decimal128(10, 2)),
        ("sum(d * d * d)", pa.decimal128(38, 6)),
        ("avg(d * d * d * 1.5)", None),
        ("sum(s)", None),
        ("max(c)", None),
        ("min(n)", None),
        ("stddev(x)", None),
        ("sum(DISTINCT x)", None),
        ("count(*) FILTER (WHERE x > 1)", None),
        ("sum(x) / 2", pa.float64()),
        ("sum(d) / 2", pa.decimal128(24, 6)),
        ("g", pa.int32()),
    ],
)
def test_types_that_are_certain(item: str, expected: pa.DataType | None) -> None:
    plan = plan_of(f"SELECT {item} AS value FROM r GROUP BY g", SCHEMA)
    assert known_type(plan, plan.output[0]) == expected


def test_types_go_through_derived_tables_and_need_the_branches_of_a_union_to_agree() -> None:
    inner = "SELECT g, sum(x) AS t FROM r GROUP BY g HAVING sum(x) > 1 ORDER BY t, g LIMIT 3"
    plan = plan_of(f"SELECT DISTINCT t + 1 AS u, g FROM ({inner}) q WHERE t > 1", SCHEMA)
    assert [known_type(plan, each) for each in plan.output] == [pa.int64(), pa.int32()]
    plan = plan_of("SELECT g, x FROM r UNION ALL SELECT g, g FROM r", SCHEMA)
    assert [known_type(plan, each) for each in plan.output] == [pa.int32(), None]
