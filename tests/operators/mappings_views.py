"""A query in short text over one table, changed by triples in short text, and compared with an evaluation from scratch after each step."""

from __future__ import annotations

from collections import Counter

from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.dataflow.mappings.evaluate import evaluate
from imp_driver.dataflow.mappings.graphs import QuadRow
from imp_driver.dataflow.mappings.operator import Row
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import read_query
from imp_driver.sparql.terms import shown
from tests.operators.mappings_graphs import EXAMPLE, TABLE, ScannedTriples, name, number

DEFAULT = (Source(TABLE),)


def term(text: str) -> str:
    """Return a term of short text: digits are an integer, what begins with a quotation mark stands for itself, all else is an IRI."""
    return text if text[0] in '"_' else number(text) if text.isdecimal() else name(text)


def quads_of(*lines: str) -> list[QuadRow]:
    """Return quads of "subject predicate object" or "subject predicate object graph"."""
    found = list[QuadRow]()
    for line in lines:
        subject, predicate, object_, *graph = map(term, line.split(" "))
        found.append((subject, predicate, object_, graph[0] if graph else None))
    return found


class View:
    """A circuit and the table that it follows.

    Attributes:
        table: quads with counts.
        query: what was read.
    """

    def __init__(self, text: str, sources: tuple[Source, ...] = DEFAULT) -> None:
        self.query = read_query(f"PREFIX : <{EXAMPLE}> {text}", sources)
        self.circuit = Circuit(self.query.pattern)
        self.table: Counter[QuadRow] = Counter()
        self._total: Counter[Row] = Counter()

    def insert(self, *lines: str) -> dict[str, int]:
        """Insert rows, and return the changed solutions in short text."""
        return self.change(lines, ())

    def delete(self, *lines: str) -> dict[str, int]:
        return self.change((), lines)

    def change(self, inserted: tuple[str, ...], deleted: tuple[str, ...]) -> dict[str, int]:
        changes: Counter[QuadRow] = Counter(quads_of(*inserted))
        changes.subtract(quads_of(*deleted))
        self.table.update(changes)
        delta = self.circuit.step({TABLE: changes})
        self._total.update(delta)
        assert all(delta.values())
        assert {row: count for row, count in self._total.items() if count} == self.circuit.rows
        return _short(dict(delta))

    @property
    def rows(self) -> dict[str, int]:
        """All solutions in short text, which are those of an evaluation from scratch."""
        triples = ScannedTriples({TABLE: self.table})
        listed = evaluate(self.query.pattern, triples).over(self.circuit.variables).rows
        assert Counter(self.circuit.ordered()) == Counter(dict(listed))
        return _short(dict(self.circuit.rows))

    @property
    def ordered(self) -> list[str]:
        return [_text(row) for row in self.circuit.ordered()]


def _short(rows: dict[Row, int]) -> dict[str, int]:
    return {_text(row): count for row, count in rows.items()}


def _text(row: Row) -> str:
    return " ".join("-" if each is None else shown(each).removeprefix(EXAMPLE) for each in row)
