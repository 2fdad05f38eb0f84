-- Modelled after the SQL of Superset's charts, filters and SQL Lab, not recorded: see superset.sql for that.

-- name: table_with_having
-- expected: FILTERED
SELECT shop AS shop, SUM(price) AS `SUM(price)`, COUNT(*) AS count
FROM sales
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 2300)) ORDER BY `SUM(price)` DESC
LIMIT 1001
-- or
SELECT shop AS shop, SUM(price) AS `SUM(price)`, COUNT(*) AS count
FROM sales
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 2350)) ORDER BY `SUM(price)` DESC
LIMIT 1001
;

-- name: table_of_a_month
-- expected: FILTERED CAPTURE_DEFERRED FILTERED
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales
WHERE ts >= CAST('2024-05-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2024-06-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 200)) ORDER BY `SUM(price)` DESC
LIMIT 1001
-- or
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales
WHERE ts >= CAST('2024-06-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2024-07-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 200)) ORDER BY `SUM(price)` DESC
LIMIT 1001
;

-- name: top_ten
-- expected: FILTERED CAPTURE_DEFERRED FILTERED
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales
WHERE product IN ('tea') GROUP BY shop ORDER BY `SUM(price)` DESC
LIMIT 10
-- or
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales
WHERE product IN ('tea', 'cups') GROUP BY shop ORDER BY `SUM(price)` DESC
LIMIT 10
;

-- name: bar_chart_of_one_eq_one
-- expected: FILTERED
SELECT shop AS shop, MAX(price) AS `MAX(price)`
FROM sales
WHERE (1 = 1) AND (product = 'tea') GROUP BY shop
HAVING ((MAX(price) > 125)) ORDER BY `MAX(price)` DESC
LIMIT 10000
;

-- name: weighted_price
-- expected: FILTERED
SELECT shop AS shop, SUM(price * quantity) / SUM(quantity) AS weighted
FROM sales GROUP BY shop
HAVING ((SUM(price * quantity) / SUM(quantity) > 122)) ORDER BY weighted DESC
LIMIT 1001
;

-- name: pivot_table_in_order
-- expected: FILTERED
SELECT shop AS shop, product AS product, SUM(price) AS `SUM(price)`
FROM sales GROUP BY shop, product
HAVING ((SUM(price) > 800)) ORDER BY `SUM(price)` DESC
LIMIT 10000
;

-- name: visitors_per_day
-- expected: CAPTURE_DEFERRED FILTERED
SELECT DATE_TRUNC('DAY', ts) AS __timestamp, COUNT(DISTINCT visitor) AS `COUNT_DISTINCT(visitor)`
FROM visits
WHERE ts >= CAST('2024-12-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY DATE_TRUNC('DAY', ts) ORDER BY `COUNT_DISTINCT(visitor)` DESC
LIMIT 10000
-- or
SELECT DATE_TRUNC('DAY', ts) AS __timestamp, COUNT(DISTINCT visitor) AS `COUNT_DISTINCT(visitor)`
FROM visits
WHERE ts >= CAST('2024-11-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2024-12-01 00:00:00.000000' AS TIMESTAMP) GROUP BY DATE_TRUNC('DAY', ts) ORDER BY `COUNT_DISTINCT(visitor)` DESC
LIMIT 10000
;

-- name: busy_days
-- expected: CAPTURE_DEFERRED FILTERED
SELECT DATE_TRUNC('DAY', ts) AS __timestamp, SUM(seconds) AS `SUM(seconds)`
FROM visits GROUP BY DATE_TRUNC('DAY', ts)
HAVING ((SUM(seconds) > 2500)) ORDER BY `SUM(seconds)` DESC
LIMIT 10000
;

-- name: series_limit
-- expected: FILTERED CAPTURE_DEFERRED FILTERED
SELECT DATE_TRUNC('MONTH', ts) AS __timestamp, shop AS shop, SUM(price) AS `SUM(price)`
FROM sales JOIN (SELECT shop AS shop__, SUM(price) AS mme_inner__
FROM sales
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop ORDER BY mme_inner__ DESC
LIMIT 5) AS anon_1 ON shop = shop__
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY DATE_TRUNC('MONTH', ts), shop ORDER BY `SUM(price)` DESC
LIMIT 10000
-- or
SELECT DATE_TRUNC('MONTH', ts) AS __timestamp, shop AS shop, SUM(price) AS `SUM(price)`
FROM sales JOIN (SELECT shop AS shop__, SUM(price) AS mme_inner__
FROM sales
WHERE ts >= CAST('2024-02-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop ORDER BY mme_inner__ DESC
LIMIT 5) AS anon_1 ON shop = shop__
WHERE ts >= CAST('2024-02-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY DATE_TRUNC('MONTH', ts), shop ORDER BY `SUM(price)` DESC
LIMIT 10000
;

-- name: series_limit_without_times
-- expected: FILTERED RECAPTURE_DEFERRED
SELECT DATE_TRUNC('MONTH', ts) AS __timestamp, shop AS shop, SUM(price) AS `SUM(price)`
FROM sales JOIN (SELECT shop AS shop__, SUM(price) AS mme_inner__
FROM sales GROUP BY shop ORDER BY mme_inner__ DESC
LIMIT 5) AS anon_1 ON shop = shop__ GROUP BY DATE_TRUNC('MONTH', ts), shop ORDER BY `SUM(price)` DESC
LIMIT 10000
;

-- name: big_number
-- expected: CAPTURE_DEFERRED COVERS_ALMOST_ALL
SELECT SUM(price) AS `SUM(price)`
FROM sales
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP)
LIMIT 50000
-- or
SELECT SUM(price) AS `SUM(price)`
FROM sales
WHERE ts >= CAST('2024-02-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP)
LIMIT 50000
;

-- name: big_number_with_trend
-- expected: LIMIT_WITHOUT_ORDER
SELECT DATE_TRUNC('WEEK', ts) AS __timestamp, SUM(seconds) AS `SUM(seconds)`
FROM visits GROUP BY DATE_TRUNC('WEEK', ts)
LIMIT 50000
;

-- name: filter_values_in_a_filter
-- expected: COVERS_ALMOST_ALL
SELECT shop AS shop
FROM sales
WHERE price > 125 GROUP BY shop ORDER BY shop ASC
LIMIT 1000
;

-- name: drill_to_detail
-- expected: LIMIT_WITHOUT_ORDER
SELECT *
FROM sales
WHERE shop = 17 AND product = 'tea'
LIMIT 100
OFFSET 0
-- or
SELECT *
FROM sales
WHERE shop = 18 AND product = 'tea'
LIMIT 100
OFFSET 0
;

-- name: raw_records
-- expected: NO_AGGREGATION
SELECT ts AS ts, visitor AS visitor, page AS page, seconds AS seconds
FROM visits
WHERE page = 'pay' ORDER BY seconds DESC, ts DESC
LIMIT 1001
;

-- name: rows_with_a_condition
-- expected: NOT_CLUSTERED
SELECT COUNT(*) AS count
FROM visits
WHERE seconds > 125
LIMIT 50000
;

-- name: row_count
-- expected: FILTERED
SELECT COUNT(*) AS rowcount
FROM (SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales GROUP BY shop
HAVING ((SUM(price) > 2300))) AS rowcount_qry
;

-- name: row_count_with_limit
-- expected: FILTERED
SELECT COUNT(*) AS rowcount
FROM (SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales GROUP BY shop ORDER BY `SUM(price)` DESC
LIMIT 10) AS rowcount_qry
LIMIT 1001
;

-- name: latest_time
-- expected: SCALAR_AGGREGATE
SELECT MAX(ts) AS max_ts
FROM sales
;

-- name: virtual_table
-- expected: FILTERED
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM (SELECT * FROM sales WHERE price > 0) AS virtual_table
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 2300)) ORDER BY `SUM(price)` DESC
LIMIT 1001
-- or
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM (SELECT * FROM sales WHERE price > 0) AS virtual_table
WHERE ts >= CAST('2024-01-01 00:00:00.000000' AS TIMESTAMP) AND ts < CAST('2025-01-01 00:00:00.000000' AS TIMESTAMP) GROUP BY shop
HAVING ((SUM(price) > 2350)) ORDER BY `SUM(price)` DESC
LIMIT 1001
;

-- name: virtual_table_of_groups
-- expected: FILTERED
SELECT shop AS shop, total AS total
FROM (SELECT shop, SUM(price) AS total FROM sales GROUP BY shop) AS virtual_table
WHERE total > 2300 ORDER BY total DESC
LIMIT 1001
;

-- name: virtual_table_of_a_join
-- expected: FILTERED
SELECT name AS name, SUM(cost) AS `SUM(cost)`
FROM (SELECT c.id, c.name, i.price * i.quantity AS cost FROM customers c JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.id) AS virtual_table GROUP BY id, name
HAVING ((SUM(cost) > 9300)) ORDER BY `SUM(cost)` DESC
LIMIT 1001
;

-- name: virtual_table_series_limit
-- expected: FILTERED RECAPTURE_DEFERRED
SELECT DATE_TRUNC('MONTH', ts) AS __timestamp, shop AS shop, SUM(price) AS `SUM(price)`
FROM (SELECT * FROM sales WHERE quantity > 0) AS virtual_table JOIN (SELECT shop AS shop__, SUM(price) AS mme_inner__
FROM (SELECT * FROM sales WHERE quantity > 0) AS virtual_table GROUP BY shop ORDER BY mme_inner__ DESC
LIMIT 5) AS series_limit ON shop = shop__ GROUP BY DATE_TRUNC('MONTH', ts), shop ORDER BY `SUM(price)` DESC
LIMIT 10000
;

-- name: bins
-- expected: CAPTURE_DEFERRED COVERS_ALMOST_ALL
SELECT CASE WHEN seconds < 40 THEN 'short' ELSE 'long' END AS length, COUNT(*) AS count
FROM visits GROUP BY CASE WHEN seconds < 40 THEN 'short' ELSE 'long' END ORDER BY count DESC
LIMIT 1001
;

-- name: busy_visitors
-- expected: CAPTURE_DEFERRED FILTERED
SELECT visitor AS visitor, SUM(seconds) AS `SUM(seconds)`
FROM visits
WHERE page IN ('home', 'pay') GROUP BY visitor
HAVING ((SUM(seconds) > 2400)) ORDER BY `SUM(seconds)` DESC
LIMIT 1001
-- or
SELECT visitor AS visitor, SUM(seconds) AS `SUM(seconds)`
FROM visits
WHERE page IN ('home', 'search', 'pay') GROUP BY visitor
HAVING ((SUM(seconds) > 2400)) ORDER BY `SUM(seconds)` DESC
LIMIT 1001
;

-- name: sql_lab_with
-- expected: FILTERED
WITH totals AS (SELECT shop, sum(price) AS total FROM sales GROUP BY shop)
SELECT * FROM totals WHERE total > 2300
ORDER BY total DESC
LIMIT 1001
;

-- name: times_as_text
-- expected: FILTERED
SELECT shop AS shop, SUM(price) AS `SUM(price)`
FROM sales
WHERE ts >= '2024-01-01 00:00:00.000000' AND ts < '2025-01-01 00:00:00.000000' GROUP BY shop
HAVING ((SUM(price) > 2300)) ORDER BY `SUM(price)` DESC
LIMIT 1001
;
