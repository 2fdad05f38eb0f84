"""A network that loses links and gets them back: who reaches whom, and in how many hops, read from views after each change."""

from __future__ import annotations

import sys
from collections import deque

import imp_driver

Links = set[tuple[int, int]]
NODES = range(1, 9)
# Two rings of four nodes with two links between them; each link goes both ways.
LINKS = [(1, 2), (2, 3), (3, 4), (4, 1), (5, 6), (6, 7), (7, 8), (8, 5), (1, 5), (3, 7)]
VIEWS = {
    "net_reach": "WITH RECURSIVE reach(src, dst) AS (SELECT src, dst FROM net_link "
    "UNION SELECT l.src, r.dst FROM net_link l JOIN reach r ON l.dst = r.src) SELECT src, dst FROM reach",
    # All walks of a network with cycles are endlessly many: only the fewest hops are asked for, so only these are followed.
    "net_hops": "WITH RECURSIVE walk(src, dst, hops) AS (SELECT src, dst, 1 FROM net_link "
    "UNION SELECT l.src, w.dst, w.hops + 1 FROM net_link l JOIN walk w ON l.dst = w.src) "
    "SELECT src, dst, min(hops) AS hops FROM walk GROUP BY src, dst",
}
UNREACHABLE = (
    "SELECT a.id, b.id FROM net_node a CROSS JOIN net_node b WHERE a.id <> b.id "
    "AND NOT EXISTS (SELECT 1 FROM net_reach r WHERE r.src = a.id AND r.dst = b.id)"
)
CHANGES = [
    ("all links are up", ""),
    ("1-5 fails", "DELETE FROM net_link WHERE (src, dst) IN ((1, 5), (5, 1))"),
    ("3-7 fails too", "DELETE FROM net_link WHERE (src, dst) IN ((3, 7), (7, 3))"),
    ("1-5 is repaired", "INSERT INTO net_link VALUES (1, 5), (5, 1)"),
    ("3-7 comes back one way", "INSERT INTO net_link VALUES (7, 3)"),
]


def main(warehouse: str) -> list[tuple[int, int | None]]:
    """Return the number of unreachable pairs and the hops from 3 to 7, at first and after each change."""
    seen: list[tuple[int, int | None]] = []
    with imp_driver.connect(warehouse=warehouse) as connection, connection.cursor() as cursor:
        for view in VIEWS:
            cursor.execute(f"DROP INCREMENTAL VIEW IF EXISTS {view}")
        cursor.execute("CREATE OR REPLACE TABLE net_node (id INT) USING DELTA")
        cursor.executemany("INSERT INTO net_node VALUES (?)", [(node,) for node in NODES])
        cursor.execute("CREATE OR REPLACE TABLE net_link (src INT, dst INT) USING DELTA")
        cursor.executemany("INSERT INTO net_link VALUES (?, ?)", [*LINKS, *((b, a) for a, b in LINKS)])
        for view, query in VIEWS.items():
            cursor.execute(f"CREATE INCREMENTAL VIEW {view} POLICY STRICT AS {query}")
        for what, change in CHANGES:
            if change:
                cursor.execute(change)
            unreachable = cursor.execute(UNREACHABLE).fetchall()
            report = cursor.sketch_report
            assert report is not None
            hops = {(src, dst): number for src, dst, number in cursor.execute("SELECT * FROM net_hops").fetchall()}
            seen.append((len(unreachable), hops.get((3, 7))))
            print(f"{what}: {seen[-1][0]} unreachable pairs, {seen[-1][1]} hops from 3 to 7 ({report.decision.name})")
            links = set(cursor.execute("SELECT src, dst FROM net_link").fetchall())
            assert hops == _hops(links)
            assert set(unreachable) == {(a, b) for a in NODES for b in NODES if a != b and (a, b) not in hops}
    return seen


def _hops(links: Links) -> dict[tuple[int, int], int]:
    """Return the fewest hops between nodes, by a search from each."""
    found: dict[tuple[int, int], int] = {}
    for start in NODES:
        waiting = deque([(start, 0)])
        while waiting:
            node, number = waiting.popleft()
            for src, dst in links:
                if src == node and (start, dst) not in found:
                    found[start, dst] = number + 1
                    waiting.append((dst, number + 1))
    return found


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
