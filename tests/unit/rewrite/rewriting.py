"""Rewrites as pairs of SQL: what is asked, and what Spark gets. Files of ``pairs`` have a pair a paragraph, to be read without Python.

``# what the pair shows``, the question, a line ``=>``, and the text that is run; or ``=> REASON`` where the question is run unchanged.
``python -m tests.unit.rewrite.rewriting`` writes what the driver does now behind each question: to be read before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession, Warehouse

PAIRS = Path(__file__).with_name("pairs")


@dataclass(frozen=True, slots=True)
class Pair:
    """``expected`` is the text that is run, or the name of the reason why it is the question."""

    shows: str
    question: str
    expected: str

    @property
    def text(self) -> str:
        arrow = f"=> {self.expected}" if self.expected in Reason.__members__ else f"=>\n{self.expected}"
        return f"# {self.shows}\n{self.question}\n{arrow}\n"


def pairs_of(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file."""
    for paragraph in path.read_text(encoding="utf-8").strip().split("\n\n"):
        shows, _, rest = paragraph.partition("\n")
        question, _, expected = rest.partition("\n=>")
        yield Pair(shows.removeprefix("# "), question, expected.strip())


def a_warehouse() -> Warehouse:
    """Return tables in files of two rows: r(id, g, x, a), clustered by g, of which each has 0, g, 2g .. 5g in a; and s(id, k, y, b)."""
    warehouse = Warehouse()
    warehouse.commit("r", [(number, number % 10, number % 3, number // 10 * (number % 10)) for number in range(60)])
    warehouse.commit("s", [(number, number % 10, number % 4, number % 5) for number in range(20)])
    return warehouse


def rewritten(question: str, warehouse: Warehouse) -> str:
    """Return what is run for a question whose state is there, or why it is run unchanged; the answer is compared with the plain one."""
    middleware = Middleware(
        DuckSession(warehouse), warehouse, Sketches(Relations(warehouse, 1 << 30)), Options(answers=False, sketch=SketchMode.SHADOW)
    )
    for _ in range(2):
        outcome = middleware.run(Execution(question))
        assert outcome.stream is not None
        outcome.stream.close()
    report = outcome.report
    return report.executed_sql if report.reason is Reason.FILTERED else report.reason.name


def main() -> None:
    warehouse = a_warehouse()
    for path in sorted(PAIRS.glob("*.sql")):
        pairs = [Pair(each.shows, each.question, rewritten(each.question, warehouse)) for each in pairs_of(path)]
        path.write_text("\n".join(pair.text for pair in pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
