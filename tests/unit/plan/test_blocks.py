"""Queries unfold to blocks over base columns, or are refused with a stable reason."""

from __future__ import annotations

import pyarrow as pa
import pytest

from imp_driver.parse.settings import check_settings
from imp_driver.parse.statement import parse
from imp_driver.parse.template import template_text
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.plan.usefulness import check_filters
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import analyse
from imp_driver.values.execution import Parameters
from imp_driver.values.expressions import AggregateReference, And, Comparison, Constant, KeyReference, Not, Opaque, Or
from imp_driver.values.refusal import Refused, accepted
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of, plan_of

SCHEMA = (
    SchemaColumn("id", "long", False),
    SchemaColumn("a", "integer", True),
    SchemaColumn("b", "double", True),
    SchemaColumn("c", "double", True),
    SchemaColumn("d", "decimal(10,2)", True),
    SchemaColumn("s", "string", True),
    SchemaColumn("t", "date", True),
    SchemaColumn("flag", "boolean", True),
    SchemaColumn("nested", "struct", True),
    SchemaColumn("Odd Name", "integer", True),
    SchemaColumn("fixed", "char(5)", True),
)


def _bind(text: str, parameters: Parameters = None) -> BoundBlock:
    analysis = analysis_of(text, SCHEMA)
    block = bind(analysis.block, parameters, analysis.columns)
    check_filters(block, by_subquery=analysis.plan.by_subquery)
    return block


def _template(text: str) -> str:
    tree = parse(text).tree
    assert tree is not None
    return template_text(tree)


def _refusal(text: str) -> Reason:
    with pytest.raises(Refused) as caught:
        _bind(text)
    return caught.value.reason


@pytest.mark.parametrize(
    ("text", "keys", "where", "aggregates"),
    [
        ("select a, avg(b) from r group by a having avg(c) < 9", ["`a`"], None, ["`c`"]),
        ("select a, avg(b) ab from r group by a having ab > 3 and avg(c) > 1 and ab < 7", ["`a`"], None, ["`b`", "`c`"]),
        (
            "select x, sum(y) from (select a as x, b * 2 as y from r where c < 3) t where y > 1 group by x having sum(y) > 1",
            ["`a`"],
            "(`c` < 3) AND ((`b` * 2) > 1)",
            ["(`b` * 2)"],
        ),
        ("select * from (select a, avg(c) as ac from r where d > 0 group by 1) t where ac > 5", ["`a`"], "(`d` > 0)", ["`c`"]),
        ("select a, sum(b) b from r group by a having sum(b) > 4", ["`a`"], None, ["`b`"]),
        ("select a x, count(*) from r group by x order by 2 desc, x limit 5 offset 2", ["`a`"], None, [None]),
        ("select count(*) from (select a from r group by a having max(c) > 3) q", ["`a`"], None, ["`c`"]),
        ("select count(*) from (select a from r group by a having max(c) > 3) q limit 1001", ["`a`"], None, ["`c`"]),
        ("select a, s from r group by all having count(*) > 3", ["`a`", "`s`"], None, [None]),
        ("select `odd name` from r group by `odd NAME` having count(1) > 3", ["`Odd Name`"], None, [None]),
        ("select distinct ab from (select a, avg(b) ab from r group by a) z where ab > 1", ["`a`"], None, ["`b`"]),
        ("select a from (select * from r where c > 1) group by a having min(d) < 3", ["`a`"], "(`c` > 1)", ["`d`"]),
        ("select r.a from sales.r group by r.a having count(s) > 1", ["`a`"], None, ["`s`"]),
        ("with q as (select a from r group by a having sum(b) > 1) select q.a from q join s on s.a = q.a", ["`a`"], None, ["`b`"]),
        ("select a from r group by a having count(*) > 1 union all select a from s", ["`a`"], None, [None]),
        ("select d from s where a in (select a from r group by a having min(b) < 1)", ["`a`"], None, ["`b`"]),
        ("select a from r group by a having sum(b) > (select avg(b) from s) and max(c) > 1", ["`a`"], None, ["`c`"]),
        ("select a, row_number() over (order by a) from r group by a having count(*) > 1", ["`a`"], None, [None]),
        ("select count(*) from (select a, sum(b) x from r group by a having sum(b) > 1) t group by x", ["`a`"], None, ["`b`"]),
        ("select a from r group by a having count(*) > 1 and a in (select a from s) order by a limit 3", ["`a`"], None, [None]),
    ],
)
def test_blocks(text: str, keys: list[str], where: str | None, aggregates: list[str | None]) -> None:
    block = _bind(text)
    assert list(block.keys_sql) == keys
    assert block.where_sql == where
    assert [aggregate.argument_sql for aggregate in block.aggregates] == aggregates


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("select a from r", Reason.NO_AGGREGATION),
        ("select 1", Reason.NO_AGGREGATION),
        ("select a, avg(b) from r group by a", Reason.NO_FILTER_ABOVE_GROUPS),
        ("select sum(b) from r having count(*) < 3", Reason.SCALAR_AGGREGATE),
        ("select a, avg(b) from r, q group by a having avg(b) > 1", Reason.AMBIGUOUS_NAME),
        ("select a from r where b = 1 or b in (select a from q) group by a having count(*) > 1", Reason.SUBQUERY),
        ("select a from r group by a having sum(b) > (select avg(b) from r)", Reason.SUBQUERY),
        ("select a, (select avg(b) from r) from r group by a", Reason.NO_FILTER_ABOVE_GROUPS),
        ("with recursive q as (select 1 as a union all select a from q) select a from q group by a", Reason.RECURSION),
        ("select a, sum(b) over w from r window w as (order by a)", Reason.WINDOW_FUNCTION),
        ("select a from r tablesample (10 percent) group by a having count(*) > 1", Reason.SAMPLE),
        ("select a from r version as of 3 group by a having count(*) > 1", Reason.TIME_TRAVEL),
        ("select a from r group by a having count(*) > 1 limit 3", Reason.LIMIT_WITHOUT_ORDER),
        ("select count(*) from (select a from r group by a having max(c) > 3) q limit 0", Reason.LIMIT_WITHOUT_ORDER),
        ("select count(*) from (select a from r group by a having max(c) > 3) q limit 5 offset 1", Reason.LIMIT_WITHOUT_ORDER),
        ("select a, count(*) from (select a from r group by a having max(c) > 3) q group by a limit 5", Reason.LIMIT_WITHOUT_ORDER),
        ("select a from (select a from r group by a having max(c) > 3) q limit 5", Reason.LIMIT_WITHOUT_ORDER),
        ("select explode(collect_list(a)) from (select a from r group by a having max(c) > 3) q limit 5", Reason.UNKNOWN_FUNCTION),
        ("select stack(2, sum(a), 1) from (select a from r group by a having max(c) > 3) q limit 1", Reason.UNKNOWN_FUNCTION),
        ("select a, row_number() over (order by sum(b)) from r group by a having count(*) > 1", Reason.ORDER_NOT_TOTAL),
        ("select a from r group by a having count(*) > 1 and a in (select a from s order by d limit 1)", Reason.ORDER_NOT_TOTAL),
        ("select a from (select a, sum(b) x from r group by a having a in (select a from s)) order by x limit 1", Reason.ORDER_NOT_TOTAL),
        ("select flag from r group by flag order by count(*) limit 1", Reason.NO_PLAIN_GROUP_KEY),
        (
            "select r.a from (select a from r group by a having count(*) > 1) r, "
            "(select flag from r group by flag order by count(*) limit 1) s",
            Reason.NO_PLAIN_GROUP_KEY,
        ),
        ("select a from r group by a having avg(b) > rand()", Reason.NON_DETERMINISTIC),
        ("select a from r where t > current_date group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > date 'today' group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > 'today' group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > ' Yesterday UTC' group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > cast(concat('to', 'day') as date) group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > lower('TODAY') group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > concat(lower('to'), 'day') group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > lower('to' || 'day') group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > upper('x') group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a from r where t > 'to' || 'day' group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a, first(b) from r group by a having avg(b) > 1", Reason.NON_DETERMINISTIC),
        ("select a, my_function(b) from r group by a having avg(b) > 1", Reason.UNKNOWN_FUNCTION),
        ("select a + 1 from r group by a + 1 having avg(b) > 1", Reason.NO_PLAIN_GROUP_KEY),
        ("select flag from r group by flag having avg(b) > 1", Reason.NO_PLAIN_GROUP_KEY),
        ("select a from r where (flag) group by a having count(*) > 1", Reason.UNSUPPORTED_EXPRESSION),
        ("select a from r group by a having median(distinct b) > 1", Reason.UNSUPPORTED_AGGREGATE),
        ("select a from r group by a having approx_count_distinct(b) > 1", Reason.UNSUPPORTED_AGGREGATE),
        ("select a from r group by a having count(distinct b, c) > 1", Reason.UNSUPPORTED_AGGREGATE),
        ("select a from r group by a having stddev(b) filter (where c > 1) > 1", Reason.UNSUPPORTED_AGGREGATE),
        ("select a, sum(b) c from r group by a having c > 4", Reason.AMBIGUOUS_NAME),
        ("select a, sum(b) c from r group by a order by max(c), a limit 3", Reason.AMBIGUOUS_NAME),
        ("select a, a as a2, b as a2 from (select a, b, b as a from r) group by a, b having count(*) > 1", Reason.AMBIGUOUS_NAME),
        ("select a from r group by missing having count(*) > 1", Reason.AMBIGUOUS_NAME),
        ("select x.r.a from x.r group by x.r.a having count(*) > 1", Reason.QUALIFIED_COLUMN),
        ("select a, _metadata.file_path from r group by 1, 2 having count(*) > 1", Reason.QUALIFIED_COLUMN),
        ("select nested.f from r group by nested.f having count(*) > 1", Reason.AMBIGUOUS_NAME),
        ("select a from range(10) group by a having count(*) > 1", Reason.UNKNOWN_FUNCTION),
        ("select a from (select a, b from r order by b limit 5) group by a having count(*) > 1", Reason.ORDER_NOT_TOTAL),
        ("select a from (select a, b from r order by b, a limit 5) group by a having count(*) > 1", Reason.NOT_SAFE),
    ],
)
def test_refusals(text: str, reason: Reason) -> None:
    assert _refusal(text) is reason


def test_no_column_stands_alone_in_brackets_after_where() -> None:
    assert _bind("select a from r where flag group by a having count(*) > 1").where_sql == "(`flag` AND true)"
    assert _bind("select a from r where true group by a having count(*) > 1").where_sql == "(TRUE AND true)"


@pytest.mark.parametrize("operator", ["OR", "AND"])
def test_condition_named_in_a_derived_table_stays_one_operand(operator: str) -> None:
    bound = _bind(f"SELECT a FROM (SELECT a, b, b > 1 {operator} c > 1 AS odd FROM t) WHERE NOT odd GROUP BY a HAVING sum(b) > 3")
    assert bound.where_sql == f"(NOT (`b` > 1 {operator} `c` > 1))"


@pytest.mark.parametrize(
    ("where", "moved", "kept"),
    [
        ("a > 3 and b < 1", ["`a` > 3"], ["`b` < 1"]),
        ("a in (1, ?) and t >= date '2024-01-01'", ["`a` IN (1, :__imp_0)", "`t` >= CAST('2024-01-01' AS DATE)"], []),
        ("a > b or a is null", None, None),
        ("abs(a) > 3", None, None),
    ],
)
def test_conditions_on_keys_are_lifted_above_the_groups(where: str, moved: list[str] | None, kept: list[str] | None) -> None:
    analysis = analysis_of(f"select a, t from r where {where} group by a, t having count(*) > 1", SCHEMA)
    if moved is None:
        assert analysis.lifted is None
        return
    assert analysis.lifted is not None
    assert [each.sql(dialect="spark") for each in analysis.lifted.having] == [*moved, "COUNT(*) > 1"]
    assert [each.sql(dialect="spark") for each in analysis.lifted.where] == kept


def test_having_converts_to_three_valued_conditions() -> None:
    block = _bind("select a from r group by a having not (avg(b) between 1 and 2.5) or a in (3, 4) or approx_count_distinct(c) > 1")
    low, high = (
        Comparison(">=", AggregateReference(0), Constant(1)),
        Comparison("<=", AggregateReference(0), Constant(__import__("decimal").Decimal("2.5"), pa.decimal128(2, 1))),
    )
    members = Or((Comparison("=", KeyReference(0), Constant(3)), Comparison("=", KeyReference(0), Constant(4))))
    assert isinstance(block.condition, Or)
    first, last = block.condition.operands
    assert first == Or((Not(And((low, high))), members))
    assert isinstance(last, Comparison)
    assert isinstance(last.left, Opaque)


def test_markers_take_their_values_by_place_and_by_name() -> None:
    text = "select a, ? from r where b > ? group by a having avg(c) > ? order by a limit ?"
    block = _bind(text, ("x", 1.5, 7, 3))
    assert block.where_sql is not None
    assert "1.5" in block.where_sql
    assert block.condition == Comparison(">", AggregateReference(0), Constant(7))
    assert block.limit == 3
    named = _bind("select a from r group by a having avg(c) > :low and avg(c) < :high", {"low": 2, "high": 5})
    assert named.condition == And(
        (Comparison(">", AggregateReference(0), Constant(2)), Comparison("<", AggregateReference(0), Constant(5)))
    )


def test_parameter_that_names_the_current_day_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        _bind("select a from r where t > ? group by a having avg(c) > 1", ("now",))
    assert caught.value.reason is Reason.NON_DETERMINISTIC
    assert _bind("select a from r where s > ? group by a having avg(c) > 1", ("nowhere",)).where_sql == "(`s` > 'nowhere')"


def test_constants_do_not_change_the_template_but_structure_does() -> None:
    one = _template("SELECT a FROM r WHERE b > 1 GROUP BY a HAVING avg(c) < 5")
    other = _template("select a from r where b > ? group by a having avg(c) < ?")
    third = _template("select a from r where b > 1 group by a having avg(c) <= 5")
    assert one == other
    assert one != third


def test_limit_stays_in_the_template() -> None:
    assert _template("select a from r group by a order by a limit 3") != _template("select a from r group by a order by a limit 4")


def test_top_k_counts_its_offset() -> None:
    block = _bind("select a from r group by a order by count(*) desc, a limit 5 offset 2")
    assert (block.limit, block.offset) == (7, 2)
    assert [key.descending for key in block.order] == [True, False]
    assert [key.nulls_first for key in block.order] == [False, True]


@pytest.mark.parametrize(
    ("text", "may_tie"),
    [
        ("select a, sum(b) from r group by a order by sum(b) desc limit 3", [True]),
        ("select a, sum(b) from r group by a order by sum(b) desc, a limit 3", [False]),
        ("select x from (select a, sum(b) x from r group by a) t order by x limit 3", [True]),
        ("select a from s where a in (select a from r group by a having max(c) > 1 order by max(c) limit 3)", [True]),
        (
            "select r.a from (select a from r group by a having count(*) > 1) r, (select a from s group by a order by count(*) limit 1) s "
            "where r.a = s.a",
            [False, True],
        ),
    ],
)
def test_block_knows_whether_its_top_k_may_tie(text: str, may_tie: list[bool]) -> None:
    assert [analysis.may_tie for analysis in analyse(plan_of(text, SCHEMA))] == may_tie


def test_what_is_needed_is_not_left_out() -> None:
    def attempt(item: str) -> str:
        if item.startswith("bad"):
            raise Refused(Reason.NOT_SAFE, item)
        return item

    assert accepted(attempt, ["good", "bad", "fine"]) == ["good", "fine"]
    with pytest.raises(Refused) as caught:
        accepted(attempt, ["good", "bad", "bad and needed"], lambda item: item.endswith("needed"))
    assert caught.value.detail == "bad and needed"
    with pytest.raises(Refused) as caught:
        accepted(attempt, ["bad", "bad again"])
    assert caught.value.detail == "bad"


def test_columns_that_spark_pads_or_collates_are_left_to_spark() -> None:
    block = _bind("select a, fixed from r where fixed = 'x' group by a, fixed having fixed = 'x' or count(*) > 1")
    assert block.where == Comparison("=", Opaque("fixed"), Constant("x"))
    assert isinstance(block.condition, Or)
    assert block.condition.operands[0] == Comparison("=", Opaque("`fixed`"), Constant("x"))
    assert block.keys[1] == Opaque("fixed")
    assert _refusal("select fixed from r group by fixed having avg(b) > 1") is Reason.NO_PLAIN_GROUP_KEY


@pytest.mark.parametrize(
    ("name", "value", "fine"),
    [
        ("spark.sql.caseSensitive", "true", False),
        ("spark.sql.caseSensitive", "None", True),
        ("spark.sql.ansi.enabled", "false", True),
        ("spark.sql.legacy.consecutiveStringLiterals.enabled", "true", False),
        ("spark.sql.legacy.setopsPrecedence.enabled", "true", False),
        ("spark.sql.crossJoin.enabled", "false", False),
        ("spark.sql.crossJoin.enabled", "true", True),
        ("spark.sql.optimizer.excludedRules", "", True),
        ("spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.DecimalAggregates", False),
    ],
)
def test_settings_that_change_what_names_mean(name: str, value: str, fine: bool) -> None:
    if fine:
        check_settings(((name, value),))
        return
    with pytest.raises(Refused) as caught:
        check_settings(((name, value),))
    assert caught.value.reason is Reason.UNSUPPORTED_SETTING
