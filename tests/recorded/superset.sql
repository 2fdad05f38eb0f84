-- Recorded from Superset 6.1.0 (charts, filters, samples, SQL Lab); only the schema has another name here.
-- What it asks beside (SELECT version(), SHOW .., DESCRIBE ..) is no query of a table.

-- name: top_shops
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
ORDER BY
  revenue DESC
LIMIT 10
;

-- name: having_in_no_order
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  shop AS shop,
  SUM(pieces) AS pieces,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
HAVING
  (
    SUM(pieces) > 1290
  )
LIMIT 1000
;

-- name: metric_named_as_column
-- expected: CAPTURE_DEFERRED COVERS_ALMOST_ALL
SELECT
  region AS region,
  SUM(pieces) AS pieces
FROM `recorded`.sales
GROUP BY
  region
ORDER BY
  pieces DESC
LIMIT 100
;

-- name: weeks_named_as_column
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  DATE_TRUNC('WEEK', sold) AS sold,
  SUM(pieces) AS pieces
FROM `recorded`.sales
WHERE
  sold >= CAST('2024-02-01 00:00:00' AS TIMESTAMP_NTZ)
  AND sold < CAST('2024-05-01 00:00:00' AS TIMESTAMP_NTZ)
GROUP BY
  DATE_TRUNC('WEEK', sold)
LIMIT 1000
;

-- name: rows_in_order_sql_lab
-- expected: NO_AGGREGATION
SELECT
  shop,
  sold,
  day
FROM sales
ORDER BY
  id
LIMIT 100001
;

-- name: sql_lab_having_export
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  shop,
  SUM(pieces)
FROM sales
GROUP BY
  shop
HAVING
  SUM(pieces) > 1290
LIMIT 100001
;

-- name: sql_lab_rows_in_order
-- expected: NO_AGGREGATION
SELECT
  shop
FROM sales
ORDER BY
  id
LIMIT 1001
;

-- name: regions
-- expected: COVERS_ALMOST_ALL
SELECT
  region AS region,
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
GROUP BY
  region
ORDER BY
  `SUM(pieces)` DESC
LIMIT 100
;

-- name: weeks_in_order
-- expected: CAPTURE_DEFERRED COVERS_ALMOST_ALL
SELECT
  DATE_TRUNC('WEEK', sold) AS sold,
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
GROUP BY
  DATE_TRUNC('WEEK', sold)
ORDER BY
  `SUM(pieces)` DESC
LIMIT 1000
;

-- name: table_in_order
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces) AS `SUM(pieces)`,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
HAVING
  (
    (
      SUM(pieces) > 1290
    )
  )
ORDER BY
  `SUM(pieces)` DESC
LIMIT 10000
;

-- name: weeks_of_a_quarter
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  DATE_TRUNC('WEEK', sold) AS sold,
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
WHERE
  sold >= CAST('2024-02-01 00:00:00' AS TIMESTAMP_NTZ)
  AND sold < CAST('2024-05-01 00:00:00' AS TIMESTAMP_NTZ)
GROUP BY
  DATE_TRUNC('WEEK', sold)
LIMIT 1000
;

-- name: table_by_revenue
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces) AS `SUM(pieces)`,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
HAVING
  (
    SUM(pieces) > 1290
  )
ORDER BY
  revenue DESC
LIMIT 1000
;

-- name: big_number
-- expected: SCALAR_AGGREGATE
SELECT
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
LIMIT 1
;

-- name: filter_values
-- expected: COVERS_ALMOST_ALL
SELECT
  region AS region
FROM `recorded`.sales
GROUP BY
  region
ORDER BY
  region ASC
LIMIT 1000
;

-- name: shops_by_count
-- expected: TIE_AT_LIMIT
SELECT
  shop AS shop,
  COUNT(*) AS count
FROM `recorded`.sales
GROUP BY
  shop
ORDER BY
  count DESC
LIMIT 100
;

-- name: top_shops_of_regions
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
WHERE
  region IN ('north', 'east')
GROUP BY
  shop
ORDER BY
  revenue DESC
LIMIT 10
;

-- name: top_shops_of_a_quarter
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
WHERE
  sold >= CAST('2024-02-01 00:00:00' AS TIMESTAMP_NTZ)
  AND sold < CAST('2024-05-01 00:00:00' AS TIMESTAMP_NTZ)
GROUP BY
  shop
ORDER BY
  revenue DESC
LIMIT 10
;

-- name: top_shops_of_a_quarter_by_day
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
WHERE
  day >= CAST('2024-02-01' AS DATE) AND day < CAST('2024-05-01' AS DATE)
GROUP BY
  shop
ORDER BY
  revenue DESC
LIMIT 10
;

-- name: series_limit
-- expected: FILTERED RECAPTURE_DEFERRED
SELECT
  DATE_TRUNC('MONTH', sold) AS sold,
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
JOIN (
  SELECT
    shop AS shop__,
    SUM(pieces * price) AS mme_inner__
  FROM `recorded`.sales
  GROUP BY
    shop
  ORDER BY
    SUM(pieces * price) DESC
  LIMIT 5
) AS series_limit
  ON shop = shop__
GROUP BY
  DATE_TRUNC('MONTH', sold),
  shop
ORDER BY
  revenue DESC
LIMIT 1000
;

-- name: shops_by_average
-- expected: FILTERED
SELECT
  shop AS shop,
  AVG(price) AS `AVG(price)`,
  COUNT(*) AS count,
  COUNT(DISTINCT shop) AS `COUNT_DISTINCT(shop)`
FROM `recorded`.sales
GROUP BY
  shop
ORDER BY
  `AVG(price)` DESC
LIMIT 20
;

-- name: pairs_in_order
-- expected: TIE_AT_LIMIT
SELECT
  shop AS shop,
  region AS region,
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
GROUP BY
  shop,
  region
ORDER BY
  `SUM(pieces)` DESC
LIMIT 10
;

-- name: table_in_no_order
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  shop AS shop,
  SUM(pieces) AS `SUM(pieces)`,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
HAVING
  (
    SUM(pieces) > 1360
  )
LIMIT 10000
;

-- name: second_page
-- expected: FILTERED
SELECT
  shop AS shop,
  SUM(pieces * price) AS revenue
FROM `recorded`.sales
GROUP BY
  shop
ORDER BY
  revenue DESC
LIMIT 10
OFFSET 10
;

-- name: samples
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  id AS id,
  shop AS shop,
  region AS region
FROM `recorded`.sales
LIMIT 5
;

-- name: days_of_a_week
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  DATE_TRUNC('DAY', day) AS day,
  SUM(pieces) AS `SUM(pieces)`
FROM `recorded`.sales
WHERE
  day >= CAST('2024-02-01' AS DATE) AND day < CAST('2024-02-08' AS DATE)
GROUP BY
  DATE_TRUNC('DAY', day)
LIMIT 1000
;

-- name: sql_lab_by_revenue
-- expected: FILTERED
SELECT
  shop,
  SUM(pieces * price) AS revenue
FROM sales
GROUP BY
  shop
HAVING
  SUM(pieces) > 1360
ORDER BY
  revenue DESC
LIMIT 1001
;

-- name: sql_lab_having
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  shop,
  SUM(pieces)
FROM sales
GROUP BY
  shop
HAVING
  SUM(pieces) > 1360
LIMIT 1001
;

-- name: sql_lab_rows
-- expected: LIMIT_WITHOUT_ORDER
SELECT
  *
FROM sales
LIMIT 1001
;
