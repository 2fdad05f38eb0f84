"""TPC-H's queries that are measured, with the validation parameters of the specification.

Those with LIMIT have an order that decides between all rows, so that answers can be compared; the HAVING of query 18 fits the generator.
"""

_REVENUE = "l_extendedprice * (1 - l_discount)"
_VOLUME = f"{_REVENUE} AS volume"

QUERIES = {
    "Q1": "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price, "
    f"sum({_REVENUE}) AS sum_disc_price, sum({_REVENUE} * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty, "
    "avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order FROM lineitem "
    "WHERE l_shipdate <= DATE'1998-12-01' - INTERVAL '90' DAY GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
    "Q3": f"SELECT l_orderkey, sum({_REVENUE}) AS revenue, o_orderdate, o_shippriority "
    "FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey "
    "AND o_orderdate < DATE'1995-03-15' AND l_shipdate > DATE'1995-03-15' "
    "GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10",
    "Q4": "SELECT o_orderpriority, count(*) AS order_count FROM orders WHERE o_orderdate >= DATE'1993-07-01' "
    "AND o_orderdate < DATE'1993-07-01' + INTERVAL '3' MONTH AND EXISTS (SELECT * FROM lineitem "
    "WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority ORDER BY o_orderpriority",
    "Q5": f"SELECT n_name, sum({_REVENUE}) AS revenue FROM customer, orders, lineitem, supplier, nation, region "
    "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey "
    "AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE'1994-01-01' "
    "AND o_orderdate < DATE'1994-01-01' + INTERVAL '1' YEAR GROUP BY n_name ORDER BY revenue DESC",
    "Q6": "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE'1994-01-01' "
    "AND l_shipdate < DATE'1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24",
    "Q7": "SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue FROM (SELECT n1.n_name AS supp_nation, "
    f"n2.n_name AS cust_nation, extract(year FROM l_shipdate) AS l_year, {_VOLUME} "
    "FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey "
    "AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey "
    "AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')) "
    "AND l_shipdate BETWEEN DATE'1995-01-01' AND DATE'1996-12-31') AS shipping "
    "GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year",
    "Q8": "SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share "
    f"FROM (SELECT extract(year FROM o_orderdate) AS o_year, {_VOLUME}, n2.n_name AS nation "
    "FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey "
    "AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey "
    "AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey "
    "AND o_orderdate BETWEEN DATE'1995-01-01' AND DATE'1996-12-31' AND p_type = 'ECONOMY ANODIZED STEEL') AS all_nations "
    "GROUP BY o_year ORDER BY o_year",
    "Q9": "SELECT nation, o_year, sum(amount) AS sum_profit FROM (SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year, "
    f"{_REVENUE} - ps_supplycost * l_quantity AS amount FROM part, supplier, lineitem, partsupp, orders, nation "
    "WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey "
    "AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit "
    "GROUP BY nation, o_year ORDER BY nation, o_year DESC",
    "Q10": f"SELECT c_custkey, c_name, sum({_REVENUE}) AS revenue, c_acctbal, n_name "
    "FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey "
    "AND o_orderdate >= DATE'1993-10-01' AND o_orderdate < DATE'1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey "
    "GROUP BY c_custkey, c_name, c_acctbal, n_name ORDER BY revenue DESC, c_custkey LIMIT 20",
    "Q12": "SELECT l_shipmode, sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) "
    "AS high_line_count, sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) "
    "AS low_line_count FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') "
    "AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE'1994-01-01' "
    "AND l_receiptdate < DATE'1994-01-01' + INTERVAL '1' YEAR GROUP BY l_shipmode ORDER BY l_shipmode",
    "Q14": f"SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN {_REVENUE} ELSE 0 END) / sum({_REVENUE}) AS promo_revenue "
    "FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= DATE'1995-09-01' "
    "AND l_shipdate < DATE'1995-09-01' + INTERVAL '1' MONTH",
    "Q18": "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity "
    "FROM customer, orders, lineitem WHERE o_orderkey IN "
    "(SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 190) "
    "AND c_custkey = o_custkey AND o_orderkey = l_orderkey GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice "
    "ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100",
    "Q19": f"SELECT sum({_REVENUE}) AS revenue FROM lineitem, part WHERE "
    + " OR ".join(
        f"(p_partkey = l_partkey AND p_brand = '{brand}' AND p_container IN ({containers}) AND l_quantity >= {least} "
        f"AND l_quantity <= {least} + 10 AND p_size BETWEEN 1 AND {size} AND l_shipmode IN ('AIR', 'AIR REG') "
        "AND l_shipinstruct = 'DELIVER IN PERSON')"
        for brand, containers, least, size in (
            ("Brand#12", "'SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'", 1, 5),
            ("Brand#23", "'MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'", 10, 10),
            ("Brand#34", "'LG CASE', 'LG BOX', 'LG PACK', 'LG PKG'", 20, 15),
        )
    ),
}
