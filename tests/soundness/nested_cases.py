"""What is easily wrong with nested aggregates, one small stream of changes each; the query is asked after every change.

A row is ``(id, g, x, a, m, w, d)`` as in ``nested_data``: x stands for prices, a for volumes, g for what partitions them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from tests.soundness.nested_data import Append, Ask, Delete, Row, Script, Settle, Step, Update

_VWAP = "SELECT SUM(o.x * o.a) AS f FROM r o WHERE 0.75 * (SELECT SUM(i.a) FROM r i) < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x)"
_ABOVE = "SELECT SUM(o.x * o.a) AS f FROM r o WHERE 0.25 * (SELECT SUM(i.a) FROM r i) > (SELECT SUM(j.a) FROM r j WHERE j.x > o.x)"
_NOT_BELOW = "SELECT COUNT(*) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) >= (SELECT SUM(j.a) FROM r j WHERE j.x < o.x)"
_EQUAL = "SELECT SUM(o.x * o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) = (SELECT SUM(j.a) FROM r j WHERE j.x = o.x)"
_PARTITIONED = "SELECT SUM(o.a) AS f FROM r o WHERE o.a < (SELECT 0.5 * AVG(j.a) FROM r j WHERE j.g = o.g AND j.x <= o.x)"
_COUNTED = "SELECT o.g AS k, COUNT(*) AS f FROM r o WHERE 1 >= (SELECT COUNT(*) FROM s j WHERE j.x < o.x) GROUP BY o.g"
_DISTINCT = "SELECT SUM(o.a) AS f FROM r o WHERE 2 <= (SELECT COUNT(DISTINCT j.a) FROM r j WHERE j.x <= o.x)"
_EXTREME = "SELECT SUM(o.a) AS f FROM r o WHERE o.a >= (SELECT MAX(j.a) FROM r j WHERE j.x <= o.x)"
_LEAST = "SELECT COUNT(*) AS f FROM r o WHERE o.x > (SELECT MIN(j.x) FROM s j WHERE j.g = o.g)"
_PRODUCT = (
    "SELECT o.g AS k, SUM(o.x - p.x) AS f FROM r o, s p WHERE o.a > 0.25 * (SELECT SUM(i.a) FROM r i) AND "
    "0.5 * (SELECT SUM(j.a) FROM s j) > (SELECT SUM(n.a) FROM s n WHERE n.x > p.x) GROUP BY o.g"
)
_NESTED = (
    "SELECT SUM(o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x AND "
    "0.25 * (SELECT SUM(l.a) FROM r l) < (SELECT SUM(n.a) FROM r n WHERE n.x <= j.x))"
)
_TWO_SIDED = "SELECT SUM(o.a) AS f FROM r o WHERE 3 < (SELECT SUM(j.a) FROM r j WHERE j.x BETWEEN o.x - 1 AND o.x + 1)"
_TURNED = "SELECT SUM(o.a) AS f FROM r o WHERE 3 < (SELECT SUM(j.a) FROM r j WHERE -j.x < o.x - 4)"
_EXCHANGED = "SELECT SUM(o.a) AS f FROM r o WHERE 4 < (SELECT SUM(j.a) FROM r j WHERE o.x > j.x)"
_HAVING = "SELECT COUNT(*) AS f FROM r o WHERE 3 <= (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x HAVING COUNT(*) > 2)"
_GREATEST = "SELECT SUM(o.a) AS f FROM r o WHERE o.a >= (SELECT MAX(j.a) FROM r j WHERE j.g = o.g AND j.x <= o.x)"
_PAIRS = (
    "SELECT SUM(o.x - p.x) AS f, COUNT(p.x) AS n, MAX(o.x) AS m, COUNT(*) AS c FROM r o, s p WHERE o.a > 0.1 * (SELECT SUM(i.a) FROM r i)"
)
_WEIGHTED = "SELECT SUM(o.x) AS f, COUNT(o.a) AS n FROM r o WHERE o.a * 2 > (SELECT AVG(j.a) FROM r j WHERE j.x <= o.x)"
_SOME = "SELECT SUM(o.a) FILTER (WHERE o.x > 2) AS f FROM r o WHERE 2 < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x)"
_OPPOSED = "SELECT SUM(o.a) AS f FROM r o WHERE 3 < (SELECT SUM(j.a) FROM r j WHERE j.x >= o.x - 1 AND 8 - j.x > o.x)"
_UPPER = "SELECT SUM(o.a) AS f FROM r o WHERE 3 < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x AND j.x < o.g + 4)"
_LOWER = "SELECT SUM(o.a) AS f FROM r o WHERE 7 < (SELECT SUM(j.a) FROM r j WHERE j.x >= o.x AND j.x > o.g)"
_ASKING = "SELECT SUM(o.a) AS f FROM r o WHERE 1 > (SELECT COUNT(*) FROM r j WHERE j.x <= o.x AND o.g > 0)"
_TENTH = "SELECT COUNT(*) AS f FROM r o WHERE o.m > 0.1 * (SELECT SUM(i.a) FROM r i)"
_BELOW_EACH = "(SELECT p.x, p.a, (SELECT SUM(n.a) FROM r n WHERE n.x <= p.x) AS b FROM r p)"
_ACROSS = (
    f"SELECT SUM(o.x * o.a) AS f FROM {_BELOW_EACH} o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) < "
    f"(SELECT SUM(j.a) FROM {_BELOW_EACH} j WHERE j.x <= o.x AND 0.5 * o.b < j.b)"
)
_WITHIN = (
    "SELECT SUM(o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i WHERE i.g = o.g) < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x "
    "AND 2.0 * (SELECT SUM(l.a) FROM r l WHERE l.g = j.g) < (SELECT SUM(n.a) FROM r n WHERE n.x <= j.x))"
)
_DIFFERENT = "SELECT SUM(o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) <> (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x)"
_SHARES = "SELECT COUNT(*) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i) <> (SELECT SUM(j.a) FROM r j WHERE j.x = o.x)"
_OR_ZERO = "SELECT SUM(o.a) AS f FROM r o WHERE 0.25 * (SELECT SUM(i.a) FROM r i) > (SELECT COALESCE(SUM(j.a), 0) FROM r j WHERE j.x > o.x)"
_BY_SYMBOL = (
    "SELECT o.g AS k, SUM(o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM r i WHERE i.g = o.g) <= "
    "(SELECT SUM(j.a) FROM r j WHERE j.g = o.g AND j.x <= o.x) GROUP BY o.g"
)
_IN_THE_MIDDLE = (
    "SELECT SUM(o.a) AS f FROM r o WHERE 0.1 * (SELECT SUM(i.a) FROM r i) < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x) "
    "AND 0.8 * (SELECT SUM(l.a) FROM r l) >= (SELECT SUM(n.a) FROM r n WHERE n.x <= o.x)"
)
_FIRST_ONES = (
    "SELECT COUNT(*) AS f FROM r o WHERE 1 >= (SELECT COUNT(*) FROM r j WHERE j.x < o.x) "
    "AND 0.1 * (SELECT SUM(i.a) FROM r i) < (SELECT SUM(n.a) FROM r n WHERE n.x <= o.x)"
)
_OF_ANOTHER = "SELECT SUM(o.x * o.a) AS f FROM r o WHERE 0.5 * (SELECT SUM(i.a) FROM s i) < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x)"
_BOTH_SIDES = (
    "SELECT SUM(o.a) AS f FROM r o WHERE 0.75 * (SELECT SUM(i.a) FROM r i WHERE i.x > o.x) < (SELECT SUM(j.a) FROM r j WHERE o.x >= j.x)"
)


def row(x: int | None, a: int | None, g: int | None = 0, number: int = 0, m: str = "0.10") -> Row:
    return (number, g, x, a, Decimal(m), 0.5, date(2024, 2, 29))


_LEVELS = (row(1, 2), row(2, 3), row(3, 5), row(3, 4, 1), row(5, 1, 1))
_PLUS_ONE = Update("r", "a", "a + 1", "x = 3")


def _case(text: str, *steps: Step) -> Script:
    """Ask after every change, twice at first and at last."""
    script: list[Step] = [Append("r", _LEVELS), Ask(text), Settle(), Append("r", (row(2, 1, number=50),)), Ask(text), Settle()]
    for step in steps:
        script += [step, Ask(text), Settle()]
    return (*script, Ask(text))


CASES: Mapping[str, Script] = {
    "the highest level has nothing above it, and is not there": _case(_ABOVE, Append("r", (row(9, 1),)), Delete("r", "x = 9"), _PLUS_ONE),
    "the lowest level has nothing below it, and is not there": _case(_NOT_BELOW, Append("r", (row(-4, 6),)), Delete("r", "x = -4")),
    "a threshold that is met exactly": _case(
        _VWAP, Delete("r", "id >= 0"), Append("r", (row(1, 75), row(2, 25))), Append("r", (row(3, 0),)), Append("r", (row(0, 1),))
    ),
    "levels without volume": _case(_VWAP, Append("r", (row(4, 0), row(6, 0))), Append("r", (row(0, 0),)), Delete("r", "x = 4"), _PLUS_ONE),
    "negative volumes for a while": _case(
        _VWAP, Append("r", (row(2, -7, number=60),)), Append("r", (row(4, -1, number=61),)), _PLUS_ONE, Delete("r", "id >= 60"), _PLUS_ONE
    ),
    "volumes that cancel out": _case(_VWAP, Append("r", (row(4, 5), row(4, -5))), Append("r", (row(6, 2),)), Delete("r", "x = 4")),
    "no rows, and rows again": _case(_VWAP, Delete("r", "id >= 0"), Append("r", _LEVELS), Append("r", (row(3, 2),))),
    "prices and volumes that are not known": _case(
        _VWAP,
        Append("r", (row(None, 9), row(3, None), row(4, None))),
        Delete("r", "x = 4"),
        Append("r", (row(None, 1),)),
        Delete("r", "x IS NULL"),
    ),
    "copies of which one goes": _case(
        _VWAP, Append("r", (row(4, 6, number=70), row(4, 6, number=71))), Delete("r", "id = 70"), Append("r", (row(4, 6, number=71),) * 2)
    ),
    "half of all, at one level": _case(_EQUAL, Append("r", (row(7, 16),)), Append("r", (row(8, 0),)), Delete("r", "x = 8"), _PLUS_ONE),
    "averages of partitions that come and go": _case(
        _PARTITIONED,
        Append("r", (row(1, 9, 7), row(2, 1, 7))),
        Delete("r", "g = 7"),
        Append("r", (row(1, 0, None), row(1, 8, None))),
        _PLUS_ONE,
    ),
    "counts of nothing": _case(_COUNTED, Append("s", (row(1, 1), row(2, 1))), Append("s", (row(None, 1),)), Delete("s", "id >= 0")),
    "different volumes, of which copies go": _case(
        _DISTINCT, Append("r", (row(0, 5, number=80), row(0, 5, number=81))), Delete("r", "id = 80"), Delete("r", "id = 81"), _PLUS_ONE
    ),
    "the greatest volume goes": _case(_EXTREME, Append("r", (row(0, 8),)), Delete("r", "x = 0"), Delete("r", "a >= 5"), _PLUS_ONE),
    "the least price of another table goes": _case(
        _LEAST,
        Append("s", (row(1, 1), row(2, 1), row(4, 1, 1))),
        Delete("s", "x = 1"),
        Delete("s", "g = 1"),
        Append("s", (row(0, 1, None),)),
    ),
    "products of which a side is empty": _case(
        _PRODUCT,
        Append("s", (row(4, 3), row(6, 1), row(7, 1))),
        Append("r", (row(6, 9, 2),)),
        Delete("s", "id >= 0"),
        Append("s", (row(4, 3), row(5, 1))),
    ),
    "levels of levels": _case(
        _NESTED, Append("r", (row(0, 14),)), Append("r", (row(4, 30),)), Delete("r", "x = 0"), Update("r", "a", "a * 3", "x = 2")
    ),
    "ranges around each row": _case(_TWO_SIDED, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(4, -3),)), _PLUS_ONE),
    "an order that is turned": _case(_TURNED, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(3, 0),)), _PLUS_ONE),
    "a tenth, exactly": _case(_TENTH, Append("r", (row(1, 1, m="1.70"), row(1, 0, m="1.80"))), Append("r", (row(1, 1),)), _PLUS_ONE),
    "rows that come and go in between": (
        *_case(_VWAP, Append("r", (row(4, 3),))),
        *(Append("r", (row(0, 50, number=90),)), Delete("r", "id = 90"), Ask(_VWAP)),
        *(Delete("r", "x = 4"), Append("r", (row(4, 3),)), Ask(_VWAP)),
    ),
    "sides the other way round": _case(_EXCHANGED, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(0, 4),)), _PLUS_ONE),
    "nothing where HAVING leaves no row": _case(
        _HAVING, Append("r", (row(0, 1),)), Append("r", (row(0, 3),)), Delete("r", "x = 0"), _PLUS_ONE
    ),
    "the greatest one below, in each partition": _case(
        _GREATEST, Append("r", (row(1, 1, 1), row(4, 9, 1))), Append("r", (row(0, 7, 2), row(9, 1, 0))), Delete("r", "a = 9"), _PLUS_ONE
    ),
    "the greatest one above, in each partition": _case(
        _GREATEST.replace("<=", ">"),
        Append("r", (row(1, 1, 1), row(4, 9, 1))),
        Append("r", (row(7, 7, 2), row(9, 1, 0))),
        Delete("r", "a = 9"),
    ),
    "partners that have no value": _case(
        _PAIRS, Append("s", (row(4, None), row(None, 1))), Append("s", (row(2, 2), row(2, 2))), Delete("s", "x = 4"), Delete("s", "id >= 0")
    ),
    "groups of rows of which some are alike": _case(
        _WEIGHTED,
        Append("r", (row(3, 5), row(3, 5, number=9), row(5, 1, 1))),
        Delete("r", "id = 9"),
        Append("r", (row(None, 5),)),
        _PLUS_ONE,
    ),
    "some rows of groups": _case(
        _SOME, Append("r", (row(3, 2), row(4, -1))), Delete("r", "a = 2"), Append("r", (row(6, None),)), _PLUS_ONE
    ),
    "two orders against each other": _case(_OPPOSED, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(4, 4),)), _PLUS_ONE),
    "two upper bounds": _case(_UPPER, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(0, 4, 2),)), _PLUS_ONE),
    "two lower bounds": _case(_LOWER, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Append("r", (row(0, 4, 2),)), _PLUS_ONE),
    "rows that ask about nothing": _case(
        _ASKING, Append("r", (row(6, 3, 2),)), Delete("r", "x = 2"), Append("r", (row(0, 4, None),)), _PLUS_ONE
    ),
}

_UNKNOWN = Append("r", (row(None, 9), row(3, None), row(4, None)))
FOLLOWED_CASES: Mapping[str, Script] = {
    "the last quarter": _case(_VWAP, _UNKNOWN, Append("r", (row(2, -7, number=60),)), _PLUS_ONE, Delete("r", "id = 60"), _PLUS_ONE),
    "another quarter": (
        *_case(_VWAP, Append("r", (row(4, 3),))),
        *(Ask(_VWAP.replace("0.75", "0.25")), Ask(_VWAP), _PLUS_ONE, Ask(_VWAP.replace("0.75", "0.25")), Ask(_VWAP)),
    ),
    "above and below": _case(_BOTH_SIDES, _UNKNOWN, Append("r", (row(6, 3),)), Delete("r", "x = 2"), Delete("r", "id >= 0")),
    "nothing above": _case(_ABOVE, _UNKNOWN, Append("r", (row(9, 1),)), Delete("r", "x = 9"), _PLUS_ONE),
    "nothing below": _case(_NOT_BELOW, _UNKNOWN, Append("r", (row(-4, 6),)), Delete("r", "x = -4"), Delete("r", "a IS NULL")),
    "nothing below, and volumes below zero": _case(
        _NOT_BELOW, Append("r", (row(4, -2, number=60),)), Append("r", (row(-4, 6),)), Delete("r", "id = 60"), Delete("r", "id >= 0")
    ),
    "rows without a price pass one of two conditions": _case(_FIRST_ONES, _UNKNOWN, Append("r", (row(0, 9),)), Delete("r", "x IS NULL")),
    "exactly half": _case(_DIFFERENT, Delete("r", "id >= 0"), Append("r", (row(1, 5), row(2, 0), row(3, 5))), _PLUS_ONE),
    "nothing is zero": _case(_OR_ZERO, _UNKNOWN, Append("r", (row(9, 1),)), Delete("r", "x = 9"), _PLUS_ONE),
    "the level of half": _case(
        _DIFFERENT, Append("r", (row(0, 0), row(4, 16))), Append("r", (row(7, 16),)), Delete("r", "x = 0"), _PLUS_ONE
    ),
    "levels of half": _case(_SHARES, Append("r", (row(7, 16),)), Append("r", (row(8, 0),)), Delete("r", "x = 8"), _PLUS_ONE),
    "two levels": _case(_NESTED, Append("r", (row(0, 14),)), Append("r", (row(4, 30),)), Delete("r", "x = 0"), _PLUS_ONE),
    "across two levels": _case(_ACROSS, Append("r", (row(0, 14),)), Append("r", (row(4, 30),)), _UNKNOWN, Delete("r", "x = 0"), _PLUS_ONE),
    "partitions within": _case(
        _WITHIN,
        Append("r", (row(2, 9, 1), row(0, 1, 2), row(6, 2, 2))),
        Append("r", (row(4, 1, 2), row(6, 1, 0))),
        Append("r", (row(7, 30, 0), row(8, 30, 1))),
        Delete("r", "x = 2"),
        _PLUS_ONE,
    ),
    "a structure for each symbol": _case(
        _BY_SYMBOL, Append("r", (row(0, 9, 1), row(1, 4, None))), _UNKNOWN, Delete("r", "g = 1"), Append("r", (row(2, 2, 1),)), _PLUS_ONE
    ),
    "two thresholds": _case(
        _IN_THE_MIDDLE, _UNKNOWN, Append("r", (row(6, 30),)), Append("r", (row(0, 9),)), Delete("r", "x = 6"), _PLUS_ONE
    ),
    "counts of nothing, by group": _case(_COUNTED, Append("s", (row(1, 1), row(2, 1))), _UNKNOWN, Delete("s", "id >= 0")),
    "the whole of another table": _case(
        _OF_ANOTHER, Append("s", (row(1, 9),)), Append("s", (row(1, 9),)), Append("r", (row(2, 4),)), Delete("s", "id >= 0")
    ),
}
"""The same where merges are followed, which those of so few groups are not elsewhere."""

_FROM_OTHERS = "SELECT SUM(p.a) AS f FROM s p WHERE 5 < (SELECT SUM(j.a) FROM r j WHERE j.x <= p.x)"
_ELSEWHERE = "SELECT SUM(o.a) AS f FROM r o WHERE 12 < (SELECT SUM(j.a) FROM r j WHERE j.x <> o.x)"
_OTHER_KEY = "SELECT COUNT(*) AS f FROM r o WHERE 4 < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x AND j.g <> o.g)"
_ALL_KINDS = (
    "SELECT o.g AS k, AVG(o.a) AS v, MIN(o.a) AS n, MAX(o.x) AS m, SUM(o.a) FILTER (WHERE o.x > 2) AS s, COUNT(o.m) AS c FROM r o "
    "WHERE 0.9 * (SELECT SUM(i.a) FROM r i) >= (SELECT SUM(j.a) FROM r j WHERE j.x < o.x) GROUP BY o.g"
)
_BOUNDED = "SELECT SUM(o.a) AS f FROM r o WHERE 5 < (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x AND j.x > 1)"
_ALONE = "SELECT SUM(o.x * o.a) AS f FROM r o WHERE 9 < (SELECT SUM(j.x * j.a) FROM r j WHERE j.x >= o.x)"
_ABOVE_FIVE = "FILTER (WHERE (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x) > 5)"
_SOME_OF_THEM = f"SELECT o.g AS k, SUM(o.a) {_ABOVE_FIVE} AS f, COUNT(*) {_ABOVE_FIVE} AS n, COUNT(*) AS c FROM r o GROUP BY o.g"
_DEPTH = "SELECT DISTINCT o.x, (SELECT SUM(j.a) FROM r j WHERE j.x <= o.x) AS depth FROM r o"
_DOWN_AND_UP = tuple(row(1 + place, a) for place, a in enumerate([2, 2, 2, 10, -10, 0, 2, 2, 2, 2, 2, 2]))
_HALF_WITHIN = tuple(row(1 + place, a) for place, a in enumerate([2, 2, 2, 2, 2, 4, 1, 1, 1, 1, 1, 1]))
_FEW_WITH_A_BOUND = "SELECT SUM(p.a) AS f, COUNT(*) AS n FROM s p WHERE p.a < (SELECT SUM(j.a) FROM r j WHERE j.x <= p.x)"
BUCKETED_CASES: Mapping[str, Script] = {
    "rows around that are few": _case(_FROM_OTHERS, Append("s", (row(2, 1), row(4, 3))), Append("s", (row(5, 4), row(None, 2))), _PLUS_ONE),
    "rows around that are few, and compare themselves": _case(
        _FEW_WITH_A_BOUND, Append("s", (row(2, 1), row(4, 12))), Append("s", (row(5, 4), row(None, 2))), _PLUS_ONE
    ),
    "whatever is not the same": _case(_ELSEWHERE, _UNKNOWN, Append("r", (row(6, 9),)), Delete("r", "x = 1"), _PLUS_ONE),
    "another key": _case(_OTHER_KEY, Append("r", (row(4, 2, 2), row(2, 6, 1))), Delete("r", "g = 1"), _UNKNOWN, _PLUS_ONE),
    "all kinds of aggregates": _case(
        _ALL_KINDS, _UNKNOWN, Append("r", (row(7, -3, 1),)), Delete("r", "x = 2"), Delete("r", "x = 5"), _PLUS_ONE
    ),
    "a bound of their own": _case(_BOUNDED, Append("r", (row(4, 2, 2), row(1, 6, 1))), Delete("r", "x = 2"), _PLUS_ONE),
    "some rows that a subquery tells": _case(_SOME_OF_THEM, _UNKNOWN, Append("r", (row(7, -3, 1),)), Delete("r", "x = 2"), _PLUS_ONE),
    "rows told apart": _case(_DEPTH, _UNKNOWN, Append("r", (row(7, -3, 1),)), Delete("r", "x = 2"), Delete("r", "id >= 0"), _PLUS_ONE),
    "a range in which sums fall": _case(_VWAP, Delete("r", "id >= 0"), Append("r", _DOWN_AND_UP), Append("r", (row(20, 1),)), _PLUS_ONE),
    "a range in which half is met": _case(
        _DIFFERENT, Delete("r", "id >= 0"), Append("r", _HALF_WITHIN), Append("r", (row(20, 0), row(5, 0))), _PLUS_ONE
    ),
    "without a sum of all": _case(_ALONE, Append("r", (row(4, 2, 2),)), Append("r", (row(6, 6, 1),)), Delete("r", "x = 6"), _PLUS_ONE),
}
"""What is easily wrong where groups are in buckets, beside all of the above."""


def bucketed_cases() -> Mapping[str, Script]:
    """Return every case to be tried where groups of more than a few rows are in buckets."""
    return {**CASES, **FOLLOWED_CASES, **BUCKETED_CASES}
