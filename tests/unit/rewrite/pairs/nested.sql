# a derived table
SELECT q.g, q.f + 1 AS f FROM (SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 130) q WHERE q.f < 500
=>
SELECT q.g, q.f + 1 AS f FROM (SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING sum(a) > 130) q WHERE q.f < 500

# a table of WITH
WITH big AS (SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 130) SELECT count(*) AS n, max(f) AS m FROM big
=>
WITH big AS (SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING sum(a) > 130) SELECT count(*) AS n, max(f) AS m FROM big

# what is joined with the groups that pass
SELECT q.g, s.b FROM (SELECT g FROM r GROUP BY g HAVING sum(a) > 130) q JOIN s ON q.g = s.k
=>
SELECT q.g, s.b FROM (SELECT g FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING sum(a) > 130) q JOIN (SELECT * FROM s VERSION AS OF 0) AS `s` ON q.g = s.k

# groups of groups
SELECT f, count(*) AS n FROM (SELECT g, count(*) AS f FROM r GROUP BY g HAVING sum(a) > 130) q GROUP BY f
=>
SELECT f, count(*) AS n FROM (SELECT g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING sum(a) > 130) q GROUP BY f

# two blocks of one query, each with its own sketch
SELECT g FROM r GROUP BY g HAVING sum(a) > 110 UNION ALL SELECT k FROM s GROUP BY k HAVING sum(b) > 5
=>
SELECT g FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) AS `r` GROUP BY g HAVING sum(a) > 110 UNION ALL SELECT k FROM (SELECT * FROM s VERSION AS OF 0 WHERE (`k` >= 3 AND `k` < 5) OR (`k` >= 8)) AS `s` GROUP BY k HAVING sum(b) > 5

# groups over a union
SELECT g, sum(a) AS f FROM (SELECT g, a FROM r UNION ALL SELECT k, b FROM s) u GROUP BY g HAVING sum(a) > 120
=>
SELECT g, sum(a) AS f FROM (SELECT g, a FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) AS `r` UNION ALL SELECT k, b FROM (SELECT * FROM s VERSION AS OF 0 WHERE (`k` >= 8)) AS `s`) u GROUP BY g HAVING sum(a) > 120
