"""The adversarial cases of the safety rules: for each a query, tables, and a cut that would give wrong rows if it were used.

A refused case shows that the refusal is needed. A case that is not refused shows what the sketch must hold for its answer to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imp_driver.safety.levels import Refusal
from tests.soundness.values import Value

Rows = tuple[tuple[Value, ...], ...]
N = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        r, s: rows (id, g, x, a) and (id, k, y, b).
        cut: per occurrence, by its number, the column and the values that are retained.
        refusal: why the calculus must refuse this cut when nothing is pinned; None when it is safe on supersets of its sketch.
        step: the occurrences are cut by one common set.
        nonnegative: a and b are known to be at least 0.
    """

    name: str
    text: str
    r: Rows
    cut: Mapping[int, tuple[str, tuple[Value, ...]]]
    refusal: Refusal | None
    s: Rows = ()
    step: bool = False
    nonnegative: bool = True


R, U = Refusal, Refusal.NOT_UPWARD_CLOSED

CASES = (
    Case(
        "1 downward HAVING", "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) < 4", ((0, 1, 0, 3), (1, 1, 3, 2)), {0: ("x", (0,))}, U
    ),
    Case("2 average", "SELECT g, avg(a) AS f FROM r GROUP BY g HAVING avg(a) > 2", ((0, 0, 3, 1), (1, 0, 1, 3)), {0: ("x", (1,))}, U),
    Case(
        "3 a negative value arrived",
        "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 15",
        ((0, 7, 1, 20), (1, 6, 1, 20), (2, 6, 3, -30)),
        {0: ("x", (1,))},
        U,
        nonnegative=False,
    ),
    Case(
        "4 the sign came from a constant",
        "SELECT g, sum(a) AS f FROM r WHERE a >= -3 GROUP BY g HAVING sum(a) > 3",
        ((0, 2, 0, -3), (1, 2, 3, 4)),
        {0: ("x", (3,))},
        U,
        nonnegative=False,
    ),
    Case("5 NULL group key", "SELECT g, avg(a) AS f FROM r GROUP BY g HAVING avg(a) > 1", ((0, N, N, 2),), {0: ("g", ())}, None),
    Case(
        "6 scalar aggregate wakes up",
        "SELECT sum(a) AS f FROM r HAVING count(*) < 3",
        ((0, 1, 0, 1), (1, 1, 1, 1), (2, 1, 2, 1)),
        {0: ("g", ())},
        U,
    ),
    Case(
        "8 filter above a top-k",
        "SELECT id FROM (SELECT * FROM r ORDER BY a DESC, id, g, x LIMIT 2) t WHERE g = 1",
        ((0, 1, 0, 1), (1, 1, 1, 1), (2, 0, 3, 4)),
        {0: ("x", (0, 1))},
        R.BELOW_A_BARRIER,
    ),
    Case(
        "9 semi-join above a grouped top-k",
        "SELECT g, f FROM (SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC, g LIMIT 2) t WHERE g IN (SELECT k FROM s)",
        ((0, 2, 3, 0), (1, 3, 0, 1), (2, 1, 3, 2)),
        {0: ("g", (2, 3))},
        R.BELOW_A_BARRIER,
        s=((0, 2, 0, 0), (1, 3, 0, 0)),
    ),
    Case(
        "10 OFFSET",
        "SELECT g, avg(a) AS f FROM r GROUP BY g ORDER BY f DESC, g LIMIT 1 OFFSET 1",
        ((0, 0, 2, 4), (1, 1, 0, 4)),
        {0: ("g", (1,))},
        None,
    ),
    Case(
        "11 tie with a wrong companion",
        "SELECT g, sum(a) AS f, count(*) AS n FROM r GROUP BY g ORDER BY sum(a) DESC LIMIT 1",
        ((1, 2, 0, 4), (2, 2, 9, 0), (0, 1, 0, 4)),
        {0: ("x", (0,))},
        None,
    ),
    Case(
        "12 mixed directions",
        "SELECT g, sum(a) AS f, count(*) AS n FROM r GROUP BY g ORDER BY sum(a) DESC, count(*), g LIMIT 2",
        ((0, 1, 0, 0), (1, 3, 2, 2), (2, 2, 1, 4), (3, 1, 3, 2)),
        {0: ("x", (1, 2, 3))},
        R.ORDER_MAY_MOVE_AHEAD,
    ),
    Case(
        "13 NULLS FIRST",
        "SELECT g, min(a) AS f FROM r GROUP BY g ORDER BY min(a), g LIMIT 1",
        ((0, 1, 0, 1), (1, 2, 0, N), (2, 2, 9, 3)),
        {0: ("x", (0,))},
        R.ORDER_MAY_MOVE_AHEAD,
    ),
    Case(
        "14 right side of NOT EXISTS",
        "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.g)",
        ((0, 0, 0, 1),),
        {1: ("y", ())},
        R.RIGHT_SIDE_CUT,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "14 right side of EXCEPT",
        "SELECT g FROM r EXCEPT SELECT k FROM s",
        ((0, 0, 0, 1),),
        {1: ("y", ())},
        R.RIGHT_SIDE_CUT,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "14 LEFT JOIN .. IS NULL",
        "SELECT r.id FROM r LEFT JOIN s ON s.k = r.g WHERE s.id IS NULL",
        ((0, 0, 0, 1),),
        {1: ("y", ())},
        R.OUTER_SIDE_CUT,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "14 LEFT JOIN .. coalesce",
        "SELECT r.id FROM r LEFT JOIN s ON s.k = r.g WHERE coalesce(s.b, 0) < 1",
        ((0, 0, 0, 1),),
        {1: ("y", ())},
        R.OUTER_SIDE_CUT,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "15 NOT IN cut in step",
        "SELECT id FROM r WHERE g NOT IN (SELECT k FROM s)",
        ((0, 2, 1, 3),),
        {0: ("g", (2,)), 1: ("k", (2,))},
        R.RIGHT_SIDE_CUT,
        s=((0, N, 0, 0), (1, N, 0, 0), (2, 3, 0, 0), (3, 0, 0, 0)),
        step=True,
    ),
    Case(
        "16 in step on the wrong pair",
        "SELECT x FROM r EXCEPT SELECT y FROM s",
        ((0, 0, 1, 0),),
        {0: ("g", (0,)), 1: ("k", (0,))},
        R.RIGHT_SIDE_CUT,
        s=((2, 3, 1, 0),),
        step=True,
    ),
    Case(
        "17 threshold over the same table",
        "SELECT g FROM r GROUP BY g HAVING sum(a) > (SELECT avg(a) FROM r)",
        ((0, 1, 0, 1), (1, 3, 1, 4)),
        {0: ("g", (3,)), 1: ("g", (3,))},
        R.SUBQUERY_CUT,
        step=True,
    ),
    Case(
        "18 histogram of counts",
        "SELECT c, count(*) AS n FROM (SELECT g, count(*) AS c FROM r GROUP BY g) t GROUP BY c HAVING count(*) > 1",
        ((0, 1, 0, 1), (1, 1, 1, 1), (2, 0, 3, 4)),
        {0: ("x", (0, 3))},
        R.BOUNDED_KEY,
    ),
    Case(
        "18 histogram of counts, equality",
        "SELECT c, count(*) AS n FROM (SELECT g, count(*) AS c FROM r GROUP BY g) t GROUP BY c HAVING count(*) = 1",
        ((0, 0, 2, 4), (1, 1, 0, 4)),
        {0: ("g", (0,))},
        U,
    ),
    Case(
        "19 group by an expression",
        "SELECT g DIV 2 AS h, avg(a) AS f FROM r GROUP BY g DIV 2 HAVING avg(a) > 2",
        ((0, 2, 1, 0), (1, 3, 1, 4)),
        {0: ("g", (3,))},
        U,
    ),
    Case(
        "20 join key is not the group key",
        "SELECT r.x, avg(s.b) AS f FROM r JOIN s ON s.k = r.g GROUP BY r.x HAVING avg(s.b) > 1",
        ((0, 3, 1, 2), (1, 0, 1, 2)),
        {1: ("k", (3,))},
        U,
        s=((0, 3, 0, 2), (1, 0, 0, 0), (2, 2, 0, 1), (3, 0, 0, 0)),
    ),
    Case(
        "20 inequality join",
        "SELECT r.g, avg(s.b) AS f FROM r JOIN s ON s.k >= r.g GROUP BY r.g HAVING avg(s.b) > 1",
        ((0, 0, 1, 2),),
        {1: ("k", (3,))},
        U,
        s=((0, 3, 0, 2), (1, 0, 0, 0)),
    ),
    Case(
        "21 one alias' sketch on both",
        "SELECT r1.id, r2.id AS other FROM r r1 JOIN r r2 ON r1.g = r2.g AND r1.id < r2.id WHERE r1.a > r2.a",
        ((0, 1, 0, 3), (1, 1, 3, 2)),
        {0: ("x", (0,)), 1: ("x", (0,))},
        None,
    ),
    Case(
        "21 grouped self-join",
        "SELECT r1.x, avg(r2.a) AS f FROM r r1 JOIN r r2 ON r2.x = r1.g GROUP BY r1.x HAVING avg(r2.a) > 2",
        ((0, 2, 3, 3), (1, 3, 3, 2), (2, 0, 2, 1)),
        {0: ("x", (3,)), 1: ("x", (3,))},
        U,
        step=True,
    ),
    Case(
        "22 witness of a maximum",
        "SELECT g, max(a) AS f, count(*) AS n FROM r GROUP BY g",
        ((0, 1, 0, 3), (1, 1, 3, 2)),
        {0: ("x", (0,))},
        None,
    ),
    Case("22 group of NULLs", "SELECT g, max(a) AS f FROM r GROUP BY g", ((0, 2, 0, N),), {0: ("x", ())}, None),
    Case(
        "23 window before a filter",
        "SELECT id, f FROM (SELECT id, a, count(*) OVER (PARTITION BY g) AS f FROM r) t WHERE a > 2",
        ((0, 1, 0, 1), (1, 1, 1, 4)),
        {0: ("x", (1,))},
        R.WINDOW_NOT_DETERMINED,
    ),
    Case(
        "23 row number before a filter",
        "SELECT id, n FROM (SELECT *, row_number() OVER (ORDER BY id, g, x, a) AS n FROM r) t WHERE a > 2",
        ((0, 1, 0, 1), (1, 3, 1, 4)),
        {0: ("x", (1,))},
        R.WINDOW_NOT_DETERMINED,
    ),
    Case(
        "23 rank that is two",
        "SELECT id FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY a) AS n FROM r) t WHERE n = 2",
        ((0, 1, 0, 1), (1, 1, 1, 2)),
        {0: ("x", (1,))},
        R.WINDOW_NOT_DETERMINED,
    ),
    Case(
        "23 row numbers from two on",
        "SELECT id FROM (SELECT *, row_number() OVER (ORDER BY a, id, g, x) AS n FROM r) t WHERE n >= 2",
        ((0, 1, 0, 1), (1, 1, 1, 2)),
        {0: ("x", (1,))},
        R.WINDOW_NOT_DETERMINED,
    ),
    Case(
        "row numbers of rows that tie",
        "SELECT id FROM (SELECT *, row_number() OVER (ORDER BY a) AS n FROM r) t WHERE n <= 1 AND x = 1",
        ((0, 1, 0, 1), (1, 1, 1, 1)),
        {0: ("x", (1,))},
        R.ORDER_NOT_TOTAL,
    ),
    Case(
        "filter above the first ranks",
        "SELECT id FROM (SELECT *, dense_rank() OVER (ORDER BY a DESC) AS n FROM r) t WHERE n <= 1 AND g = 1",
        ((0, 1, 1, 1), (1, 2, 2, 5)),
        {0: ("x", (1,))},
        R.BELOW_A_BARRIER,
    ),
    Case(
        "32 coalesce",
        "SELECT g, sum(a) AS f, count(*) AS n FROM r GROUP BY g HAVING coalesce(sum(a), 9) > 4",
        ((0, 0, N, N), (1, 0, 3, 0)),
        {0: ("x", (N,))},
        U,
    ),
    Case(
        "32 OR with a downward condition",
        "SELECT g, count(*) AS n FROM r GROUP BY g HAVING sum(a) > 4 OR count(*) < 2",
        ((0, 0, 0, 1), (1, 0, 3, 0)),
        {0: ("x", (0,))},
        U,
    ),
    Case(
        "36 union of a cut and an uncut branch",
        "SELECT g, count(*) AS n FROM (SELECT g FROM r UNION ALL SELECT k FROM s) t GROUP BY g HAVING count(*) = 1",
        ((0, 0, 0, 1),),
        {0: ("g", ())},
        U,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "36 two sets under a union",
        "SELECT g, count(*) AS n FROM (SELECT g FROM r UNION ALL SELECT k FROM s) t GROUP BY g HAVING count(*) = 1",
        ((0, 0, 0, 1),),
        {0: ("g", (0,)), 1: ("k", ())},
        U,
        s=((0, 0, 2, 1),),
    ),
    Case(
        "distinct values of partial sums",
        "SELECT count(*) AS n FROM (SELECT DISTINCT f FROM (SELECT g, sum(a) AS f FROM r GROUP BY g) t) u HAVING count(*) > 1",
        ((0, 1, 0, 2), (1, 1, 1, 3), (2, 2, 0, 5)),
        {0: ("x", (0,))},
        R.BOUNDED_KEY,
    ),
    Case(
        "distinct values of partial counts",
        "SELECT count(*) AS n FROM (SELECT DISTINCT f FROM (SELECT g, count(*) AS f FROM r GROUP BY g) t) u HAVING count(*) > 1",
        ((0, 1, 0, 2), (1, 1, 1, 3), (2, 2, 0, 5), (3, 2, 0, 5)),
        {0: ("x", (0,))},
        R.BOUNDED_KEY,
    ),
    Case(
        "witness of a semi-join",
        "SELECT g, count(*) AS n FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.y = r.x) GROUP BY g HAVING count(*) = 1",
        ((0, 1, 0, 0), (1, 1, 1, 0)),
        {0: ("g", (1,)), 1: ("y", (0,))},
        U,
        s=((0, 0, 0, 0), (1, 0, 1, 0)),
    ),
    Case(
        "join on a partial sum",
        "SELECT t.g, s.id FROM (SELECT g, sum(a) AS f FROM r GROUP BY g) t JOIN s ON s.b > t.f",
        ((0, 1, 0, 2), (1, 1, 1, 3)),
        {0: ("x", (0,))},
        U,
        s=((0, 0, 0, 4),),
    ),
    Case(
        "subquery correlated by a partial count",
        "SELECT g FROM (SELECT g, count(*) AS f FROM r GROUP BY g) t WHERE (SELECT max(b) FROM s WHERE s.k = t.f) > 1",
        ((0, 1, 0, 2), (1, 1, 1, 3)),
        {0: ("x", (0,))},
        U,
        s=((0, 1, 0, 4),),
    ),
    Case("sum of a difference", "SELECT g FROM r GROUP BY g HAVING sum(3 - a) > 2", ((0, 1, 0, 0), (1, 1, 1, 9)), {0: ("x", (0,))}, U),
    Case(
        "negative ELSE",
        "SELECT g FROM r GROUP BY g HAVING sum(CASE WHEN x = 0 THEN a ELSE -2 END) > 1",
        ((0, 1, 0, 3), (1, 1, 1, 0)),
        {0: ("x", (0,))},
        U,
    ),
    Case("negated maximum", "SELECT g FROM r GROUP BY g HAVING -max(a) > -3", ((0, 1, 0, 1), (1, 1, 1, 5)), {0: ("x", (0,))}, U),
    Case("maximum below", "SELECT g FROM r GROUP BY g HAVING max(a) < 3", ((0, 1, 0, 1), (1, 1, 1, 5)), {0: ("x", (0,))}, U),
    Case("minimum above", "SELECT g FROM r GROUP BY g HAVING min(a) > 3", ((0, 1, 0, 5), (1, 1, 1, 1)), {0: ("x", (0,))}, U),
    Case("NOT", "SELECT g FROM r GROUP BY g HAVING NOT sum(a) > 3", ((0, 1, 0, 1), (1, 1, 1, 5)), {0: ("x", (0,))}, U),
    Case("equality", "SELECT g FROM r GROUP BY g HAVING count(*) = 1", ((0, 1, 0, 1), (1, 1, 1, 5)), {0: ("x", (0,))}, U),
    Case(
        "key computed from two columns",
        "SELECT g + x AS h, avg(a) AS f FROM r GROUP BY g + x HAVING avg(a) > 1",
        ((0, 0, 1, 3), (1, 1, 0, 0)),
        {0: ("g", (0,))},
        U,
    ),
    Case(
        "scalar aggregate over one value of the sketched column",
        "SELECT sum(a) AS f FROM r WHERE x = 1 HAVING count(*) < 3",
        ((0, 0, 1, 1), (1, 0, 1, 1), (2, 0, 1, 1)),
        {0: ("x", ())},
        U,
    ),
    Case(
        "average in relaxed capture",
        "SELECT g FROM r GROUP BY g HAVING sum(a) > 1 AND avg(a) < 3",
        ((0, 1, 0, 2), (1, 1, 1, 9)),
        {0: ("x", (0,))},
        U,
    ),
)

ACCEPTED = (
    "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 3",
    "SELECT g, sum(a) AS f FROM r GROUP BY g HAVING 2 * sum(a) - 1 > 3 AND max(a) >= 2",
    "SELECT g, min(a) AS f FROM r GROUP BY g HAVING min(a) < 2 OR count(*) > 2",
    "SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY sum(a) DESC, g LIMIT 2",
    "SELECT g, min(a) AS f FROM r GROUP BY g ORDER BY min(a) NULLS LAST, g LIMIT 2",
    "SELECT r.g, sum(s.b) AS f FROM r JOIN s ON s.k = r.g GROUP BY r.g HAVING sum(s.b) > 3",
    "SELECT r.id, s.id AS other FROM r LEFT JOIN s ON s.k = r.g",
    "SELECT r.id, s.id AS other FROM r FULL JOIN s ON s.k = r.g",
    "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > r.a)",
    "SELECT g FROM r EXCEPT SELECT k FROM s",
    "SELECT g, avg(a) AS f FROM (SELECT g, a FROM r UNION ALL SELECT k, b FROM s) t GROUP BY g HAVING avg(a) < 2",
    "SELECT count(*) AS n FROM (SELECT g FROM r GROUP BY g HAVING sum(a) > 2) t HAVING count(*) > 1",
    "SELECT id, f FROM (SELECT id, g, a, sum(a) OVER (PARTITION BY g) AS f FROM r) t WHERE f = 3",
    "SELECT g FROM r GROUP BY g HAVING sum(a) BETWEEN 3 AND 6",
    "SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY sum(a) DESC LIMIT 2",
    "SELECT g, count(*) AS f FROM r GROUP BY g ORDER BY count(*) DESC LIMIT 1 OFFSET 1",
    "SELECT id, a FROM r ORDER BY a DESC LIMIT 2",
    "SELECT id, n FROM (SELECT id, rank() OVER (PARTITION BY g ORDER BY a DESC) AS n FROM r) t WHERE n <= 2",
    "SELECT id FROM (SELECT id, dense_rank() OVER (ORDER BY a) AS n FROM r) t WHERE 3 > n",
    "SELECT id, n FROM (SELECT id, g, x, a, row_number() OVER (PARTITION BY g ORDER BY a, id, x) AS n FROM r) t WHERE n = 1",
    "SELECT id FROM r WHERE a > (SELECT avg(b) FROM s WHERE s.k = r.g)",
    "SELECT id FROM r WHERE a > (SELECT sum(b) FROM s WHERE s.k = r.g AND s.y < r.x)",
    "SELECT g, count(*) AS n FROM r WHERE a > (SELECT avg(b) FROM s WHERE s.k = r.g) GROUP BY g HAVING count(*) = 1",
)
"""Shapes in which some cut is accepted without a pin; with the cases they are the corpus from which every attack starts."""
