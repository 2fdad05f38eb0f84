"""Triples that templates of updates make."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.sparql.algebra import Node, Quad, Source, Triple, Variable
from imp_driver.sparql.templates import Row, rows_of

SUBJECT, OBJECT, GRAPH = (Variable(name) for name in "sog")


def _quad(subject: Node, predicate: Node, value: Node, table: str = "t", name: str | None = None, graph: Variable | None = None) -> Quad:
    return Quad(Triple(subject, predicate, value), Source(table, name), graph)


def _rows(*quads: Quad, solutions: Sequence[tuple[str | None, ...]]) -> list[Row]:
    return list(rows_of(quads, (SUBJECT, OBJECT, GRAPH), solutions)["t"])


def test_each_triple_once_and_none_that_is_no_triple() -> None:
    quads = (
        _quad(SUBJECT, "<a:p>", OBJECT),
        _quad(OBJECT, "<a:p>", SUBJECT),
        _quad(SUBJECT, OBJECT, "<a:x>"),
        _quad(SUBJECT, "<a:q>", Variable("none")),
    )
    assert _rows(*quads, solutions=[("<a:a>", '"1"', None), ("<a:a>", '"1"', None), (None, "<a:b>", None)]) == [
        ("<a:a>", "<a:p>", '"1"', None)
    ]


def test_a_variable_names_a_graph() -> None:
    found = _rows(
        _quad(SUBJECT, "<a:p>", OBJECT, graph=GRAPH),
        solutions=[("<a:a>", "<a:b>", "<a:g>"), ("<a:a>", "<a:b>", "_:g"), ("<a:a>", "<a:b>", None)],
    )
    assert found == [("<a:a>", "<a:p>", "<a:b>", "<a:g>")]


def test_blank_nodes_of_templates_are_new_and_those_of_solutions_are_not() -> None:
    quads = (_quad(Variable("_:.1"), "<a:p>", "_:x"), _quad(Variable("_:.1"), "<a:q>", SUBJECT, name="<a:g>"))
    found = [*_rows(*quads, solutions=2 * [("_:known", None, None)]), *_rows(*quads, solutions=[("_:known", None, None)])]
    assert [row[2:] for row in found if row[1] == "<a:q>"] == 3 * [("_:known", "<a:g>")]
    new = [(row[0], row[2]) for row in found if row[1] == "<a:p>"]
    assert len({term for pair in new for term in pair}) == 6
    assert all(term[2:].replace("_", "").isalnum() for pair in new for term in pair)


def test_tables_are_told_apart() -> None:
    assert rows_of((_quad(SUBJECT, "<a:p>", OBJECT), _quad(SUBJECT, "<a:p>", OBJECT, "u")), (SUBJECT, OBJECT), [("<a:a>", "<a:b>")]) == {
        "t": {("<a:a>", "<a:p>", "<a:b>", None): None},
        "u": {("<a:a>", "<a:p>", "<a:b>", None): None},
    }
