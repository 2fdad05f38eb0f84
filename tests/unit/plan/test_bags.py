"""Which columns the groups of equal rows have, for parts of a plan that have no groups of their own."""

from __future__ import annotations

import pytest

from imp_driver.plan.bags import with_bags
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = (
    SchemaColumn("a", "integer", True),
    SchemaColumn("b", "double", True),
    SchemaColumn("c", "string", True),
    SchemaColumn("d", "map<string,int>", True),
)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("select a from r where b > 1", ["a"]),
        ("select a, upper(c) from r where b > 1", ["a c"]),
        ("select a from (select * from r where b > 1) as x where a > 3", ["a"]),
        ("select x.a from (select a, c from r) as x, (select a, b, c from s) as y where x.a = y.a", ["a"]),
        ("select x.a from (select a, max(b) as b from r group by a) as x, (select * from s) as y where x.b = y.b", ["b"]),
        ("select a from r union all select a from (select * from s) as x", ["a", "a"]),
        ("select a from r intersect select a from (select a, b as a2 from s) as x", ["a", "a"]),
        ("select a from r where exists (select a, c from s where s.a = r.a)", ["a"]),
        ("select a from r where a not in (select a from (select * from s) as x)", ["a", "a"]),
        ("select a from (select a, count(*) as n from r group by a) as x", []),
        ("select d from r", []),
    ],
)
def test_groups_of_equal_rows_have_what_is_read_of_them(text: str, keys: list[str]) -> None:
    plan, bags = with_bags(plan_of(text, SCHEMA))
    assert [" ".join(sorted(attribute.name for attribute in each.key_attributes)) for each in bags] == keys
    assert [attribute.name for attribute in plan.output] == [attribute.name for attribute in plan_of(text, SCHEMA).output]


def test_rows_of_which_nothing_is_read_stay_rows() -> None:
    assert with_bags(plan_of("select 1 from (select * from r) as x", SCHEMA))[1] == ()
