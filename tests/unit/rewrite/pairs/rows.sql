# rows without groups: where those are that a condition on another column leaves
SELECT a, x FROM r WHERE id = 7
=>
SELECT a, x FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 7 AND `g` < 8)) AS `r` WHERE id = 7

# rows that meet a condition with a partner
SELECT r.id, s.b FROM r JOIN s ON r.g = s.k WHERE r.a + s.y > 45
=>
SELECT r.id, s.b FROM (SELECT * FROM r VERSION AS OF 0 WHERE (`g` >= 9)) AS `r` JOIN (SELECT * FROM s VERSION AS OF 0) AS `s` ON r.g = s.k WHERE r.a + s.y > 45
