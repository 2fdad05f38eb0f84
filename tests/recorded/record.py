"""Record the statements of SQLAlchemy and pandas anew: ``python -m tests.recorded.record``; expectations that are there stay."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas
import sqlalchemy as sa
from sqlalchemy.orm import Session

from tests.recorded.application import questions
from tests.recorded.statements import Call, Statement, read, write
from tests.recorded.tables import definitions

_COMMENT = "Recorded by `python -m tests.recorded.record` from SQLAlchemy {version}; only the lines `expected` are written by hand."


@contextmanager
def recording(engine: sa.Engine) -> Iterator[list[Call]]:
    """Collect what is executed on an engine."""
    calls: list[Call] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
        calls.append(Call(_squeezed(statement), tuple(parameters) or None))

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield calls
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


def _squeezed(text: str) -> str:
    """Return a text without the blanks that SQLAlchemy leaves at the ends of lines, which editors would take away."""
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def of_sqlalchemy(engine: sa.Engine) -> list[Statement]:
    """Ask every question of the application; a question with several statements gives ``name``, ``name_2`` .."""
    found: dict[str, list[Call]] = {}
    for question in questions():
        for arguments in question.arguments:
            with recording(engine) as calls, Session(engine) as session:
                question.ask(session, *arguments)
            for place, call in enumerate(calls, 1):
                found.setdefault(question.name if place == 1 else f"{question.name}_{place}", []).append(call)
    return _expected("sqlalchemy", found)


def of_pandas(engine: sa.Engine) -> list[Statement]:
    """Read frames as notebooks do: by text with and without values, by a query of Core and by the name of a table."""
    totals = "SELECT order_id, SUM(price * quantity) AS total FROM items GROUP BY order_id HAVING SUM(price * quantity) > "
    newest = "SELECT *\nFROM visits\nWHERE ts >= '2024-12-25' AND page = 'pay'\nORDER BY ts"
    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    seconds = sa.func.sum(visits.c.seconds)
    busy = sa.select(visits.c.visitor, seconds.label("seconds")).group_by(visits.c.visitor).having(seconds > sa.bindparam("least"))
    found: dict[str, list[Call]] = {}
    for name, query, values in (
        ("text_with_values", sa.text(f"{totals}:low"), [{"low": 1150.0}, {"low": 1180.0}]),
        ("text", f"{totals}1150", [None]),
        ("text_of_rows", newest, [None]),
        ("core", busy, [{"least": 6000}, {"least": 6500}]),
    ):
        for each in values:
            with recording(engine) as calls:
                pandas.read_sql(query, engine, params=each)
            found.setdefault(name, []).append(calls[-1])
    with recording(engine) as calls:
        pandas.read_sql_table("customers", engine, columns=["id", "region"])
    found["table"] = [calls[-1]]
    return _expected("pandas", found)


def _expected(tool: str, found: dict[str, list[Call]]) -> list[Statement]:
    """Return each statement once, with the expectation that it had."""
    before = {each.name: each.expected for each in read(tool)}
    different: dict[tuple[Call, ...], str] = {}
    for name, calls in found.items():
        different.setdefault(tuple(calls), name)
    return [Statement(tool, name, before.get(name, ("UNKNOWN",)), calls) for calls, name in different.items()]


def main() -> None:
    """Make the tables in a warehouse of its own, ask, and write the files."""
    with tempfile.TemporaryDirectory() as warehouse:
        engine = sa.create_engine(f"imp:///{warehouse}?sketch=off", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection, warnings.catch_warnings(action="ignore"):
            for definition in definitions():
                connection.exec_driver_sql(definition)
        version = sa.__version__
        write("sqlalchemy", of_sqlalchemy(engine), _COMMENT.format(version=version))
        write("pandas", of_pandas(engine), _COMMENT.format(version=f"{version} and pandas {pandas.__version__}"))
        engine.dispose()


if __name__ == "__main__":
    main()
