"""How a change of one table finds its partners below inner joins."""

from __future__ import annotations

import pytest

from imp_driver.dataflow.join import steps_from
from imp_driver.plan.below import unfold
from imp_driver.plan.conjunctive import equalities_of, joined_scans
from imp_driver.plan.nodes import scans
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

SCHEMA = (SchemaColumn("a", "integer", True), SchemaColumn("b", "integer", True), SchemaColumn("c", "integer", True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1 from r join s on r.a = s.b", {"r": "s.b=r.a", "s": "r.a=s.b"}),
        ("select 1 from r, s where s.a = r.b and r.c > 1", {"r": "s.a=r.b", "s": "r.b=s.a"}),
        (
            "select 1 from r join s on r.a = s.a join t on t.b = s.b",
            {"r": "s.a=r.a t.b=s.b", "t": "s.b=t.b r.a=s.a", "s": "r.a=s.a t.b=s.b"},
        ),
        ("select 1 from (select a as k, c from r where b > 1) r join s on s.a = k", {"r": "s.a=r.a", "s": "r.a=s.a"}),
        ("select 1 from r join s on r.a = s.a and s.b = r.b", {"r": "s.a=r.a&s.b=r.b", "s": "r.a=s.a&r.b=s.b"}),
        (
            "select 1 from r join s on r.a = s.a join t on t.b = s.b and t.c = r.c",
            {"r": "s.a=r.a t.b=s.b&t.c=r.c", "t": "r.c=t.c s.a=r.a&s.b=t.b", "s": "r.a=s.a t.b=s.b&t.c=r.c"},
        ),
        # All rows meet where no equality tells which.
        ("select 1 from r join s on r.a = s.a + 1", {"r": "*", "s": "*"}),
        ("select 1 from r join s on r.a = s.a join t on t.b > s.b", {"r": "s.a=r.a *", "s": "r.a=s.a *", "t": "* s.a=r.a"}),
        ("select 1 from r join s on r.a = s.a or r.b = s.b", {"r": "*", "s": "*"}),
        ("select 1 from r join s on r.a <=> s.a", {"r": "*", "s": "*"}),
    ],
)
def test_steps(text: str, expected: dict[str, str]) -> None:
    below = unfold(plan_of(text, SCHEMA))
    every = joined_scans(below.source)
    assert every is not None
    names = {attribute.identifier: f"{scan.table[-1]}.{attribute.name}" for scan in every for attribute in scan.output}
    columns = [[attribute.identifier for attribute in scan.output] for scan in every]
    for place, scan in enumerate(every):
        steps = steps_from(place, columns, equalities_of(below.where))
        found = ["&".join(sorted(f"{names[own]}={names[key]}" for key, own in step.pairs)) or "*" for step in steps]
        assert " ".join(found) == expected[scan.table[-1]]


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from r left join s on r.a = s.a",
        "select 1 from r join (select a, count(*) from s group by a) s on r.a = s.a",
        "select 1 from r where a in (select a from s)",
        "select 1 from r join (select distinct a from s) s on r.a = s.a",
    ],
)
def test_other_sources_have_no_order(text: str) -> None:
    below = unfold(plan_of(text, SCHEMA))
    assert len(scans(below.source)) == 2
    assert joined_scans(below.source) is None
