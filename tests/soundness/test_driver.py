"""The whole driver on random queries and random changes, without a JVM: what it answers is compared with the plain query after each step.

IMP_WIDE=1 takes many more steps.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from imp_driver.config import Options, SketchMode
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Decision, Reason
from tests.operators.model import WIDE
from tests.soundness.engine import DuckSession, Row, Warehouse
from tests.soundness.queries import Queries
from tests.soundness.tables import COLUMNS


def _row(chance: random.Random) -> Row:
    def number(low: int, high: int) -> int | None:
        return None if chance.random() < 0.15 else chance.randint(low, high)

    return (chance.randint(0, 99), number(0, 4), number(0, 4), number(-2, 4))


def _changed(chance: random.Random, rows: list[Row]) -> list[Row]:
    kept = [row for row in rows if chance.random() < 0.85]
    return [*kept, *(_row(chance) for _ in range(chance.randint(0, 3)))]


def _other_constants(chance: random.Random, text: str) -> str:
    """Change some constants of conditions, which leaves the template as it is."""
    return re.sub(r"(?<=[<>=] )-?\d+\b", lambda found: str(chance.randint(-1, 5)) if chance.random() < 0.5 else found[0], text)


def _reusable(chance: random.Random) -> str:
    """A query whose row conditions have constants: on keys, within groups, on both sides of a join."""
    function = chance.choice(["sum(r.a)", "count(*)", "max(r.a)", "min(r.a)", "avg(r.a)", "count(r.x)"])
    atoms = ["r.x > 1", "r.x >= 0", "r.a >= 0", "r.a < 4", "r.x < 3", "r.g > 0", "r.g <= 3", "r.g = 1", "r.x <> 2", "NOT r.x = 1"]
    where = " AND ".join(chance.sample(atoms, chance.randint(1, 3)))
    source = chance.choice(["r", "r", "r", "r JOIN s ON r.g = s.k AND s.b > 0"])
    text = f"SELECT r.g, {function} AS f FROM {source} WHERE {where} GROUP BY r.g"
    if chance.random() < 0.25:
        return f"{text} ORDER BY f{chance.choice(['', ' DESC'])}, g LIMIT 2"
    return f"{text} HAVING {function} {chance.choice(['>', '>=', '<', '='])} 2"


@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_the_plain_query(seed: int) -> None:
    chance = random.Random(seed)
    queries = Queries(chance)
    tally: Counter[Decision | Reason] = Counter()
    reused = 0
    for _ in range(400 if WIDE else 12):
        warehouse = Warehouse()
        for table in COLUMNS:
            warehouse.commit(table, [_row(chance) for _ in range(chance.randint(3, 14))])
        sketches = Sketches(warehouse, 1 << 30)
        middleware = Middleware(DuckSession(warehouse), warehouse, sketches, Options(sketch=SketchMode.SHADOW))
        shapes = [queries.simple, queries.grouped, queries.focused, queries.query]
        asked = [chance.choice(shapes)() for _ in range(6)] + [_reusable(chance) for _ in range(3)]
        for step in range(50):
            if step % 3 == 0:
                table = chance.choice(list(COLUMNS))
                warehouse.commit(table, _changed(chance, warehouse.rows(table)))
            place = chance.randrange(len(asked))
            asked[place] = _other_constants(chance, asked[place])
            report = middleware.run(asked[place], None, "tag").report
            tally[report.decision] += 1
            tally[report.reason] += 1
            reused += "other constants" in report.detail
            assert report.reason is not Reason.INTERNAL, f"{asked[place]}: {report.detail}"
    assert min(tally[decision] for decision in (Decision.CAPTURED, Decision.MAINTAINED, Decision.FRESH)) > 20, tally
    assert tally[Reason.FILTERED] > 100, tally
    assert reused > 5
