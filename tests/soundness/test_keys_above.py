"""Conditions on keys above their groups instead of below, by a slow reading of both plans."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import sqlglot

from imp_driver.plan.keys_above import with_keys_above
from imp_driver.plan.nodes import Aggregate, Filter, Plan, every
from imp_driver.plan.resolve import resolve
from tests.seeds import SEED, WIDE
from tests.soundness.interpret import bag, evaluate
from tests.soundness.tables import Catalog, random_database

_COUNT = 20_000 if WIDE else 500
_SOURCES = ("r", "r JOIN s AS t ON r.g = t.k", "r LEFT JOIN s AS t ON r.x = t.y", "(SELECT g, x, a + 1 AS a FROM r WHERE x > 0) AS r")
_KEYS: tuple[list[str], ...] = (["r.g"], ["r.g", "r.x"], ["r.x", "r.a"], ["r.g", "r.g + 1"], ["r.g + 1"], [])
_CONDITIONS = (
    "r.g > 1",
    "r.g IN (0, 1, NULL)",
    "NOT (r.x <= 1)",
    "r.x IS NULL",
    "r.a > 0",
    "(r.g = 1 OR r.x = 2)",
    "r.g = r.x",
    "r.g + 1 > 1",
)


def _query(chance: random.Random) -> str:
    keys = chance.choice(_KEYS)
    items = [*(f"{key} AS k{place}" for place, key in enumerate(keys)), "count(*) AS n", f"{chance.choice(['sum', 'max'])}(r.a) AS f"]
    where = " AND ".join(chance.sample(_CONDITIONS, chance.randint(1, 3)))
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    text = f"SELECT {', '.join(items)} FROM {chance.choice(_SOURCES)} WHERE {where}{grouped}"
    text += chance.choice(["", " HAVING count(*) > 1", " HAVING sum(r.a) < 4"])
    return f"SELECT n, max(f) AS m FROM ({text}) AS q GROUP BY n" if chance.random() < 0.2 else text


def _plan(text: str) -> Plan:
    return resolve(sqlglot.parse_one(text, read="spark"), Catalog())


def test_rows_stay_the_same(record_property: Callable[[str, object], None]) -> None:
    moved = tried = 0
    for seed in (0, SEED):
        chance = random.Random(seed)
        for _ in range(_COUNT // 2):
            plan = _plan(_query(chance))
            other = with_keys_above(plan)
            moved += other is not plan
            database = random_database(chance, nonnegative=False)
            assert bag(other, evaluate(other, database)) == bag(plan, evaluate(plan, database))
            tried += 1
    record_property("cases", tried)
    assert tried / 4 < moved < tried


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("SELECT g, count(*) AS n FROM r WHERE g > 1 AND x > 2 GROUP BY g", 1),
        ("SELECT g, count(*) AS n FROM r WHERE g BETWEEN 1 AND 2 GROUP BY g", 0),
        ("SELECT count(*) AS n FROM r WHERE g > 1", 1),
        ("SELECT g + 1 AS k, count(*) AS n FROM r WHERE g > 1 GROUP BY g + 1", 1),
    ],
)
def test_what_stays_below(text: str, left: int) -> None:
    (aggregate,) = (each for each in every(with_keys_above(_plan(text))) if isinstance(each, Aggregate))
    assert (len(aggregate.child.conjuncts) if isinstance(aggregate.child, Filter) else 0) == left
