"""Plans as SQL, where how they are written decides what they cost."""

from __future__ import annotations

import sqlglot

from imp_driver.plan.groupings import groupings
from imp_driver.plan.render import Renderer, read_identifiers
from imp_driver.plan.resolve import resolve
from tests.soundness.tables import Catalog


def test_rows_that_a_subquery_reads_are_joined_by_their_conditions() -> None:
    """Spark takes the values that a correlated subquery is computed for from the join below it, without what stands above."""
    text = "SELECT sum(r.a) FROM r, s WHERE r.g = s.k AND s.b = 3 AND r.x < (SELECT avg(t.x) FROM r t WHERE t.g = s.k)"
    (grouping,) = groupings(resolve(sqlglot.parse_one(text, read="spark"), Catalog()))
    source = grouping.block.query.source
    written = Renderer(lambda scan: ".".join(scan.table), read_identifiers(source)).sql(source)
    assert "INNER JOIN" in written
    assert "ON true" not in written
