"""Queries of the IMP and PBDS papers over tables of their own, with the cuts that are expected to be safe or not.

Source: sketch-safety rules 5.2. The TPC-H queries are in ``published_tpch.py``. The texts are ours, in Spark SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from imp_driver.plan.context import TableDefinition
from imp_driver.reasons import Reason
from imp_driver.safety.intervals import Interval
from imp_driver.safety.levels import Refusal
from imp_driver.safety.setting import fact_text
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn

_SYNTHETIC = "id long, a long, b long, c long, d long, e long, f long, g long, h long, i long, j long"
_HELPER = "ttid long, other long, more long"
_SCHEMAS = {
    "r500": _SYNTHETIC,
    "t1gb50g": _SYNTHETIC,
    "t1gb1000g": _SYNTHETIC,
    "t1gb500000g": _SYNTHETIC,
    "t1gbjoin": _SYNTHETIC,
    "edb1": _SYNTHETIC,
    "tjoinhelp": _HELPER,
    "tjoinhelppercent1": _HELPER,
    "sales": "sid long, brand string, product string, price decimal(10,2), numsold long",
    "cities": "city string, state string, popden decimal(10,2)",
    "crimes": "id long, cdate date, block string, primary_type string, beat integer, district integer, ward integer, "
    "community_area integer, year integer",
    "movies": "movieid long, title string, genres string",
    "ratings": "userid long, movieid long, rating decimal(2,1), rated timestamp",
    "tags": "userid long, movieid long, tag string, tagged timestamp",
    "users": "u_id long, u_displayname string, u_reputation long, u_creationdate timestamp",
    "posts": "p_id long, p_owneruserid long, p_favoritecount long, p_creationdate timestamp",
    "comments": "c_id long, c_userid long, c_postid long, c_creationdate timestamp",
    "badges": "b_id long, b_userid long, b_name string, b_date timestamp",
    "region": "r_regionkey long, r_name string, r_comment string",
    "nation": "n_nationkey long, n_name string, n_regionkey long, n_comment string",
    "supplier": "s_suppkey long, s_name string, s_address string, s_nationkey long, s_phone string, s_acctbal decimal(15,2), "
    "s_comment string",
    "part": "p_partkey long, p_name string, p_mfgr string, p_brand string, p_type string, p_size integer, p_container string, "
    "p_retailprice decimal(15,2), p_comment string",
    "partsupp": "ps_partkey long, ps_suppkey long, ps_availqty integer, ps_supplycost decimal(15,2), ps_comment string",
    "customer": "c_custkey long, c_name string, c_address string, c_nationkey long, c_phone string, c_acctbal decimal(15,2), "
    "c_mktsegment string, c_comment string",
    "orders": "o_orderkey long, o_custkey long, o_orderstatus string, o_totalprice decimal(15,2), o_orderdate date, "
    "o_orderpriority string, o_clerk string, o_shippriority integer, o_comment string",
    "lineitem": "l_orderkey long, l_partkey long, l_suppkey long, l_linenumber integer, l_quantity decimal(15,2), "
    "l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag string, l_linestatus string, "
    "l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct string, l_shipmode string, l_comment string",
}

TABLES: Mapping[str, tuple[SchemaColumn, ...]] = {
    table: tuple(SchemaColumn(name, type_name, nullable=True) for name, type_name in (column.split(" ") for column in text.split(", ")))
    for table, text in _SCHEMAS.items()
}

_ZERO = Decimal(0)
_INTERVALS = {
    "l_quantity": (_ZERO, None),
    "l_extendedprice": (_ZERO, None),
    "l_discount": (_ZERO, Decimal(1)),
    "l_tax": (_ZERO, None),
    "price": (_ZERO, None),
    "numsold": (_ZERO, None),
}


class Catalog:
    """The tables of both papers; every column is nullable."""

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        table = name[-1].lower()
        if table not in TABLES:
            raise Refused(Reason.NOT_A_DELTA_TABLE, ".".join(name))
        return TableDefinition((table,), TABLES[table])


@dataclass(frozen=True, slots=True)
class SignFacts:
    """Says of quantities, prices, discounts and taxes that none is negative, and that no discount is above 1."""

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        low, high = _INTERVALS.get(column, (None, None))
        if low is None:
            return Interval()
        return Interval(low, high, frozenset({fact_text(table, column, low, high)}))


@dataclass(frozen=True, slots=True)
class Cut:
    """One assignment of sketched attributes.

    Attributes:
        columns: the sketched column of a table's only occurrence, or of its n-th (from 0) when the table is written ``table#n``.
        refusal: why it is refused when nothing may be pinned; None when it is safe.
        in_step: all occurrences are cut by one common set.
        safe_by_pinning: it is safe when the sketch covers the whole output of some subquery.
        knows_signs: the facts about signs are known.
    """

    columns: Mapping[str, str]
    refusal: Refusal | None = None
    in_step: bool = False
    safe_by_pinning: bool = False
    knows_signs: bool = True

    @property
    def name(self) -> str:
        text = " ".join(f"{table}.{column}" for table, column in self.columns.items())
        return text + (" in step" if self.in_step else "") + ("" if self.knows_signs else " without facts")


@dataclass(frozen=True, slots=True)
class Published:
    """A query of a paper; each refused cut has its reason, no accepted one has.

    ``may_tie`` says that its order leaves ties: every accepted cut then needs that none stands where the top-k ends.
    """

    name: str
    text: str
    accepted: tuple[Cut, ...]
    refused: tuple[Cut, ...] = field(default=())
    may_tie: bool = False


def on_any(*occurrences: str) -> tuple[Cut, ...]:
    """Cut one of these occurrences, on each of its columns in turn."""
    return tuple(Cut({each: column.name}) for each in occurrences for column in TABLES[each.partition("#")[0]])


def refused_on(occurrence: str, columns: str, refusal: Refusal, *, safe_by_pinning: bool = False) -> tuple[Cut, ...]:
    """Cut an occurrence on each of these columns in turn."""
    return tuple(Cut({occurrence: column}, refusal, safe_by_pinning=safe_by_pinning) for column in columns.split())


R = Refusal

_NOT_A = "id b c d e f g h i j"
_JOIN_ACCEPTED = (Cut({"t1gbjoin": "a"}), Cut({"tjoinhelp": "ttid"}), Cut({"t1gbjoin": "a", "tjoinhelp": "ttid"}))
_JOIN_REFUSED = (
    *refused_on("t1gbjoin", _NOT_A, R.NOT_UPWARD_CLOSED),
    *refused_on("tjoinhelp", "other more", R.NOT_UPWARD_CLOSED),
    Cut({"t1gbjoin": "a", "tjoinhelp": "other"}, R.NOT_UPWARD_CLOSED),
)


def _synthetic(name: str, table: str, tail: str) -> Published:
    """Make a query with an average in HAVING, which only the group key serves."""
    text = f"SELECT a, avg(b) AS ab FROM {table} {tail}"
    return Published(name, text, (Cut({table: "a"}),), refused_on(table, _NOT_A, R.NOT_UPWARD_CLOSED))


def _renamed(cuts: tuple[Cut, ...], names: Mapping[str, str]) -> tuple[Cut, ...]:
    return tuple(Cut({names.get(table, table): column for table, column in cut.columns.items()}, cut.refusal) for cut in cuts)


_TEN = " AND ".join(["avg(c) < 1000", "avg(d) < 1200", *(f"avg({name}) > 0" for name in "efghij")])
_FILTERED = "(SELECT a AS a, b AS b, c AS c FROM {} WHERE b < {}) tt JOIN tjoinhelp ON (a = ttid)"
_MANY = {"t1gbjoin": "t1gb500000g"}
_FEW = {"t1gbjoin": "t1gb50g"}
_ONE = {"tjoinhelp": "tjoinhelppercent1"}

SYNTHETIC = (
    Published("synthetic q01, Qhaving 1", "SELECT a, avg(b) AS ab FROM r500 GROUP BY a", on_any("r500")),
    _synthetic("synthetic q02, Qhaving 2", "r500", "GROUP BY a HAVING avg(c) < 1000"),
    _synthetic("synthetic q05, Qhaving 3", "r500", "GROUP BY a HAVING avg(c) < 1000 AND avg(d) < 1200"),
    _synthetic("synthetic q17, Qhaving 10", "r500", f"GROUP BY a HAVING {_TEN}"),
    _synthetic("synthetic q50, Qgroups 50", "t1gb50g", "GROUP BY a HAVING avg(c) < 3"),
    _synthetic("synthetic q51, Qgroups 1K", "t1gb1000g", "GROUP BY a HAVING avg(c) < 320"),
    _synthetic("synthetic with an average above", "t1gb1000g", "GROUP BY a HAVING avg(c) > 320"),
    _synthetic("Qselpd", "t1gb1000g", "WHERE b < 1000 GROUP BY a HAVING avg(c) < 300"),
    Published(
        "Qjoin 1-200K",
        f"SELECT a, avg(b) AS ab FROM {_FILTERED.format('t1gb50g', 10)} GROUP BY a HAVING avg(c) < 10",
        _renamed(_JOIN_ACCEPTED, _FEW),
        _renamed(_JOIN_REFUSED, _FEW),
    ),
    Published(
        "Qjoin 1-2K and Qsketch",
        f"SELECT a, avg(b) AS ab FROM {_FILTERED.format('t1gbjoin', 1000)} GROUP BY a HAVING avg(c) < 1000",
        _JOIN_ACCEPTED,
        _JOIN_REFUSED,
    ),
    Published(
        "Qjoin 1-20",
        f"SELECT a, avg(b) AS ab FROM {_FILTERED.format('t1gb500000g', 100000)} GROUP BY a HAVING avg(c) < 100000",
        _renamed(_JOIN_ACCEPTED, _MANY),
        _renamed(_JOIN_REFUSED, _MANY),
    ),
    Published(
        "Qjoinsel 1%",
        "SELECT a, avg(b) AS ab FROM t1gbjoin JOIN tjoinhelppercent1 ON (a = ttid) WHERE b < 1000 GROUP BY a HAVING avg(c) < 1000",
        _renamed(_JOIN_ACCEPTED, _ONE),
        _renamed(_JOIN_REFUSED, _ONE),
    ),
    Published(
        "Qendtoend",
        "SELECT a, avg(c) AS ac FROM edb1 GROUP BY a HAVING avg(c) > 1684845 AND avg(c) < 1686014",
        (Cut({"edb1": "a"}),),
        refused_on("edb1", _NOT_A, R.NOT_UPWARD_CLOSED),
    ),
    Published("Qtop-k", "SELECT a, avg(b) AS ab FROM r500 GROUP BY a ORDER BY a LIMIT 10", on_any("r500")),
    Published(
        "running example of IMP",
        "SELECT brand, sum(price * numsold) AS rev FROM sales GROUP BY brand HAVING sum(price * numsold) > 5000",
        (*on_any("sales"), Cut({"sales": "brand"}, knows_signs=False)),
        (Cut({"sales": "price"}, R.NOT_UPWARD_CLOSED, knows_signs=False),),
    ),
    Published(
        "running example of PBDS",
        "SELECT state, avg(popden) AS density FROM cities GROUP BY state ORDER BY density DESC, state LIMIT 1",
        (Cut({"cities": "state"}),),
        refused_on("cities", "popden city", R.ORDER_MAY_MOVE_AHEAD),
    ),
    Published(
        "example for reuse of PBDS",
        "SELECT state, count(*) AS n FROM cities WHERE popden > 100 GROUP BY state HAVING count(*) > 10",
        on_any("cities"),
    ),
)


def _most_crimes(order: str) -> str:
    keys = "district, ward, block, community_area, beat"
    return f"SELECT * FROM (SELECT count(*) AS n, {keys} FROM crimes GROUP BY {keys}) t ORDER BY {order} LIMIT 5"


CRIMES = (
    Published("Crimes q01", "SELECT beat, year, count(id) AS crime_count FROM crimes GROUP BY beat, year", on_any("crimes")),
    Published(
        "Crimes q02",
        "SELECT district, community_area, ward, beat, count(beat) AS crime_count FROM crimes "
        "GROUP BY district, community_area, ward, beat HAVING count(id) > 1000",
        on_any("crimes"),
    ),
    Published("crimes cq1", _most_crimes("n DESC, district, ward, block, community_area, beat"), on_any("crimes")),
    Published(
        "crimes cq1 without tie-break",
        _most_crimes("n DESC"),
        on_any("crimes"),
        may_tie=True,
    ),
    Published(
        "crimes cq2",
        "SELECT count(*) AS n FROM (SELECT beat, year, count(*) AS cnt FROM crimes GROUP BY beat, year) t WHERE cnt > 10000",
        on_any("crimes"),
    ),
)

_RATED = (
    "SELECT title, movieid, num_ratings FROM (SELECT title, m.movieid, count(rating) AS num_ratings FROM movies m, ratings r "
    "WHERE m.movieid = r.movieid GROUP BY m.movieid, title) n"
)
_BY_MOVIE = {"movies": "movieid", "ratings": "movieid"}
MOVIES = (
    Published(
        "movies q1",
        f"{_RATED} ORDER BY num_ratings DESC, movieid, title LIMIT 10",
        (*on_any("movies", "ratings"), Cut(_BY_MOVIE), Cut({"movies": "genres", "ratings": "rated"})),
    ),
    Published(
        "movies q1 without tie-break",
        f"{_RATED} ORDER BY num_ratings DESC LIMIT 10",
        (*on_any("movies", "ratings"), Cut(_BY_MOVIE)),
        may_tie=True,
    ),
    Published(
        "movies q2", f"SELECT count(*) AS n FROM ({_RATED} WHERE num_ratings >= 63300) c", (*on_any("movies", "ratings"), Cut(_BY_MOVIE))
    ),
    Published(
        "movies q3",
        "SELECT m.title, m.movieid, t.total FROM (SELECT r.cnt1 + g.cnt2 AS total, g.movieid AS movieid "
        "FROM (SELECT movieid, count(*) AS cnt1 FROM ratings GROUP BY movieid) r, "
        "(SELECT movieid, count(*) AS cnt2 FROM tags GROUP BY movieid) g WHERE r.movieid = g.movieid "
        "ORDER BY total DESC, g.movieid LIMIT 10) t, movies m WHERE t.movieid = m.movieid",
        on_any("movies"),
        (
            *refused_on("ratings", "userid movieid rating rated", R.BELOW_A_BARRIER, safe_by_pinning=True),
            *refused_on("tags", "userid movieid tag tagged", R.BELOW_A_BARRIER, safe_by_pinning=True),
            Cut({"ratings": "movieid", "tags": "movieid"}, R.BELOW_A_BARRIER, safe_by_pinning=True),
            Cut({"ratings": "movieid", "tags": "movieid", "movies": "movieid"}, R.BELOW_A_BARRIER, safe_by_pinning=True),
        ),
    ),
)


def _top_users(columns: str, measure: str, tables: str, where: str) -> str:
    return f"SELECT * FROM (SELECT {columns}, {measure} AS cnt FROM {tables} WHERE {where} GROUP BY {columns}) a ORDER BY cnt DESC"


_SQ1 = _top_users("u_id", "count(*)", "users, posts", "u_id = p_owneruserid")
_SQ2 = _top_users("u_id", "count(p_favoritecount)", "users, comments, posts", "u_id = c_userid AND c_postid = p_id")
_SQ3 = _top_users("u_id, u_displayname", "count(*)", "comments, users", "c_userid = u_id")
_SQ4 = _top_users("u_id, u_displayname", "count(*)", "badges, users", "b_userid = u_id")
_COMMENTED = {"users": "u_id", "comments": "c_userid"}

STACK_OVERFLOW = (
    Published("sq1", f"{_SQ1}, u_id LIMIT 10", (*on_any("users", "posts"), Cut({"users": "u_id", "posts": "p_owneruserid"}))),
    Published("sq2", f"{_SQ2}, u_id LIMIT 10", (*on_any("users", "comments", "posts"), Cut({**_COMMENTED, "posts": "p_id"}))),
    Published("sq3", f"{_SQ3}, u_id, u_displayname LIMIT 10", (*on_any("users", "comments"), Cut(_COMMENTED))),
    Published("sq4", f"{_SQ4}, u_id, u_displayname LIMIT 10", (*on_any("users", "badges"), Cut({"users": "u_id", "badges": "b_userid"}))),
    Published(
        "sq3 without tie-break",
        f"{_SQ3} LIMIT 10",
        (*on_any("comments", "users"), Cut(_COMMENTED)),
        may_tie=True,
    ),
    Published(
        "sq5",
        "SELECT * FROM (SELECT count(*) AS cnt, u_id, u_displayname FROM (SELECT * FROM comments, users WHERE c_userid = u_id) a "
        "GROUP BY u_id, u_displayname) b WHERE cnt >= 47945 AND cnt <= 52973",
        (Cut({"users": "u_id"}), Cut({"comments": "c_userid"}), Cut(_COMMENTED), Cut(_COMMENTED, in_step=True)),
        (
            *refused_on("comments", "c_creationdate c_id", R.NOT_UPWARD_CLOSED, safe_by_pinning=True),
            Cut({"users": "u_id", "comments": "c_id"}, R.NOT_UPWARD_CLOSED, safe_by_pinning=True),
        ),
    ),
    Published(
        "template against materialized views",
        "SELECT c_userid, count(*) AS cnt FROM comments WHERE c_creationdate >= TIMESTAMP '2010-01-01 00:00:00' "
        "AND c_creationdate < TIMESTAMP '2012-01-01 00:00:00' GROUP BY c_userid HAVING count(*) >= 500",
        on_any("comments"),
    ),
)

OWN_TABLES = (*SYNTHETIC, *CRIMES, *MOVIES, *STACK_OVERFLOW)
