"""Money that comes back: accounts that reach themselves through transfers, and the groups of accounts that reach each other."""

from __future__ import annotations

import sys
from datetime import datetime

import imp_driver

Transfers = list[tuple[int, str, str, int, datetime]]
TRANSFERS = [
    (1, "amber", "beryl", 9000, datetime(2024, 3, 1, 9)),
    (2, "beryl", "coral", 8800, datetime(2024, 3, 1, 15)),
    (3, "coral", "amber", 8500, datetime(2024, 3, 2, 11)),
    (4, "dune", "ember", 7000, datetime(2024, 3, 3, 10)),
    (5, "ember", "dune", 6900, datetime(2024, 3, 1, 10)),
    (6, "ember", "fern", 40, datetime(2024, 3, 4, 10)),
    (7, "fern", "dune", 5000, datetime(2024, 3, 5, 10)),
    (8, "coral", "grove", 3000, datetime(2024, 3, 5, 12)),
]
# Each transfer comes after the one before it: such a chain ends by itself, whatever cycles the accounts make.
RETURNS = (
    "WITH RECURSIVE money(start, account, at) AS (SELECT src, dst, at FROM ring_transfer WHERE amount >= 1000 "
    "UNION SELECT m.start, t.dst, t.at FROM money m JOIN ring_transfer t ON t.src = m.account AND t.at > m.at WHERE t.amount >= 1000) "
    "SELECT DISTINCT start AS account FROM money WHERE start = account"
)
REACHES = (
    "WITH RECURSIVE reaches(src, dst) AS (SELECT src, dst FROM ring_transfer WHERE amount >= 1000 "
    "UNION SELECT r.src, t.dst FROM reaches r JOIN ring_transfer t ON t.src = r.dst WHERE t.amount >= 1000) SELECT src, dst FROM reaches"
)
# A group has the name of its first account. Both ways are the same view, read twice.
GROUPS = (
    "SELECT one.src AS account, min(one.dst) AS ring FROM ring_reaches one JOIN ring_reaches back "
    "ON back.src = one.dst AND back.dst = one.src GROUP BY one.src"
)
CHANGES = [
    ("at first", ""),
    ("ember pays fern more", "UPDATE ring_transfer SET amount = 4000 WHERE id = 6"),
    ("grove pays amber", "INSERT INTO ring_transfer VALUES (9, 'grove', 'amber', 2900, TIMESTAMP_NTZ'2024-03-06 08:00:00')"),
    ("coral's payment to amber is charged back", "DELETE FROM ring_transfer WHERE id = 3"),
    ("beryl's to coral too", "DELETE FROM ring_transfer WHERE id = 2"),
]


def main(warehouse: str) -> list[tuple[list[str], dict[str, str]]]:
    """Return whose money came back and the group of each account that is in one, at first and after each change."""
    seen: list[tuple[list[str], dict[str, str]]] = []
    with imp_driver.connect(warehouse=warehouse) as connection, connection.cursor() as cursor:
        for view in ("ring_groups", "ring_reaches", "ring_returns"):
            cursor.execute(f"DROP INCREMENTAL VIEW IF EXISTS {view}")
        columns = "id INT, src STRING, dst STRING, amount INT, at TIMESTAMP_NTZ"
        cursor.execute(f"CREATE OR REPLACE TABLE ring_transfer ({columns}) USING DELTA")
        cursor.executemany("INSERT INTO ring_transfer VALUES (?, ?, ?, ?, ?)", TRANSFERS)
        for view, query in (("ring_returns", RETURNS), ("ring_reaches", REACHES), ("ring_groups", GROUPS)):
            cursor.execute(f"CREATE INCREMENTAL VIEW {view} POLICY STRICT AS {query}")
        for what, change in CHANGES:
            if change:
                cursor.execute(change)
            returned = [account for (account,) in cursor.execute("SELECT account FROM ring_returns ORDER BY account").fetchall()]
            rings: dict[str, str] = dict(cursor.execute("SELECT account, ring FROM ring_groups").fetchall())
            seen.append((returned, rings))
            print(f"{what}: money comes back to {', '.join(returned) or 'nobody'}; groups {_members(rings)}")
            transfers = [each for each in cursor.execute("SELECT * FROM ring_transfer").fetchall() if each[3] >= 1000]
            assert returned == sorted({each[1] for each in transfers if _comes_back(each, each[1], transfers)})
            assert rings == _rings(transfers)
    return seen


def _members(rings: dict[str, str]) -> list[list[str]]:
    return [sorted(account for account, ring in rings.items() if ring == name) for name in sorted(set(rings.values()))]


def _comes_back(last: tuple[int, str, str, int, datetime], start: str, transfers: Transfers) -> bool:
    """Say whether money comes back to an account, by trying every chain of later transfers."""
    return last[2] == start or any(_comes_back(each, start, transfers) for each in transfers if each[1] == last[2] and each[4] > last[4])


def _rings(transfers: Transfers) -> dict[str, str]:
    """Return the first account of the group of each account that is in one, by all pairs that reach each other."""
    pairs = {(each[1], each[2]) for each in transfers}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return {a: min(d for c, d in pairs if c == a and (d, c) in pairs) for a, b in pairs if (b, a) in pairs}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
