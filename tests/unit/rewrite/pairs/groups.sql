# groups that pass lie in few ranges
SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 100
=>
SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 7)) AS `r` GROUP BY g HAVING sum(a) > 100

# the first groups by an order
SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC, g LIMIT 2
=>
SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) AS `r` GROUP BY g ORDER BY f DESC, g LIMIT 2

# conditions on rows stay where they are
SELECT g, count(*) AS f FROM r WHERE x = 1 GROUP BY g HAVING sum(a) > 35
=>
SELECT g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) AS `r` WHERE x = 1 GROUP BY g HAVING sum(a) > 35

# a condition on the group key is answered by the state of all groups
SELECT g, count(*) AS f FROM r WHERE g >= 3 GROUP BY g HAVING sum(a) > 100
=>
SELECT g, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 7)) AS `r` WHERE g >= 3 GROUP BY g HAVING sum(a) > 100

# spelling, hints and comments stay as they were written
select /*+ COALESCE(1) */ t.G -- the group
  , Max(A) as `the most` from r t group by T.g having max(a) >= 45
=>
select /*+ COALESCE(1) */ t.G -- the group
  , Max(A) as `the most` from (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) t group by T.g having max(a) >= 45

# no group passes: nothing is read
SELECT g FROM r GROUP BY g HAVING sum(a) > 10000
=>
SELECT g FROM (SELECT * FROM r VERSION AS OF 0 WHERE FALSE) AS `r` GROUP BY g HAVING sum(a) > 10000

# groups that pass on both sides of others
SELECT g, min(a) AS f FROM r GROUP BY g HAVING max(a) IN (5, 45)
=>
SELECT g, min(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 1 AND `g` < 2) OR (`g` >= 9)) AS `r` GROUP BY g HAVING max(a) IN (5, 45)

# several group keys: the clustered one is cut
SELECT g, x, count(*) AS f FROM r GROUP BY g, x HAVING sum(a) > 50
=>
SELECT g, x, count(*) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 8)) AS `r` GROUP BY g, x HAVING sum(a) > 50

# a window above the groups
SELECT g, f, rank() OVER (ORDER BY f DESC, g) AS place FROM (SELECT g, sum(a) AS f FROM r GROUP BY g HAVING sum(a) > 130) q
=>
SELECT g, f, rank() OVER (ORDER BY f DESC, g) AS place FROM (SELECT g, sum(a) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING sum(a) > 130) q

# a value that is NULL in a group
SELECT g, max(CASE WHEN a > 30 THEN a END) AS f FROM r GROUP BY g HAVING max(CASE WHEN a > 30 THEN a END) > 40
=>
SELECT g, max(CASE WHEN a > 30 THEN a END) AS f FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` GROUP BY g HAVING max(CASE WHEN a > 30 THEN a END) > 40
