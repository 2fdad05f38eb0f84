"""Which parts of a plan are blocks of rows, and what of them may be cut."""

from __future__ import annotations

import pytest

from imp_driver.plan.nodes import scans
from imp_driver.plan.rows import row_blocks
from imp_driver.ports import COLLATED, NESTED_CHAR
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import analyse
from imp_driver.safety.partial import candidates, judge_partial
from imp_driver.safety.setting import NoFacts
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = (
    SchemaColumn("a", "integer", True),
    SchemaColumn("b", "double", True),
    SchemaColumn("flag", "boolean", True),
    SchemaColumn("loose", COLLATED, True),
    SchemaColumn("nested", NESTED_CHAR, True),
)


@pytest.mark.parametrize(
    ("text", "tables", "cut"),
    [
        ("select a from r where b > 1", ["r"], {"r"}),
        ("select sum(b) from r where b > 1", ["r"], {"r"}),
        ("select distinct a from r where b > 1 order by a limit 3", ["r"], {"r"}),
        ("select a, row_number() over (order by a, b, flag) from r where b > 1", ["r"], {"r"}),
        ("select r.a from r join s on r.a = s.a", ["rs"], {"r", "s"}),
        ("select r.a from r left join s on r.a = s.a where r.b > 1", ["rs"], {"r"}),
        ("select r.a from s right join r on r.a = s.a", ["sr"], {"r"}),
        ("select r.a from r full join s on r.a = s.a", [], set()),
        ("select a from r where a in (select a from s)", ["rs"], {"r"}),
        ("select a from r where a not in (select a from s)", ["rs"], {"r"}),
        ("select a from r where a > (select max(b) from s)", ["rs"], {"r"}),
        ("select a from s where b > (select max(b) from r where r.a = s.a group by flag having count(*) > 1)", ["sr"], {"s"}),
        ("select a from r where b > 1 union all select a from s where b > 2", ["r", "s"], {"r", "s"}),
        ("select a from r where b > 1 except select a from s", ["r"], {"r"}),
        ("select a from (select a, b from r order by a, b limit 5) where b > 1", [], set()),
        ("select a from r", [], set()),
        ("select count(*) from r", [], set()),
    ],
)
def test_blocks_and_the_tables_that_may_be_cut(text: str, tables: list[str], cut: set[str]) -> None:
    blocks = row_blocks(plan_of(text, SCHEMA))
    assert ["".join(scan.table[-1] for scan in scans(block.top)) for block in blocks] == tables
    every = [(block, each) for block in blocks for each in candidates(block)]
    assert {each.scan.table[-1] for _, each in every} == cut
    assert {each.attribute.name for _, each in every} == ({"a", "b"} if cut else set())
    for block, each in every:
        found = judge_partial(block, [each], NoFacts(), checks_overflow=False)
        assert found is not None
        assert (found.conditions, found.has_limit, found.may_tie, found.facts) == (frozenset(), False, False, frozenset())


@pytest.mark.parametrize("column", ["loose", "nested"])
@pytest.mark.parametrize(
    "text",
    [
        "select a from r where {0} = 'x'",
        "select r.a from r join s on r.{0} = s.{0}",
        "select a from r group by a, {0} having count(*) > 1",
        "select a from r group by a having count(distinct {0}) > 1",
        "select a from r where {0} = 'x' group by a having count(*) > 1",
    ],
)
def test_text_with_other_rules_is_not_computed_with(text: str, column: str) -> None:
    with pytest.raises(Refused) as caught:
        analyse(plan_of(text.format(column), SCHEMA))
    assert caught.value.reason is Reason.UNSUPPORTED_EXPRESSION
    assert caught.value.detail.startswith(f"{column}: text with a collation")


def test_text_with_other_rules_may_be_shown() -> None:
    assert analyse(plan_of("select loose, nested from r where a in (select a from s group by a having avg(b) > 1)", SCHEMA))
    assert analyse(plan_of("select loose, nested from r where a > 1", SCHEMA))
