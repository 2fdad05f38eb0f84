"""Attack on the reading of changes: random commits on tables of all kinds, with and without the change feed, side by side.

``commit_attack 20000`` as a program makes that many commits, ``--stream 17`` one stream again; it returns 1 when a difference was found.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imp_driver.delta.tables import DeltaTables
from imp_driver.reasons import DeltaSource
from imp_driver.values.tables import ChangesUnavailable
from tests.seeds import SEED
from tests.soundness.log_writer import MAPPINGS, NAMES, PARTITION, Kind, Row, WrittenTable, random_row

COMMITS = 20
"""Of one stream."""
Counted = Counter[tuple[Any, ...]]


@dataclass(slots=True)
class CommitTally:
    """``commits`` of one table of each pair; ``sources`` of the steps that were read."""

    commits: int = 0
    sources: Counter[DeltaSource] = field(default_factory=Counter)
    unavailable: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Question:
    """Which changes are asked for; ``reads_again`` those who have read others of the table before."""

    stream: int
    after: int
    up_to: int
    names: tuple[str, ...]
    reads_again: bool


def attack_commits(seed: int, number: int, tally: CommitTally) -> None:
    """Play one stream on two tables that differ in the change feed alone."""
    chance = random.Random(f"commits {seed} {number}")
    vectors, partitioned, mapping = chance.random() < 0.5, chance.random() < 0.5, chance.choice(MAPPINGS)
    with tempfile.TemporaryDirectory() as folder:
        tables = [
            WrittenTable(Path(folder) / f"t {feed}", Kind(feed, vectors, mapping, partitioned), random.Random(f"{seed} {number} {feed}"))
            for feed in (False, True)
        ]
        kept = DeltaTables()
        for _ in range(COMMITS):
            _commit(tables, chance)
            tally.commits += 1
            for _ in range(chance.choice([0, 1, 1, 2])):
                question = _question(number, tables[0].version, chance)
                for table in tables:
                    _check(table, kept if question.reads_again else DeltaTables(), question, tally)


def _question(number: int, newest: int, chance: random.Random) -> Question:
    up_to = newest if chance.random() < 0.8 else chance.randint(0, newest)
    after = max(0, up_to - chance.choice([0, 1, 1, 1, 2, 3, 8]))
    names = tuple(chance.sample(NAMES, chance.randint(0, len(NAMES))))
    return Question(number, after, up_to, names, chance.random() < 0.8)


def _commit(tables: list[WrittenTable], chance: random.Random) -> None:
    rows = [random_row(chance) for _ in range(chance.choice([0, 1, 4, 12]))]
    value, shift, shuffled = chance.randint(-2, 3), chance.randint(0, 2), chance.random() < 0.4
    what = chance.choice(["append", "append", "delete", "delete", "update", "update", "negate", "compact", "overwrite", "add", "replace"])
    place, where = chance.randrange(PARTITION), chance.randrange(len(NAMES))
    for table in tables:
        if table.version < 1 or what == "append":
            table.append(rows or [random_row(random.Random(value))])
        elif what == "delete":
            table.change(lambda row: bool(row[0] == value), lambda _: None, shuffled=shuffled)
        elif what == "update":
            table.change(lambda row: bool(row[0] == value), lambda row: (row[0] + shift, *row[1:]), shuffled=shuffled)
        elif what == "negate":
            # 0.0 and -0.0 are equal, and yet not the same to a state.
            table.change(lambda row: row[2] == 0.0, lambda row: (*row[:2], -row[2], *row[3:]), shuffled=shuffled)
        elif what == "compact":
            table.compact()
        elif what == "add":
            table.add_column(where)
        elif what == "replace":
            table.replace_column(place)
        else:
            table.overwrite(rows)
    # A change of no row makes no commit with either table.
    assert tables[0].version == tables[1].version


def _check(table: WrittenTable, tables: DeltaTables, question: Question, tally: CommitTally) -> None:
    snapshot = tables.snapshot(str(table.folder))
    assert snapshot.version == table.version
    where, during = f"{question} {table.kind}", table.columns[question.after : question.up_to + 1]
    same = {name for place, name in enumerate(NAMES) if len({numbers[place] for numbers in during}) == 1 and during[0][place] is not None}
    names = tuple(name for name in question.names if name in same)
    try:
        plan = tables.plan(snapshot.location, snapshot.table_id, question.after, question.up_to)
        if plan.columns is not None and not same <= plan.columns <= same | {name for name in plan.columns if name not in NAMES}:
            tally.differences.append(f"{where}: columns {plan.columns} instead of {same}")
        signed = tables.read(plan, names)
    except ChangesUnavailable as error:
        tally.unavailable[f"{error.reason.name}: {error.detail}"] += 1
        return
    tally.sources[plan.source] += 1
    found = _counted([tuple(row.values()) for row in signed.rows.to_pylist()] if names else [()] * len(signed.weights), signed.weights)
    places = [NAMES.index(name) for name in names]
    expected = _counted([_chosen(row, places) for row in table.versions[question.up_to]])
    expected.subtract(_counted([_chosen(row, places) for row in table.versions[question.after]]))
    if _filled(found) != _filled(expected):
        tally.differences.append(f"{where} {plan.source.name}: {_filled(found)} instead of {_filled(expected)}")
    if not set(signed.weights.tolist()) <= {1, -1}:
        tally.differences.append(f"{where}: weights {signed.weights.tolist()}")
    # What was read for more columns has rows that are the same in these.
    is_least = plan.source is DeltaSource.CHANGED_FILES and names and not question.reads_again
    if is_least and len(signed.weights) != sum(map(abs, _filled(expected).values())):
        tally.differences.append(f"{where}: {len(signed.weights)} rows for {_filled(expected)}")


def _chosen(row: Row, places: list[int]) -> Row:
    return tuple(row[place] for place in places)


def _counted(rows: list[Row], weights: Any = None) -> Counted:
    counted: Counted = Counter()
    for row, weight in zip(rows, [1] * len(rows) if weights is None else weights.tolist(), strict=True):
        counted[_bits(row)] += weight
    return counted


def _bits(row: Row) -> Row:
    return tuple(struct.pack("d", value) if isinstance(value, float) else value for value in row)


def _filled(counted: Counted) -> dict[tuple[Any, ...], int]:
    return {row: count for row, count in counted.items() if count}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", type=int, nargs="?", default=20_000)
    parser.add_argument("--stream", type=int)
    options = parser.parse_args()
    tally = CommitTally()
    number = 0 if options.stream is None else options.stream
    while tally.commits < options.commits and not tally.differences:
        attack_commits(SEED, number, tally)
        number += 1
        if options.stream is not None:
            break
    print(tally.commits, {source.name: count for source, count in tally.sources.items()}, dict(tally.unavailable.most_common(5)))
    print("\n".join(tally.differences))
    return int(bool(tally.differences))


if __name__ == "__main__":
    sys.exit(main())
