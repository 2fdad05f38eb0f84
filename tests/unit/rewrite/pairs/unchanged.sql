# a function that may answer otherwise each time
SELECT g, count(*) AS f FROM r GROUP BY g HAVING sum(a) > rand() * 1000
=> NON_DETERMINISTIC

# nothing drops groups
SELECT g, sum(a) AS f FROM r GROUP BY g
=> NO_FILTER_ABOVE_GROUPS

# a sample of a table
SELECT g, sum(a) AS f FROM r TABLESAMPLE (50 PERCENT) GROUP BY g HAVING sum(a) > 130
=> SAMPLE

# almost every group passes
SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) >= 0
=> COVERS_ALMOST_ALL

# an order that leaves ties where it ends
SELECT g, count(*) AS f FROM r GROUP BY g ORDER BY f DESC LIMIT 3
=> TIE_AT_LIMIT

# the first rows without an order
SELECT g, sum(a) AS f FROM r GROUP BY g LIMIT 2
=> LIMIT_WITHOUT_ORDER

# an aggregate whose value depends on the order of rows
SELECT g, collect_list(a) AS f FROM r GROUP BY g HAVING size(collect_list(a)) > 3
=> NON_DETERMINISTIC

# a version for which no state was ever there
SELECT g, sum(a) AS f FROM r VERSION AS OF 0 GROUP BY g HAVING sum(a) > 130
=> OLD_VERSION

# a condition whose constant is another query
SELECT g FROM r GROUP BY g HAVING sum(a) > (SELECT avg(a) * 30 FROM r)
=> SUBQUERY

# rows that Delta finds as well by the statistics of the files
SELECT id, a FROM r WHERE a + x > 45
=> NOT_CLUSTERED
