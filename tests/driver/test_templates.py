"""TPC-H and the Star Schema Benchmark with other constants in each round, over tables that change in between, without a JVM.

What was learned of a template must serve its next instance: a miss fails with the reason that the driver gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks import ssb_texts, tpch_texts
from benchmarks.comparing import up_to_ties
from benchmarks.templates import Template
from imp_driver.reasons import Decision, ServedBy
from tests.seeds import WIDE
from tests.soundness.lake_path import LakePath, Rows
from tests.soundness.tpch_tables import ORDERS, ssb_tables, tpch_tables

LEARNING = 5
"""Rounds: a capture of the constants, then lifts, of columns whose constants agreed at first one round later each."""
ROUNDS = 40 if WIDE else LEARNING + 2
_MORE = 1_000_000
_CAPTURED_ANEW = {"Q13"}
"""Its constants stand in the condition of an outer join, and are a state's own."""
_CHANGES = {
    # Discounts are whole percents, and what is divided gives the type that the engine has too.
    "Q6": (("{discount}", "{percent}"), ("0.01", "1")),
    "Q14": (("100.00", "100"),),
    "Q17": (("7.0", "7"),),
    "Q18": (("{quantity}", "{pieces}"),),
}


def _whole(template: Template) -> Template:
    text = template.text
    for old, new in _CHANGES.get(template.name, ()):
        assert old in text
        text = text.replace(old, new)

    def draw(chance: Random, scale: float) -> Mapping[str, object]:
        return {**template.draw(chance, scale), "percent": chance.randint(2, 9), "pieces": chance.randint(60, 120)}

    return replace(template, text=text, draw=draw)


class World(LakePath):
    def __init__(self, folder: Path, tables: Mapping[str, pa.Table]) -> None:
        super().__init__(folder)
        for name, rows in tables.items():
            self.append(name, rows)

    def check(self, template: Template, text: str, rows: Rows) -> None:
        """Compare the rows of a query with those of the plain one, up to ties."""
        expected = self.plain(text)
        assert up_to_ties(template.order, template.limit)(rows, expected), (text, rows, expected)

    def change(self, number: int, key: str, names: Sequence[str]) -> None:
        """Add copies of some orders under keys of their own, and delete others, in all tables that have their rows."""
        some = [order for order in range(1, ORDERS) if order % 97 == number]
        for name in names:
            column = f"{name[0] if name != 'lineorder' else 'lo'}_{key}"
            rows = self.table(f"SELECT * FROM {name} WHERE {column} IN ({', '.join(map(str, some))})")
            place = rows.schema.get_field_index(column)
            moved = pc.add(rows.column(column), _MORE * (number + 1))
            self.append(name, rows.set_column(place, column, moved))
            self.delete(name, f"{column} IN ({some[0]}, {some[1]})")


@pytest.mark.parametrize("benchmark", ["tpch", "ssb"])
def test_what_was_learned_serves_the_next_instance(benchmark: str, tmp_path: Path) -> None:
    tpch = tpch_tables()
    tables, templates, changed = (
        (tpch, tuple(map(_whole, tpch_texts.TEMPLATES)), ("orders", "lineitem"))
        if benchmark == "tpch"
        else (ssb_tables(tpch), ssb_texts.TEMPLATES, ("lineorder",))
    )
    chances = {template.name: Random(template.name) for template in templates}
    misses = []
    with closing(World(tmp_path, tables)) as world:
        for number in range(ROUNDS):
            for template in templates:
                text = template.instance(chances[template.name], 0.01)
                rows, report = world.ask(text)
                if WIDE or number in (0, LEARNING, LEARNING + 1):
                    world.check(template, text, rows)
                decisions = [each.decision for each in (report, *report.also)]
                is_captured = Decision.CAPTURED in decisions and template.name not in _CAPTURED_ANEW
                if number >= LEARNING and (report.served_by is not ServedBy.STATE or is_captured):
                    misses.append((number, template.name, decisions, report.not_answered, text))
            world.settle()
            world.change(number, "orderkey", changed)
    assert misses == []
