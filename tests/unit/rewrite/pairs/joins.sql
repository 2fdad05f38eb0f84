# both sides carry the key and are cut alike
SELECT r.g, count(*) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING sum(r.a) > 260
=>
SELECT r.g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` JOIN (SELECT * FROM s VERSION AS OF 0 WHERE (`k` >= 9)) AS `s` ON r.g = s.k GROUP BY r.g HAVING sum(r.a) > 260

# the joined table that does not carry the key is read whole, at its version
SELECT r.g, count(*) AS f FROM r JOIN s ON r.x = s.y GROUP BY r.g HAVING sum(r.a) > 500
=>
SELECT r.g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 7)) AS `r` JOIN (SELECT * FROM s VERSION AS OF 0) AS `s` ON r.x = s.y GROUP BY r.g HAVING sum(r.a) > 500

# an outer join: rows without a partner belong to their group
SELECT r.g, count(s.b) AS f FROM r LEFT JOIN s ON r.g = s.k AND s.b > 3 GROUP BY r.g HAVING sum(r.a) > 110
=>
SELECT r.g, count(s.b) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 4 AND `g` < 5) OR (`g` >= 8)) AS `r` LEFT JOIN (SELECT * FROM s VERSION AS OF 0 WHERE (`k` >= 4 AND `k` < 5) OR (`k` >= 8)) AS `s` ON r.g = s.k AND s.b > 3 GROUP BY r.g HAVING sum(r.a) > 110

# a subquery that a row must have a partner in
SELECT g, sum(a) AS f FROM r WHERE x IN (SELECT y FROM s WHERE b > 2) GROUP BY g HAVING sum(a) > 130
=>
SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` WHERE x IN (SELECT y FROM (SELECT * FROM s VERSION AS OF 0) AS `s` WHERE b > 2) GROUP BY g HAVING sum(a) > 130

# one table twice
SELECT p.g, count(*) AS f FROM r p JOIN r q ON p.g = q.g AND p.a < q.a GROUP BY p.g HAVING sum(p.a) > 150
=>
SELECT p.g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) p JOIN (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) q ON p.g = q.g AND p.a < q.a GROUP BY p.g HAVING sum(p.a) > 150
