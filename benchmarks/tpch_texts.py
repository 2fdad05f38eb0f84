"""All 22 queries of TPC-H in Spark SQL, as the specification has them, with the parameters of qgen drawn anew for each instance.

Query 15 has WITH in the place of its view, which the specification allows (variant A of clause 2.4.15).
"""

from __future__ import annotations

from benchmarks import tpch_parameters as parameters
from benchmarks.templates import Template

_REVENUE = "l_extendedprice * (1 - l_discount)"
_Q2_JOIN = "s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = '{region}'"
_Q11_FROM = "FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = '{nation}'"
_Q19_BRANCH = (
    "(p_partkey = l_partkey AND p_brand = '{{brand_{place}}}' AND p_container IN ({containers}) AND l_quantity >= {{{place}}} "
    "AND l_quantity <= {{{place}}} + 10 AND p_size BETWEEN 1 AND {size} AND l_shipmode IN ('AIR', 'AIR REG') "
    "AND l_shipinstruct = 'DELIVER IN PERSON')"
)
_Q19 = " OR ".join(
    _Q19_BRANCH.format(place=place, containers=containers, size=size)
    for place, containers, size in (
        ("one", "'SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'", 5),
        ("two", "'MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'", 10),
        ("three", "'LG CASE', 'LG BOX', 'LG PACK', 'LG PKG'", 15),
    )
)

_ONE_TO_ELEVEN = (
    Template(
        "Q1",
        "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price, "
        f"sum({_REVENUE}) AS sum_disc_price, sum({_REVENUE} * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty, "
        "avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order FROM lineitem "
        "WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '{days}' DAY GROUP BY l_returnflag, l_linestatus "
        "ORDER BY l_returnflag, l_linestatus",
        parameters.q1,
        (0, 1),
    ),
    Template(
        "Q2",
        "SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment "
        "FROM part, supplier, partsupp, nation, region WHERE p_partkey = ps_partkey AND p_size = {size} AND p_type LIKE '%{type}' "
        f"AND {_Q2_JOIN} AND ps_supplycost = (SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region "
        f"WHERE p_partkey = ps_partkey AND {_Q2_JOIN}) ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100",
        parameters.q2,
        (0, 2, 1, 3),
        100,
    ),
    Template(
        "Q3",
        f"SELECT l_orderkey, sum({_REVENUE}) AS revenue, o_orderdate, o_shippriority FROM customer, orders, lineitem "
        "WHERE c_mktsegment = '{segment}' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '{date}' "
        "AND l_shipdate > DATE '{date}' GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10",
        parameters.q3,
        (1, 2),
        10,
    ),
    Template(
        "Q4",
        "SELECT o_orderpriority, count(*) AS order_count FROM orders WHERE o_orderdate >= DATE '{date}' "
        "AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey "
        "AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority ORDER BY o_orderpriority",
        parameters.q4,
        (0,),
    ),
    Template(
        "Q5",
        f"SELECT n_name, sum({_REVENUE}) AS revenue FROM customer, orders, lineitem, supplier, nation, region "
        "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey "
        "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = '{region}' AND o_orderdate >= DATE '{date}' "
        "AND o_orderdate < DATE '{date}' + INTERVAL '1' YEAR GROUP BY n_name ORDER BY revenue DESC",
        parameters.q5,
        (1,),
    ),
    Template(
        "Q6",
        "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '{date}' "
        "AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01 "
        "AND l_quantity < {quantity}",
        parameters.q6,
    ),
    Template(
        "Q7",
        "SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, "
        f"extract(year FROM l_shipdate) AS l_year, {_REVENUE} AS volume FROM supplier, lineitem, orders, customer, nation n1, nation n2 "
        "WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey "
        "AND c_nationkey = n2.n_nationkey AND ((n1.n_name = '{one}' AND n2.n_name = '{two}') OR (n1.n_name = '{two}' "
        "AND n2.n_name = '{one}')) AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping "
        "GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year",
        parameters.q7,
        (0, 1, 2),
    ),
    Template(
        "Q8",
        "SELECT o_year, sum(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / sum(volume) AS mkt_share FROM (SELECT "
        f"extract(year FROM o_orderdate) AS o_year, {_REVENUE} AS volume, n2.n_name AS nation "
        "FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey "
        "AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey "
        "AND n1.n_regionkey = r_regionkey AND r_name = '{region}' AND s_nationkey = n2.n_nationkey AND o_orderdate "
        "BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND p_type = '{type}') AS all_nations GROUP BY o_year ORDER BY o_year",
        parameters.q8,
        (0,),
    ),
    Template(
        "Q9",
        "SELECT nation, o_year, sum(amount) AS sum_profit FROM (SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year, "
        f"{_REVENUE} - ps_supplycost * l_quantity AS amount FROM part, supplier, lineitem, partsupp, orders, nation "
        "WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey "
        "AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%{color}%') AS profit "
        "GROUP BY nation, o_year ORDER BY nation, o_year DESC",
        parameters.q9,
        (0, 1),
    ),
    Template(
        "Q10",
        f"SELECT c_custkey, c_name, sum({_REVENUE}) AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment "
        "FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey "
        "AND o_orderdate >= DATE '{date}' AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH AND l_returnflag = 'R' "
        "AND c_nationkey = n_nationkey GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment "
        "ORDER BY revenue DESC LIMIT 20",
        parameters.q10,
        (2,),
        20,
    ),
    Template(
        "Q11",
        f"SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value {_Q11_FROM} GROUP BY ps_partkey "
        "HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * {fraction} "
        f"{_Q11_FROM}) ORDER BY value DESC",
        parameters.q11,
        (1,),
    ),
)

_TWELVE_TO_TWENTY_TWO = (
    Template(
        "Q12",
        "SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) "
        "AS high_line_count, sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) "
        "AS low_line_count FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ({modes}) "
        "AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '{date}' "
        "AND l_receiptdate < DATE '{date}' + INTERVAL '1' YEAR GROUP BY l_shipmode ORDER BY l_shipmode",
        parameters.q12,
        (0,),
    ),
    Template(
        "Q13",
        "SELECT c_count, count(*) AS custdist FROM (SELECT c_custkey, count(o_orderkey) FROM customer LEFT OUTER JOIN orders "
        "ON c_custkey = o_custkey AND o_comment NOT LIKE '%{one}%{two}%' GROUP BY c_custkey) AS c_orders (c_custkey, c_count) "
        "GROUP BY c_count ORDER BY custdist DESC, c_count DESC",
        parameters.q13,
        (1, 0),
    ),
    Template(
        "Q14",
        f"SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN {_REVENUE} ELSE 0 END) / sum({_REVENUE}) AS promo_revenue "
        "FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= DATE '{date}' "
        "AND l_shipdate < DATE '{date}' + INTERVAL '1' MONTH",
        parameters.q14,
    ),
    Template(
        "Q15",
        f"WITH revenue (supplier_no, total_revenue) AS (SELECT l_suppkey, sum({_REVENUE}) FROM lineitem "
        "WHERE l_shipdate >= DATE '{date}' AND l_shipdate < DATE '{date}' + INTERVAL '3' MONTH GROUP BY l_suppkey) "
        "SELECT s_suppkey, s_name, s_address, s_phone, total_revenue FROM supplier, revenue WHERE s_suppkey = supplier_no "
        "AND total_revenue = (SELECT max(total_revenue) FROM revenue) ORDER BY s_suppkey",
        parameters.q15,
        (0,),
    ),
    Template(
        "Q16",
        "SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt FROM partsupp, part WHERE p_partkey = ps_partkey "
        "AND p_brand <> '{brand}' AND p_type NOT LIKE '{type}%' AND p_size IN ({sizes}) AND ps_suppkey NOT IN "
        "(SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%') GROUP BY p_brand, p_type, p_size "
        "ORDER BY supplier_cnt DESC, p_brand, p_type, p_size",
        parameters.q16,
        (3, 0, 1, 2),
    ),
    Template(
        "Q17",
        "SELECT sum(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = '{brand}' "
        "AND p_container = '{container}' AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)",
        parameters.q17,
    ),
    Template(
        "Q18",
        "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) FROM customer, orders, lineitem "
        "WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > {quantity}) "
        "AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice "
        "ORDER BY o_totalprice DESC, o_orderdate LIMIT 100",
        parameters.q18,
        (4, 3),
        100,
    ),
    Template("Q19", f"SELECT sum({_REVENUE}) AS revenue FROM lineitem, part WHERE {_Q19}", parameters.q19),
    Template(
        "Q20",
        "SELECT s_name, s_address FROM supplier, nation WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp WHERE ps_partkey IN "
        "(SELECT p_partkey FROM part WHERE p_name LIKE '{color}%') AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem "
        "WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= DATE '{date}' "
        "AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR)) AND s_nationkey = n_nationkey AND n_name = '{nation}' ORDER BY s_name",
        parameters.q20,
        (0,),
    ),
    Template(
        "Q21",
        "SELECT s_name, count(*) AS numwait FROM supplier, lineitem l1, orders, nation WHERE s_suppkey = l1.l_suppkey "
        "AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate AND EXISTS "
        "(SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) AND NOT EXISTS "
        "(SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey "
        "AND l3.l_receiptdate > l3.l_commitdate) AND s_nationkey = n_nationkey AND n_name = '{nation}' GROUP BY s_name "
        "ORDER BY numwait DESC, s_name LIMIT 100",
        parameters.q21,
        (1, 0),
        100,
    ),
    Template(
        "Q22",
        "SELECT cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal FROM (SELECT substring(c_phone, 1, 2) AS cntrycode, c_acctbal "
        "FROM customer WHERE substring(c_phone, 1, 2) IN ({codes}) AND c_acctbal > (SELECT avg(c_acctbal) FROM customer "
        "WHERE c_acctbal > 0.00 AND substring(c_phone, 1, 2) IN ({codes})) AND NOT EXISTS (SELECT * FROM orders "
        "WHERE o_custkey = c_custkey)) AS custsale GROUP BY cntrycode ORDER BY cntrycode",
        parameters.q22,
        (0,),
    ),
)
TEMPLATES = (*_ONE_TO_ELEVEN, *_TWELVE_TO_TWENTY_TWO)
