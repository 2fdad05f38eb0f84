"""The TPC-H queries of the IMP and PBDS papers with the cuts that are expected to be safe or not (sketch-safety rules 5.2).

Dates are constants and unused columns of the standard's texts are kept only where they are group keys.
"""

from __future__ import annotations

from imp_driver.safety.levels import Refusal
from tests.soundness.published import Cut, Published, on_any, refused_on

R = Refusal
_REVENUE = "sum(l_extendedprice * (1 - l_discount)) AS revenue"
_BY_ORDER = {"lineitem": "l_orderkey", "orders": "o_orderkey"}

_UNFILTERED = (
    Published(
        "Q1",
        "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price, "
        "sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, "
        "avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order "
        "FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
        on_any("lineitem"),
    ),
    Published(
        "Q4",
        "SELECT o_orderpriority, count(*) AS order_count FROM orders WHERE o_orderdate >= DATE '1993-07-01' "
        "AND o_orderdate < DATE '1993-10-01' AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey "
        "AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority ORDER BY o_orderpriority",
        (*on_any("orders", "lineitem"), Cut(_BY_ORDER), Cut(_BY_ORDER, in_step=True)),
    ),
    Published(
        "Q4 with a DISTINCT block",
        "SELECT o_orderpriority, count(*) AS order_count FROM orders, (SELECT DISTINCT l_orderkey FROM lineitem "
        "WHERE l_commitdate < l_receiptdate) l WHERE l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-07-01' "
        "AND o_orderdate < DATE '1993-10-01' GROUP BY o_orderpriority",
        (*on_any("orders", "lineitem"), Cut(_BY_ORDER), Cut({"orders": "o_custkey", "lineitem": "l_shipmode"})),
    ),
    Published(
        "Q5",
        f"SELECT n_name, {_REVENUE} FROM customer, orders, lineitem, supplier, nation, region WHERE c_custkey = o_custkey "
        "AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey "
        "AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' "
        "GROUP BY n_name ORDER BY revenue DESC",
        (*on_any("customer", "orders", "lineitem", "supplier", "nation", "region"), Cut({**_BY_ORDER, "customer": "c_custkey"})),
    ),
    Published(
        "Q6",
        "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' "
        "AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        on_any("lineitem"),
    ),
    Published(
        "Q7",
        "SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue FROM (SELECT n1.n_name AS supp_nation, "
        "n2.n_name AS cust_nation, year(l_shipdate) AS l_year, l_extendedprice * (1 - l_discount) AS volume "
        "FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey "
        "AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey "
        "AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')) "
        "AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') shipping "
        "GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year",
        (
            *on_any("supplier", "lineitem", "orders", "customer", "nation#0", "nation#1"),
            Cut({"nation#0": "n_name", "nation#1": "n_name"}),
            Cut({"nation#0": "n_nationkey", "nation#1": "n_name"}),
            Cut({"nation#0": "n_name", "nation#1": "n_name"}, in_step=True),
        ),
    ),
    Published(
        "Q8",
        "SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share "
        "FROM (SELECT year(o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation "
        "FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey "
        "AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey "
        "AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey "
        "AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND p_type = 'ECONOMY ANODIZED STEEL') all_nations "
        "GROUP BY o_year ORDER BY o_year",
        (
            *on_any("part", "supplier", "lineitem", "orders", "customer", "nation#0", "nation#1", "region"),
            Cut({"part": "p_partkey", "lineitem": "l_partkey"}),
            Cut({"nation#0": "n_nationkey", "nation#1": "n_regionkey"}),
        ),
    ),
    Published(
        "Q9",
        "SELECT nation, o_year, sum(amount) AS sum_profit FROM (SELECT n_name AS nation, year(o_orderdate) AS o_year, "
        "l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount FROM part, supplier, lineitem, partsupp, orders, "
        "nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey "
        "AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') profit "
        "GROUP BY nation, o_year ORDER BY nation, o_year DESC",
        (
            *on_any("part", "supplier", "lineitem", "partsupp", "orders", "nation"),
            Cut({"part": "p_partkey", "lineitem": "l_partkey", "partsupp": "ps_partkey"}),
        ),
    ),
    Published(
        "Q12",
        "SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high, "
        "sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low "
        "FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate "
        "AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' "
        "GROUP BY l_shipmode ORDER BY l_shipmode",
        (*on_any("orders", "lineitem"), Cut(_BY_ORDER)),
    ),
    Published(
        "Q14",
        "SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) "
        "/ sum(l_extendedprice * (1 - l_discount)) AS promo_revenue FROM lineitem, part WHERE l_partkey = p_partkey "
        "AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'",
        (*on_any("lineitem", "part"), Cut({"lineitem": "l_partkey", "part": "p_partkey"})),
    ),
    Published(
        "Q19",
        f"SELECT {_REVENUE} FROM lineitem, part WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' "
        "AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND l_quantity >= 1 AND l_quantity <= 11 "
        "AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON') "
        "OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') "
        "AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG') "
        "AND l_shipinstruct = 'DELIVER IN PERSON')",
        (*on_any("lineitem", "part"), Cut({"lineitem": "l_partkey", "part": "p_partkey"})),
    ),
)


def _q3(order: str) -> str:
    return (
        f"SELECT l_orderkey, {_REVENUE}, o_orderdate, o_shippriority FROM customer, orders, lineitem "
        "WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' "
        "AND l_shipdate > DATE '1995-03-15' GROUP BY l_orderkey, o_orderdate, o_shippriority "
        f"ORDER BY {order} LIMIT 10"
    )


def _q10(order: str) -> str:
    return (
        f"SELECT c_custkey, c_name, {_REVENUE}, c_acctbal, n_name, c_address, c_phone, c_comment "
        "FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey "
        "AND o_orderdate >= DATE '1994-12-01' AND o_orderdate < DATE '1995-03-01' AND l_returnflag = 'R' "
        "AND c_nationkey = n_nationkey GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment "
        f"ORDER BY {order} LIMIT 20"
    )


_Q10_KEYS = "c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment"
_BY_CUSTOMER = {"customer": "c_custkey", "orders": "o_custkey"}
_DETERMINED = (Cut({"customer": "c_custkey"}), Cut({"orders": "o_custkey"}), Cut(_BY_CUSTOMER), Cut(_BY_CUSTOMER, in_step=True))

_TOP = (
    Published(
        "Q3",
        _q3("revenue DESC, o_orderdate, l_orderkey, o_shippriority"),
        (
            *on_any("customer", "orders", "lineitem"),
            Cut(_BY_ORDER),
            Cut(_BY_ORDER, in_step=True),
            Cut(_BY_ORDER, knows_signs=False),
            Cut({"customer": "c_custkey", **_BY_ORDER}),
        ),
        (
            Cut({"customer": "c_custkey"}, R.ORDER_MAY_MOVE_AHEAD, knows_signs=False),
            Cut({"lineitem": "l_shipdate"}, R.ORDER_MAY_MOVE_AHEAD, knows_signs=False),
        ),
    ),
    Published(
        "Q3 without tie-break",
        _q3("revenue DESC, o_orderdate"),
        (*on_any("customer", "orders", "lineitem"), Cut(_BY_ORDER), Cut({"lineitem": "l_orderkey"}, knows_signs=False)),
        (Cut({"customer": "c_custkey"}, R.ORDER_MAY_MOVE_AHEAD, knows_signs=False),),
        may_tie=True,
    ),
    Published(
        "Q10",
        _q10(f"revenue DESC, {_Q10_KEYS}"),
        (
            *on_any("customer", "orders", "lineitem", "nation"),
            *_DETERMINED[2:],
            Cut(_BY_ORDER),
            Cut({"customer": "c_custkey"}, knows_signs=False),
            Cut({"nation": "n_name"}, knows_signs=False),
        ),
        (
            Cut({"lineitem": "l_orderkey"}, R.ORDER_MAY_MOVE_AHEAD, knows_signs=False),
            Cut({"orders": "o_orderdate"}, R.ORDER_MAY_MOVE_AHEAD, knows_signs=False),
        ),
    ),
    Published(
        "Q10 ascending, Qspace",
        _q10(f"revenue, {_Q10_KEYS}"),
        (*_DETERMINED, Cut({"nation": "n_name"}), Cut({**_BY_CUSTOMER, "nation": "n_name"})),
        (
            *refused_on("lineitem", "l_orderkey l_linenumber l_shipdate l_extendedprice", R.ORDER_MAY_MOVE_AHEAD),
            *refused_on("orders", "o_orderkey o_orderdate", R.ORDER_MAY_MOVE_AHEAD),
            *refused_on("nation", "n_nationkey n_regionkey", R.ORDER_MAY_MOVE_AHEAD),
            Cut({**_BY_CUSTOMER, "lineitem": "l_orderkey"}, R.ORDER_MAY_MOVE_AHEAD),
        ),
    ),
    Published(
        "Q10 ascending without tie-break",
        _q10("revenue"),
        (Cut({"customer": "c_custkey"}), Cut({"orders": "o_custkey"})),
        (Cut({"lineitem": "l_orderkey"}, R.ORDER_MAY_MOVE_AHEAD),),
        may_tie=True,
    ),
)


def _q18(order: str) -> str:
    return (
        "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity FROM customer, orders, lineitem l, "
        "(SELECT * FROM (SELECT sum(l_quantity) AS total, l_orderkey FROM lineitem GROUP BY l_orderkey) t WHERE total > 312) ol "
        "WHERE o_orderkey = ol.l_orderkey AND c_custkey = o_custkey AND o_orderkey = l.l_orderkey "
        f"GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice ORDER BY {order} LIMIT 100"
    )


_BY_ORDER_THRICE = {"orders": "o_orderkey", "lineitem#0": "l_orderkey", "lineitem#1": "l_orderkey"}
_BY_PART_THRICE = {"part": "p_partkey", "partsupp#0": "ps_partkey", "partsupp#1": "ps_partkey"}
_LINES_BY_PART = {"lineitem#0": "l_partkey", "lineitem#1": "l_partkey"}
_LINES_THRICE = {"lineitem#0": "l_orderkey", "lineitem#1": "l_orderkey", "lineitem#2": "l_orderkey"}

_SEVERAL_BLOCKS = (
    Published(
        "Q18",
        _q18("o_totalprice DESC, o_orderdate, c_name, c_custkey, o_orderkey"),
        (
            Cut(_BY_ORDER_THRICE),
            Cut(_BY_ORDER_THRICE, in_step=True),
            Cut(_BY_ORDER_THRICE, knows_signs=False),
            *on_any("customer", "orders", "lineitem#0", "lineitem#1"),
        ),
        (Cut({"lineitem#1": "l_suppkey"}, R.NOT_UPWARD_CLOSED, knows_signs=False),),
    ),
    Published(
        "Q18 without tie-break",
        _q18("o_totalprice DESC, o_orderdate"),
        (Cut(_BY_ORDER_THRICE), *on_any("lineitem#0")),
        may_tie=True,
    ),
    Published(
        "Q18 with IN",
        "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity FROM customer, orders, lineitem "
        "WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 312) "
        "AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice "
        "ORDER BY o_totalprice DESC, o_orderdate, c_name, c_custkey, o_orderkey LIMIT 100",
        (Cut(_BY_ORDER_THRICE), Cut(_BY_ORDER_THRICE, in_step=True), Cut({"lineitem#1": "l_suppkey"})),
        (Cut({"lineitem#1": "l_suppkey"}, R.NOT_UPWARD_CLOSED, knows_signs=False),),
    ),
    Published(
        "Q21",
        "SELECT s_name, count(*) AS numwait FROM supplier, lineitem l1, orders, nation WHERE s_suppkey = l1.l_suppkey "
        "AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate "
        "AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) "
        "AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey "
        "AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = n_nationkey AND n_name = 'CHINA' "
        "GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100",
        (
            Cut(_LINES_THRICE, in_step=True),
            Cut({**_LINES_THRICE, "orders": "o_orderkey"}, in_step=True),
            *on_any("supplier", "lineitem#0", "orders", "nation", "lineitem#1"),
            Cut({"supplier": "s_suppkey", "lineitem#0": "l_suppkey"}),
            Cut({"lineitem#0": "l_orderkey", "lineitem#1": "l_orderkey"}),
        ),
        (
            Cut(_LINES_THRICE, R.RIGHT_SIDE_CUT),
            Cut({"lineitem#0": "l_orderkey", "lineitem#2": "l_orderkey"}, R.RIGHT_SIDE_CUT),
            *refused_on("lineitem#2", "l_orderkey l_suppkey l_receiptdate", R.RIGHT_SIDE_CUT),
            Cut({"lineitem#0": "l_suppkey", "lineitem#1": "l_suppkey", "lineitem#2": "l_suppkey"}, R.RIGHT_SIDE_CUT, in_step=True),
        ),
    ),
    Published(
        "Q2",
        "SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment FROM part, supplier, partsupp ps, nation, "
        "region, (SELECT min(ps_supplycost) AS least, ps_partkey FROM partsupp, supplier, nation, region WHERE s_suppkey = ps_suppkey "
        "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE' GROUP BY ps_partkey) m "
        "WHERE p_partkey = ps.ps_partkey AND s_suppkey = ps.ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS' "
        "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE' AND ps_supplycost = m.least "
        "AND p_partkey = m.ps_partkey ORDER BY s_acctbal DESC, n_name, s_name, p_partkey, p_mfgr, s_address, s_phone, s_comment LIMIT 100",
        (
            *on_any("part", "supplier#0", "partsupp#0", "nation#0", "region#0"),
            Cut({"partsupp#1": "ps_partkey"}),
            Cut(_BY_PART_THRICE),
            Cut(_BY_PART_THRICE, in_step=True),
        ),
        (
            *refused_on("partsupp#1", "ps_suppkey ps_supplycost", R.NOT_UPWARD_CLOSED),
            *refused_on("supplier#1", "s_suppkey s_nationkey", R.NOT_UPWARD_CLOSED),
            Cut({"partsupp#0": "ps_suppkey", "partsupp#1": "ps_suppkey"}, R.NOT_UPWARD_CLOSED, in_step=True),
        ),
    ),
    Published(
        "Q20",
        "SELECT DISTINCT s_name, s_address FROM supplier, nation, (SELECT ps_suppkey FROM partsupp, "
        "(SELECT p_partkey FROM part WHERE p_name LIKE 'green%') p1, (SELECT l_partkey, l_suppkey, 0.5 * sum(l_quantity) AS half "
        "FROM lineitem WHERE l_shipdate >= DATE '1993-01-01' AND l_shipdate < DATE '1994-01-01' GROUP BY l_partkey, l_suppkey) l1 "
        "WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND ps_availqty > half AND ps_partkey = p_partkey) ps1 "
        "WHERE s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_name = 'CHINA' ORDER BY s_name",
        (
            Cut({"lineitem": "l_partkey"}),
            Cut({"lineitem": "l_suppkey"}),
            Cut({"lineitem": "l_partkey", "partsupp": "ps_partkey", "part": "p_partkey"}),
            *on_any("supplier", "nation", "partsupp", "part"),
        ),
        refused_on("lineitem", "l_orderkey l_shipdate l_quantity", R.NOT_UPWARD_CLOSED),
    ),
)

_CORRELATED = (
    Published(
        "Q17",
        "SELECT sum(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' "
        "AND p_container = 'MED BOX' AND l_quantity < (SELECT 0.2 * avg(l2.l_quantity) FROM lineitem l2 WHERE l2.l_partkey = p_partkey)",
        (
            *on_any("lineitem#0", "part"),
            Cut({**_LINES_BY_PART, "part": "p_partkey"}, in_step=True),
        ),
        refused_on("lineitem#1", "l_partkey l_orderkey l_quantity", R.SUBQUERY_CUT),
    ),
    Published(
        "Q2 with a correlated minimum",
        "SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr FROM part, supplier, partsupp, nation WHERE p_partkey = ps_partkey "
        "AND s_suppkey = ps_suppkey AND p_size = 15 AND s_nationkey = n_nationkey AND ps_supplycost = (SELECT min(other.ps_supplycost) "
        "FROM partsupp other WHERE other.ps_partkey = p_partkey) ORDER BY s_acctbal DESC, n_name, s_name, p_partkey, p_mfgr LIMIT 100",
        (
            *on_any("part", "supplier", "partsupp#0", "nation"),
            Cut(_BY_PART_THRICE, in_step=True),
        ),
        refused_on("partsupp#1", "ps_partkey ps_suppkey", R.SUBQUERY_CUT),
    ),
    Published(
        "Q20 with a correlated sum",
        "SELECT s_name, s_address FROM supplier, nation WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp WHERE ps_partkey IN "
        "(SELECT p_partkey FROM part WHERE p_name LIKE 'green%') AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem "
        "WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= DATE '1993-01-01' "
        "AND l_shipdate < DATE '1994-01-01')) AND s_nationkey = n_nationkey AND n_name = 'CHINA' ORDER BY s_name",
        (
            *on_any("supplier", "nation", "partsupp", "part"),
            Cut({"partsupp": "ps_partkey", "lineitem": "l_partkey"}, in_step=True),
            Cut({"partsupp": "ps_suppkey", "lineitem": "l_suppkey"}, in_step=True),
        ),
        refused_on("lineitem", "l_orderkey l_partkey l_suppkey", R.SUBQUERY_CUT),
    ),
)

TPC_H = (*_UNFILTERED, *_TOP, *_SEVERAL_BLOCKS, *_CORRELATED)
