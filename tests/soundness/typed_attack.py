"""Attack on the driver over columns of many types, in Delta tables: templates that are asked with other constants between random changes.

``typed_attack 400`` as a program tries that many warehouses, ``--warehouse 17`` one again; it returns 1 when a difference was found.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from imp_driver.answer import lifting
from imp_driver.reasons import Reason, ServedBy
from imp_driver.state import group_columns
from tests.soundness.lake_path import LakePath, Rows
from tests.soundness.typed_shapes import SCHEMAS, Shape, deletion, rows_of

ROUNDS, TEMPLATES = 5, 6
FEW_GROUPS = 20


@dataclass(slots=True)
class TypedTally:
    """``served_by`` counts queries; ``reasons`` why their rows did not come from states."""

    served_by: Counter[ServedBy] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def attack_types(seed: int, number: int, tally: TypedTally) -> None:
    """Attack one warehouse until there is a difference."""
    chance = random.Random(f"types {seed} {number}")
    # In every other warehouse states of all constants are often too large, and have those within bounds alone.
    most = FEW_GROUPS if number % 2 else lifting.MOST_GROUPS
    with (
        patch.object(lifting, "MOST_GROUPS", most),
        # However many groups a step touches, what is known of the others goes on.
        patch.object(group_columns, "MOST_TOUCHED", 0 if number % 3 else group_columns.MOST_TOUCHED),
        tempfile.TemporaryDirectory() as folder,
        closing(LakePath(Path(folder), "UTC")) as path,
    ):
        path.append("e", rows_of("e", chance, chance.randint(3, 60)))
        path.append("p", rows_of("p", chance, chance.randint(1, 12)))
        shapes = [Shape(chance) for _ in range(TEMPLATES)]
        again = random.Random(f"again {seed} {number}")
        asked: list[str] = []
        for _ in range(ROUNDS):
            for shape in shapes:
                asked.append(shape.text(chance))
                _ask(path, asked[-1], tally)
                # At the same versions or at others, and perhaps after its state has gone.
                if again.random() < 0.4:
                    _ask(path, again.choice(asked), tally)
                if tally.differences:
                    return
            path.settle()
            for _ in range(chance.randint(0, 2)):
                _change(path, chance)


def _ask(path: LakePath, text: str, tally: TypedTally) -> None:
    rows, report = path.ask(text)
    expected = path.plain(text)
    tally.served_by[report.served_by] += 1
    reasons = [report.reason, *([] if report.not_answered is None else [report.not_answered.reason])]
    tally.reasons.update(reasons)
    if Reason.INTERNAL in reasons:
        tally.differences.append(f"{text}: {report}")
    if _sorted(rows) != _sorted(expected):
        tally.differences.append(f"{text}: {rows} by {report.served_by}, not {expected}")


def _sorted(rows: Rows) -> list[str]:
    return sorted(map(repr, rows))


def _change(path: LakePath, chance: random.Random) -> None:
    table = chance.choice(["e", *SCHEMAS])
    if chance.random() < 0.6:
        path.append(table, rows_of(table, chance, chance.randint(1, 5)))
    else:
        path.delete(table, deletion(table, chance))


def main() -> int:
    """Attack as the command line says; return 1 when a difference was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.typed_attack", description=__doc__)
    parser.add_argument("warehouses", type=int, nargs="?", default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warehouse", type=int, help="try this one alone")
    given = parser.parse_args()
    tally = TypedTally()
    for number in range(given.warehouses) if given.warehouse is None else [given.warehouse]:
        attack_types(given.seed, number, tally)
        if tally.differences:
            print(f"warehouse {number}:", *tally.differences, sep="\n")
            return 1
    print({each.name: count for each, count in tally.served_by.items()}, {each.name: count for each, count in tally.reasons.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
