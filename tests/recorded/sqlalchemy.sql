-- Recorded by `python -m tests.recorded.record` from SQLAlchemy 2.1.9; only the lines `expected` are written by hand.

-- name: best_orders
-- expected: FILTERED
SELECT items.order_id, sum(items.price * items.quantity) AS total
FROM items GROUP BY items.order_id
HAVING sum(items.price * items.quantity) > ? ORDER BY total DESC, items.order_id
-- values: [1150.0]
-- values: [1180.0]
;

-- name: best_customers
-- expected: FILTERED
SELECT customers.id, customers.name, sum(items.price * items.quantity) AS total
FROM customers JOIN orders ON customers.id = orders.customer_id JOIN items ON orders.id = items.order_id GROUP BY customers.id, customers.name
HAVING sum(items.price * items.quantity) > ? ORDER BY total DESC
LIMIT ?
-- values: [9300.0, 5]
-- values: [9400.0, 5]
;

-- name: page_of_customers
-- expected: FILTERED
SELECT orders.customer_id, count(orders.id) AS orders, max(orders.placed_at) AS max_1
FROM orders GROUP BY orders.customer_id ORDER BY orders.customer_id DESC
LIMIT ?
OFFSET ?
-- values: [10, 0]
-- values: [10, 10]
;

-- name: customers_with_many_open_orders
-- expected: COVERS_ALMOST_ALL CAPTURE_DEFERRED
SELECT orders.customer_id, count(*) AS orders
FROM orders
WHERE orders.status IN (?) GROUP BY orders.customer_id
HAVING count(*) >= ?
-- values: ["returned", 3]
SELECT orders.customer_id, count(*) AS orders
FROM orders
WHERE orders.status IN (?, ?) GROUP BY orders.customer_id
HAVING count(*) >= ?
-- values: ["returned", "lost", 2]
SELECT orders.customer_id, count(*) AS orders
FROM orders
WHERE orders.status IN (?, ?, ?) GROUP BY orders.customer_id
HAVING count(*) >= ?
-- values: ["returned", "lost", "stolen", 3]
;

-- name: shares_of_states
-- expected: FILTERED
SELECT orders.customer_id, sum(CASE WHEN (orders.status = ?) THEN ? ELSE ? END) AS returned, count(orders.id) AS count_1
FROM orders GROUP BY orders.customer_id
HAVING sum(CASE WHEN (orders.status = ?) THEN ? ELSE ? END) >= ?
-- values: ["returned", 1, 0, "returned", 1, 0, 3]
-- values: ["returned", 1, 0, "returned", 1, 0, 5]
;

-- name: filtered_counts
-- expected: FILTERED
SELECT orders.customer_id, count(orders.id) FILTER (WHERE orders.status = ?) AS returned, count(orders.id) AS orders
FROM orders GROUP BY orders.customer_id
HAVING count(orders.id) FILTER (WHERE orders.status = ?) > ?
-- values: ["returned", "returned", 3]
-- values: ["returned", "returned", 5]
;

-- name: many_products
-- expected: COVERS_ALMOST_ALL FILTERED COVERS_ALMOST_ALL
SELECT items.order_id, count(DISTINCT items.product_id) AS kinds
FROM items
WHERE items.order_id >= ? GROUP BY items.order_id
HAVING count(DISTINCT items.product_id) >= ?
-- values: [2300, 2]
-- values: [2310, 2]
;

-- name: busy_months
-- expected: NO_PLAIN_GROUP_KEY
SELECT date_trunc('MONTH', orders.placed_at) AS month, count(*) AS count_1
FROM orders GROUP BY date_trunc('MONTH', orders.placed_at)
HAVING count(*) > ? ORDER BY month
-- values: [200]
-- values: [205]
;

-- name: orders_of_a_year
-- expected: FILTERED
SELECT orders.customer_id, count(*) AS count_1
FROM orders
WHERE EXTRACT(year FROM orders.placed_at) = ? GROUP BY orders.customer_id
HAVING count(*) > ?
-- values: [2024, 10]
-- values: [2024, 11]
;

-- name: orders_between
-- expected: FILTERED
SELECT orders.customer_id, count(*) AS number
FROM orders
WHERE orders.placed_at BETWEEN ? AND ? GROUP BY orders.customer_id ORDER BY number DESC, orders.customer_id
LIMIT ?
-- values: [{"datetime": "2024-12-01T00:00:00"}, {"datetime": "2024-12-31T00:00:00"}, 5]
;

-- name: totals_with
-- expected: FILTERED
WITH totals AS
(SELECT items.order_id AS order_id, sum(items.price * items.quantity) AS total
FROM items GROUP BY items.order_id)
SELECT orders.id, orders.customer_id, totals.total
FROM orders JOIN totals ON totals.order_id = orders.id
WHERE totals.total > ?
-- values: [1150.0]
-- values: [1180.0]
;

-- name: customers_of_dear_orders
-- expected: FILTERED
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE orders.id IN (SELECT items.order_id
FROM items GROUP BY items.order_id
HAVING sum(items.price) > ?)
-- values: [470.0]
-- values: [480.0]
;

-- name: above_the_average
-- expected: SUBQUERY
SELECT items.order_id, sum(items.price) AS sum_1
FROM items GROUP BY items.order_id
HAVING sum(items.price) > (SELECT avg(items.price) * ? AS anon_1
FROM items)
-- values: [3]
;

-- name: number_of_pages
-- expected: FILTERED
SELECT count(*) AS count_1
FROM (SELECT items.order_id AS order_id
FROM items GROUP BY items.order_id
HAVING sum(items.price) > ?) AS anon_1
-- values: [470.0]
-- values: [480.0]
;

-- name: legacy_count
-- expected: CAPTURE_DEFERRED FILTERED
SELECT count(*) AS count_1
FROM (SELECT orders.id AS orders_id, orders.customer_id AS orders_customer_id, orders.placed_at AS orders_placed_at, orders.status AS orders_status
FROM orders
WHERE orders.status = ?) AS anon_1
-- values: ["returned"]
-- values: ["open"]
;

-- name: with_and_without_orders
-- expected: UNSUPPORTED_AGGREGATE
SELECT customers.id, coalesce(count(orders.id), ?) AS number
FROM customers LEFT OUTER JOIN orders ON customers.id = orders.customer_id GROUP BY customers.id
HAVING coalesce(count(orders.id), ?) > ?
-- values: [0, 0, 10]
;

-- name: customers_that_returned
-- expected: NOT_CLUSTERED
SELECT customers.id, customers.name, customers.region
FROM customers
WHERE EXISTS (SELECT *
FROM orders
WHERE orders.customer_id = customers.id AND orders.status = ?)
-- values: ["returned"]
;

-- name: customers_without
-- expected: NOT_CLUSTERED
SELECT customers.id, customers.name, customers.region
FROM customers
WHERE NOT (EXISTS (SELECT 1
FROM orders
WHERE customers.id = orders.customer_id AND orders.status = ?))
-- values: ["open"]
;

-- name: items_of_a_region
-- expected: CAPTURE_DEFERRED COVERS_ALMOST_ALL
SELECT sum(items.price) AS sum_1
FROM items
WHERE EXISTS (SELECT 1
FROM orders
WHERE orders.id = items.order_id AND (EXISTS (SELECT 1
FROM customers
WHERE customers.id = orders.customer_id AND customers.region = ?)))
-- values: ["north"]
;

-- name: dear_orders
-- expected: CAPTURE_DEFERRED FILTERED
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE (SELECT sum(items.price * items.quantity) AS sum_1
FROM items
WHERE items.order_id = orders.id) > ?
-- values: [1150.0]
-- values: [1180.0]
;

-- name: newest_of_each
-- expected: ORDER_NOT_TOTAL
SELECT anon_1.id, anon_1.customer_id, anon_1.place
FROM (SELECT orders.id AS id, orders.customer_id AS customer_id, row_number() OVER (PARTITION BY orders.customer_id ORDER BY orders.placed_at DESC, orders.id) AS place
FROM orders
WHERE orders.customer_id >= ?) AS anon_1
WHERE anon_1.place = ?
-- values: [230, 1]
-- values: [235, 1]
;

-- name: ranked_totals
-- expected: NO_FILTER_ABOVE_GROUPS
SELECT anon_1.order_id, anon_1.total, anon_1.place
FROM (SELECT items.order_id AS order_id, sum(items.price) AS total, rank() OVER (ORDER BY sum(items.price) DESC) AS place
FROM items GROUP BY items.order_id) AS anon_1
WHERE anon_1.place <= ?
-- values: [10]
;

-- name: dear_or_many
-- expected: FILTERED
SELECT items.order_id
FROM items GROUP BY items.order_id
HAVING sum(items.price) > ? UNION ALL SELECT items.order_id
FROM items GROUP BY items.order_id
HAVING sum(items.quantity) > ?
-- values: [470.0, 5]
;

-- name: pairs_of_orders
-- expected: COVERS_ALMOST_ALL FILTERED COVERS_ALMOST_ALL
SELECT orders.customer_id, count(*) AS count_1
FROM orders JOIN orders AS orders_1 ON orders_1.customer_id = orders.customer_id
WHERE orders.id < orders_1.id AND orders.customer_id > ? GROUP BY orders.customer_id
HAVING count(*) > ?
-- values: [220, 40]
-- values: [225, 40]
;

-- name: categories
-- expected: NOT_CLUSTERED
SELECT products.category, sum(items.price * items.quantity) AS sum_1
FROM items JOIN products ON products.id = items.product_id GROUP BY products.category
HAVING sum(items.price * items.quantity) > ? ORDER BY products.category
-- values: [400000.0]
;

-- name: states
-- expected: NO_AGGREGATION
SELECT DISTINCT orders.status
FROM orders ORDER BY orders.status
;

-- name: one_customer
-- expected: NOT_CLUSTERED
SELECT customers.id, customers.name, customers.region
FROM customers
WHERE customers.id = ?
-- values: [7]
-- values: [8]
;

-- name: with_items_joined
-- expected: NO_AGGREGATION
SELECT anon_1.id, anon_1.customer_id, anon_1.placed_at, anon_1.status, items_1.price * items_1.quantity AS anon_2, items_1.id AS id_1, items_1.order_id, items_1.product_id, items_1.quantity, items_1.price
FROM (SELECT orders.id AS id, orders.customer_id AS customer_id, orders.placed_at AS placed_at, orders.status AS status
FROM orders
WHERE orders.customer_id = ? ORDER BY orders.id
LIMIT ?) AS anon_1 LEFT OUTER JOIN items AS items_1 ON anon_1.id = items_1.order_id ORDER BY anon_1.id
-- values: [230, 3]
-- values: [231, 3]
;

-- name: with_items_contained
-- expected: CAPTURE_DEFERRED FILTERED
SELECT items.price * items.quantity AS anon_1, items.id, items.order_id, items.product_id, items.quantity, items.price, orders.id AS id_1, orders.customer_id, orders.placed_at, orders.status
FROM orders JOIN items ON orders.id = items.order_id JOIN products ON products.id = items.product_id
WHERE products.category = ? AND items.price > ?
-- values: ["tea", 230]
-- values: ["cups", 230]
;

-- name: with_items_selected
-- expected: NOT_CLUSTERED
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE orders.customer_id IN (?, ?, ?) ORDER BY orders.id
-- values: [230, 231, 232]
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE orders.customer_id IN (?) ORDER BY orders.id
-- values: [231]
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE orders.customer_id IN (?, ?) ORDER BY orders.id
-- values: [229, 230]
;

-- name: with_items_selected_2
-- expected: NOT_CLUSTERED
SELECT items.order_id, items.price * items.quantity AS anon_1, items.id, items.product_id, items.quantity, items.price
FROM items
WHERE items.order_id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- values: [2300, 2301, 2302, 2303, 2304, 2305, 2306, 2307, 2308, 2309, 2310, 2311, 2312, 2313, 2314, 2315, 2316, 2317, 2318, 2319, 2320, 2321, 2322, 2323, 2324, 2325, 2326, 2327, 2328, 2329]
SELECT items.order_id, items.price * items.quantity AS anon_1, items.id, items.product_id, items.quantity, items.price
FROM items
WHERE items.order_id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- values: [2310, 2311, 2312, 2313, 2314, 2315, 2316, 2317, 2318, 2319]
SELECT items.order_id, items.price * items.quantity AS anon_1, items.id, items.product_id, items.quantity, items.price
FROM items
WHERE items.order_id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- values: [2290, 2291, 2292, 2293, 2294, 2295, 2296, 2297, 2298, 2299, 2300, 2301, 2302, 2303, 2304, 2305, 2306, 2307, 2308, 2309]
;

-- name: with_items_by_subquery_2
-- expected: FILTERED
SELECT items.price * items.quantity AS anon_1, items.id AS items_id, items.order_id AS items_order_id, items.product_id AS items_product_id, items.quantity AS items_quantity, items.price AS items_price, anon_2.orders_id AS anon_2_orders_id
FROM (SELECT orders.id AS orders_id
FROM orders
WHERE orders.id IN (SELECT items.order_id
FROM items GROUP BY items.order_id
HAVING sum(items.price) > ?)) AS anon_2 JOIN items ON anon_2.orders_id = items.order_id
-- values: [470.0]
-- values: [480.0]
;

-- name: items_on_demand
-- expected: NOT_CLUSTERED
SELECT orders.id, orders.customer_id, orders.placed_at, orders.status
FROM orders
WHERE orders.id = ?
-- values: [2300]
-- values: [2301]
;

-- name: items_on_demand_2
-- expected: NOT_CLUSTERED
SELECT items.price * items.quantity AS anon_1, items.id, items.order_id, items.product_id, items.quantity, items.price
FROM items
WHERE ? = items.order_id
-- values: [2300]
-- values: [2301]
;
