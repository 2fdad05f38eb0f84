"""Replace table references in the caller's text; every other character stays as it was written.

Rendering the whole tree again could change a column's derived name or the meaning of an expression that parser and Spark read differently.
For the same reason a view is replaced by its own text, in which likewise only references are replaced: there all of them, since its names
would be looked up in the caller's schema.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.statement import DIALECT, Statement, tables_in
from imp_driver.plan.nodes import Scan
from imp_driver.plan.view_reference import ViewReference
from imp_driver.ports import ViewColumn
from imp_driver.reasons import Reason
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import at_version
from imp_driver.values.types import arrow_type, spark_type


@dataclass(frozen=True, slots=True)
class TableReference:
    """Where a table's name stands in the text: [start, end) in characters; ``alias`` is None where the text gives none."""

    start: int
    end: int
    alias: str | None
    name: str


def find_reference(statement: Statement, scan: exp.Table) -> TableReference:
    """Locate the scan in the text.

    Raises:
        Refused: the parser kept no position.
    """
    places = [part.meta for part in scan.parts]
    if not all("start" in place and "end" in place for place in places):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "the table's name has no position in the text")
    start = statement.position_in_text(min(place["start"] for place in places))
    end = statement.position_in_text(max(place["end"] for place in places)) + 1
    if scan.name not in statement.text[start:end]:
        # Whatever the reason, other words would be put in the place of something else.
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"the place of the table {scan.name} in the text is not certain")
    return TableReference(start, end, scan.alias or None, scan.name)


@dataclass(frozen=True, slots=True)
class Pin:
    """A reference read at one version, cut by a condition (None: uncut), or what is read in its place: ``relation``, in brackets.

    ``reference`` is in the text of the last of ``views``, which stand for the text around it; the first is in the caller's text.
    """

    reference: TableReference
    version: int
    condition: str | None = None
    views: tuple[ViewReference, ...] = ()
    relation: str = ""


def pin_of(statement: Statement, scan: Scan, version: int, relation: str = "") -> Pin:
    """Return the pin of a scan, uncut.

    Raises:
        Refused: the parser kept no position.
    """
    around = scan.views[-1].statement if scan.views else statement
    return Pin(find_reference(around, scan.place), version, views=scan.views, relation=relation)


def pinned(statement: Statement, pins: Iterable[Pin]) -> str:
    """Return the text with its references pinned, and the views around them unfolded.

    Raises:
        Refused: the parser kept no position of a view.
    """
    return _replaced(statement, tuple(pins), 0, {})


def _replaced(statement: Statement, pins: Sequence[Pin], depth: int, names: Mapping[TableReference, str]) -> str:
    """Return a text in which ``depth`` views are around. ``names`` are full names of references that would resolve differently here."""
    pieces = dict(names)
    unfolded: dict[int, list[Pin]] = {}
    for pin in pins:
        if len(pin.views) > depth:
            unfolded.setdefault(id(pin.views[depth]), []).append(pin)
        else:
            name = names.get(pin.reference, statement.text[pin.reference.start : pin.reference.end])
            pieces[pin.reference] = subquery(pin.reference, "*", (pin.relation or at_version(name, pin.version)) + _where(pin.condition))
    for inside in unfolded.values():
        view = inside[0].views[depth]
        reference = find_reference(statement, view.place)
        full = {find_reference(view.statement, place): qualified(name) for place, name in view.names}
        text = _replaced(view.statement, inside, depth + 1, full)
        columns = ", ".join(map(_column, view.view.columns))
        # On a line of its own the bracket is not part of a comment that may end the view's text.
        pieces[reference] = subquery(reference, columns, f"({text}\n)")
    if depth:
        # What stays would be looked up in the caller's schema.
        _check(statement, pieces)
    return spliced(statement.text, pieces)


def check_every(statement: Statement, pins: Iterable[Pin]) -> None:
    """Raise Refused where a table of the caller's text has no pin (a value that stands there twice): its version would be another."""
    assert statement.tree is not None
    references = {find_reference(statement, pin.views[0].place) if pin.views else pin.reference for pin in pins}
    named = {table.name.lower() for table in tables_in(statement.tree)}
    unread = [each for each in statement.tree.find_all(exp.CTE) if each.alias.lower() not in named]
    _check(statement, references, {id(table) for each in unread for table in tables_in(each)})


def _check(statement: Statement, replaced: Iterable[TableReference], unread: Container[int] = ()) -> None:
    assert statement.tree is not None
    places = {reference.start for reference in replaced}
    common = {each.alias.lower() for each in statement.tree.find_all(exp.CTE)}
    for table in tables_in(statement.tree):
        is_common = len(table.parts) == 1 and table.name.lower() in common
        if not is_common and id(table) not in unread and find_reference(statement, table).start not in places:
            raise Refused(Reason.READ_TWICE, table.sql(dialect=DIALECT))


def _where(condition: str | None) -> str:
    return "" if condition is None else f" WHERE {condition}"


def subquery(reference: TableReference, columns: str, source: str) -> str:
    """Return what stands in the place of a reference: columns of a source, under the name that the text calls it by."""
    alias = "" if reference.alias else f" AS {quoted_name(reference.name)}"
    return f"(SELECT {columns} FROM {source}){alias}"


def _column(column: ViewColumn) -> str:
    type_name = spark_type(column.type_name) if arrow_type(column.type_name) is not None else column.type_name
    return f"CAST({quoted_name(column.source)} AS {type_name}) AS {quoted_name(column.name)}"


def spliced(text: str, pieces: Mapping[TableReference, str]) -> str:
    """Return a text with other words in the places of some references."""
    for reference in sorted(pieces, key=lambda reference: reference.start, reverse=True):
        text = text[: reference.start] + pieces[reference] + text[reference.end :]
    return text
