-- Recorded by `python -m tests.recorded.record` from SQLAlchemy 2.1.9 and pandas 3.1.1; only the lines `expected` are written by hand.

-- name: text_with_values
-- expected: FILTERED
SELECT order_id, SUM(price * quantity) AS total FROM items GROUP BY order_id HAVING SUM(price * quantity) > ?
-- values: [1150.0]
-- values: [1180.0]
;

-- name: text
-- expected: FILTERED
SELECT order_id, SUM(price * quantity) AS total FROM items GROUP BY order_id HAVING SUM(price * quantity) > 1150
;

-- name: text_of_rows
-- expected: NOT_CLUSTERED
SELECT *
FROM visits
WHERE ts >= '2024-12-25' AND page = 'pay'
ORDER BY ts
;

-- name: core
-- expected: NOT_CLUSTERED
SELECT visits.visitor, sum(visits.seconds) AS seconds
FROM visits GROUP BY visits.visitor
HAVING sum(visits.seconds) > ?
-- values: [6000]
-- values: [6500]
;

-- name: table
-- expected: NO_AGGREGATION
SELECT customers.id, customers.region
FROM customers
;
