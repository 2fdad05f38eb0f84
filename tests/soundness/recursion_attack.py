"""Attack on recursions under changes: rules over random graphs, best rows, and rows that expire, each against a slow reading.

As a program: ``recursion_attack 400`` tries that many cases; the return code is 1 when a difference was found.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from imp_driver.dataflow.recursion.facts import Row as Fact
from imp_driver.dataflow.recursion.levels import Endless, Levels, RowChanges
from imp_driver.dataflow.recursion.rules import Place, Rule, copied
from imp_driver.dataflow.recursion.selection import Selection
from imp_driver.dataflow.recursion.vectors import VectorLevels
from imp_driver.errors import NotSupportedError
from imp_driver.parse.expiry import Expiry, with_expiries
from imp_driver.values.types import LENGTHS
from tests.operators.recursion_rules import LINK, POINT, RULES, by_rounds
from tests.soundness.engine import DuckSession, Row, Warehouse, connect_engine, drained, in_duckdb

_CHANGES = 4
_FIRST = datetime.datetime(2024, 3, 1)


@dataclass(slots=True)
class Recursions:
    """What was tried: cases by kind, and queries whose recursion the driver refuses."""

    kinds: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    found_in: int | None = None
    differences: list[str] = field(default_factory=list)


def attack(seed: int, numbers: Sequence[int]) -> Recursions:
    """Attack by the cases of these numbers until there is a difference."""
    tally = Recursions()
    kinds = {"levels": _of_levels, "ties": _of_ties, "best": _of_best, "expiry": _of_expiry}
    for number in numbers:
        kind = ("levels", "best", "ties", "best", "expiry")[number % 5]
        kinds[kind](random.Random(f"{kind} {seed} {number}"), tally)
        tally.kinds[kind] += 1
        if tally.differences:
            tally.found_in = number
            break
    return tally


def _of_levels(chance: random.Random, tally: Recursions) -> None:
    """Rules over a graph that changes: rows with their levels are those of rounds, derivations at each level those of a fresh load."""
    make = chance.choice(RULES)
    levels, vectors = Levels(make()), VectorLevels(make())
    widths = {relation: width for relation, width in ((LINK, 2), (POINT, 1)) if any(relation in rule.reads for rule in make())}
    rows: dict[int, set[Fact]] = {relation: set() for relation in widths}
    nodes: list[object] = [*range(4), "x", None]
    for _ in range(_CHANGES):
        changes = {}
        for relation, width in widths.items():
            own = rows[relation]
            removed = set(chance.sample(sorted(own, key=repr), min(len(own), chance.choice([0, 1, 2]))))
            added = {tuple(chance.choice(nodes) for _ in range(width)) for _ in range(chance.choice([0, 1, 4]))}
            rows[relation] = (own - removed) | added
            changes[relation] = RowChanges(removed, added)
        try:
            levels.apply(changes)
            vectors.apply(changes)
            difference = _unlike_rounds(make(), rows, levels, vectors)
        except Endless as error:
            difference = str(error)
        if difference:
            tally.differences.append(f"{make.__name__} of {rows}: {difference}")
            return


def _unlike_rounds(rules: list[Rule], rows: Mapping[int, set[Fact]], levels: Levels, vectors: VectorLevels) -> str:
    fresh = Levels(rules)
    fresh.apply({relation: RowChanges((), own) for relation, own in rows.items()})
    for relation, expected in by_rounds(rules, rows).items():
        if {row: levels.level(relation, row) for row in levels.rows(relation)} != expected:
            return f"rows and levels of {relation} by rows"
        if {row: vectors.level(relation, row) for row in vectors.rows(relation)} != expected:
            return f"rows and levels of {relation} by vectors"
        if any(levels.support(relation, row) != fresh.support(relation, row) for row in expected):
            return f"derivations of {relation} at levels"
    return ""


def _of_ties(chance: random.Random, tally: Recursions) -> None:
    """Ways of whole costs through a graph without cycles, of which the best few are followed, several of one cost among them."""
    most = chance.choice([1, 2])
    levels, links = Levels(_ways(), selections={_WAY: Selection((0, 1), 2, most=most)}), set[_Link]()
    for _ in range(2 * _CHANGES):
        removed = {each for each in links if chance.random() < 0.3}
        added = {
            (*sorted(chance.sample(range(4), 2)), chance.randrange(3), chance.randrange(3)) for _ in range(chance.randrange(4))
        } - links
        links = (links - removed) | added
        levels.apply({LINK: RowChanges(removed, added)})
        if set(levels.rows(_WAY)) != _best_ways(links, most):
            tally.differences.append(f"the best {most} ways of {links}")
            return


_WAY = 1
_Link: TypeAlias = tuple[int, ...]
"""Two nodes, a cost, and what tells links of the same cost apart."""


def _ways() -> list[Rule]:
    def longer(bodies: Sequence[Fact]) -> list[Fact | None]:
        return [(body[0], body[5], body[2] + body[6], body[3]) for body in bodies]  # type: ignore[operator]

    return [
        Rule(_WAY, (LINK,), (4,), (), copied([0, 1, 2, 3])),
        Rule(_WAY, (LINK, _WAY), (4, 4), ((Place(0, 1), Place(1, 0)),), longer),
    ]


def _best_ways(links: set[_Link], most: int) -> set[_Link]:
    found = links
    while more := {(a, d, cost + other, tag) for a, b, cost, tag in links for c, d, other, _ in found if b == c} - found:
        found = found | more
    costs: dict[tuple[int, int], set[int]] = {}
    for a, b, cost, _ in found:
        costs.setdefault((a, b), set()).add(cost)
    return {each for each in found if each[2] in sorted(costs[each[0], each[1]])[:most]}


_STEP = (
    "WITH RECURSIVE p(src, dst, cost, tag) AS (SELECT g, x, a, a FROM r "
    "UNION SELECT p.src, l.x, {}, p.tag FROM p JOIN r l ON p.dst = l.g{}) "
)
_VALUES = ("p.cost + l.a", "greatest(p.cost, l.a)", "least(p.cost, l.a)", "l.a", "p.cost - l.a", "l.a - p.cost")
_CONDITIONS = (
    "",
    "",
    " WHERE p.cost + l.a < 5",
    " WHERE p.cost > 1",
    " WHERE p.cost <> 1",
    " WHERE greatest(p.cost, l.a) < 4",
    " WHERE p.tag > 1",
)
_HAVE = (
    "SELECT p.* FROM p JOIN (SELECT src, dst, {}(cost) AS m FROM p GROUP BY src, dst) q ON p.src = q.src AND p.dst = q.dst AND p.cost = q.m"
)
_RANKED = "SELECT src, dst, cost, tag FROM (SELECT *, {}() OVER (PARTITION BY src, dst ORDER BY cost NULLS {}) AS k FROM p) WHERE k <= {}"
_COUNTED = (
    "SELECT src, cost, n FROM (SELECT *, rank() OVER (PARTITION BY src, dst ORDER BY cost) AS k, "
    "count(*) OVER (PARTITION BY src, dst) AS n FROM p) WHERE k = 1"
)


def _of_best(chance: random.Random, tally: Recursions) -> None:
    """Queries that read the best rows of all ways through a graph without cycles, which another engine follows one and all."""
    above = (
        *(f"SELECT src, dst, {each}(cost) AS m FROM p GROUP BY src, dst" for each in ("min", "max")),
        *map(_HAVE.format, ("min", "max")),
        _RANKED.format(chance.choice(["rank", "dense_rank"]), chance.choice(["FIRST", "LAST"]), chance.choice([1, 2])),
        _COUNTED,
        "SELECT src, min(cost) AS m, max(tag) AS t FROM p GROUP BY src",
        "SELECT src, min(cost) AS m FROM p WHERE tag > 1 GROUP BY src",
    )
    text = _STEP.format(chance.choice(_VALUES), chance.choice(_CONDITIONS)) + chance.choice(above)
    # Most wrong steps are found without the rest of the driver, which takes longer to import than to run.
    from imp_driver.maintain.relations import Relations
    from imp_driver.maintain.sketches import Sketches
    from imp_driver.middleware import Middleware
    from imp_driver.values.execution import Execution
    from imp_driver.values.option_kinds import Policy, RecursionPlace
    from imp_driver.values.options import Options

    warehouse = Warehouse()
    options = Options(policy=Policy.INCREMENTAL, recursion=RecursionPlace.PROCESS)
    path = Middleware(DuckSession(warehouse), warehouse, Sketches(Relations(warehouse, 1 << 30)), options)
    links: list[Row] = []
    for step in range(_CHANGES):
        links = [each for each in links if chance.random() > 0.3]
        links += [(10 * step + place, *_link(chance)) for place in range(7 - len(links))]
        warehouse.commit("r", links)
        try:
            rows = Counter(tuple(row.values()) for row in drained(path.run(Execution(text)).stream))
        except NotSupportedError:
            tally.refused += 1
            return
        if rows != Counter(tuple(row.values()) for row in warehouse.query(text).to_pylist()):
            tally.differences.append(f"{text} of {links}")
            return


def _link(chance: random.Random) -> tuple[int, int, int | None]:
    source, target = sorted(chance.sample(range(5), 2))
    return source, target, None if chance.random() < 0.1 else chance.randrange(4)


def _of_expiry(chance: random.Random, tally: Recursions) -> None:
    """Rows that expire by the newest value of a column: to the last moment they are there."""
    column, unit = chance.choice(["t", "l", "d"]), chance.choice(["hour", "day", "week"])
    count = chance.randrange(1, 48 if unit == "hour" else 4)
    times = [_FIRST + datetime.timedelta(hours=24 * chance.randrange(20) if column == "d" else chance.randrange(72)) for _ in range(8)]
    rows = pa.table(
        {
            "k": pa.array(range(9), pa.int32()),
            "t": pa.array([*(time.replace(tzinfo=datetime.UTC) for time in times), None], pa.timestamp("us", tz="UTC")),
            "l": pa.array([*times, None], pa.timestamp("us")),
            "d": pa.array([*(time.date() for time in times), None], pa.date32()),
        }
    )
    if column == "d" and unit == "hour":
        unit = "day"
    text = with_expiries("SELECT k FROM seen", [Expiry(("seen",), count, unit, column, False)], lambda each: rows.field(each.column).type)
    connection = connect_engine()
    connection.register("seen", rows)
    found = sorted(row[0] for row in connection.sql(in_duckdb(text)).fetchall())
    oldest = max(times) - datetime.timedelta(microseconds=count * LENGTHS[unit])
    expected = [number for number, time in enumerate(times) if time > oldest]
    if found != expected:
        tally.differences.append(f"{text} of {times}: {found}, not {expected}")


if __name__ == "__main__":
    done = attack(0, range(int(sys.argv[1])))
    print(done)
    sys.exit(bool(done.differences))
