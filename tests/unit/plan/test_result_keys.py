"""Which columns of a query tell its rows apart."""

from __future__ import annotations

import pytest

from imp_driver.parse.statement import parse
from imp_driver.plan.result_keys import result_keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("SELECT g, sum(x) AS s FROM t GROUP BY g", (0,)),
        ("SELECT sum(x) AS s, year(d) AS y, h FROM t GROUP BY h, year(d)", (2, 1)),
        ("SELECT g AS k, count(*) FROM t GROUP BY 1", (0,)),
        ("SELECT sum(x) AS s FROM t GROUP BY g", ()),
        ("SELECT g, sum(x) FROM t GROUP BY g, h", ()),
        ("SELECT g, sum(x) FROM t GROUP BY ROLLUP (g)", ()),
        ("SELECT g, sum(x) FROM t GROUP BY g WITH CUBE", ()),
        ("SELECT g, h, sum(x) FROM t GROUP BY GROUPING SETS ((g), (h))", ()),
        ("SELECT g, h, sum(x) FROM t GROUP BY g, h GROUPING SETS ((g), (h))", ()),
        ("SELECT *, sum(x) FROM t GROUP BY 1", ()),
        ("SELECT g FROM t", ()),
        ("SELECT g, sum(x) FROM t GROUP BY ALL", ()),
        ("SELECT g, sum(x) FROM t GROUP BY g UNION ALL SELECT 1, 2", ()),
        ("DELETE FROM t", ()),
    ],
)
def test_they_are_those_that_it_groups_by(text: str, keys: tuple[int, ...]) -> None:
    assert result_keys(parse(text).tree) == keys
