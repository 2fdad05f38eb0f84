"""SPARQL through SQLAlchemy: parameters reach the variables, and nothing is dropped in silence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session

from imp_driver.sparql import Iri
from imp_sqlalchemy.aio_dialect import ImpAsyncModule
from tests.unit.dialect.fakes import FakeDriver

QUERY = "SPARQL PREFIX : <a:> SELECT ?s FROM <g> WHERE { ?s :p ?v ; a:q 1.5 }"


def asked(driver: FakeDriver) -> list[tuple[str, Any]]:
    [pipeline] = driver.pipelines
    return [pair for pair in zip(pipeline.asked, pipeline.given, strict=True) if not pair[0].startswith("VALUES")]


@pytest.mark.parametrize("written", [QUERY, QUERY.replace(":p", r"\:p"), QUERY.replace("SELECT", "# a comment\nSELECT")])
def test_values_of_variables_reach_the_driver(engine: sa.Engine, driver: FakeDriver, written: str) -> None:
    iri = Iri("a:x")
    with engine.connect() as connection:
        connection.execute(sa.text(written), {"v": 5, "s": iri})
        connection.execute(sa.text(written), {"v": 7})
        connection.execute(sa.text(written))
    sent = written.replace("\\", "")
    assert asked(driver) == [(sent, {"v": 5, "s": iri}), (sent, {"v": 7}), (sent, None)]
    assert type(asked(driver)[0][1]["s"]) is Iri


def test_sessions_driver_statements_and_typed_columns(engine: sa.Engine, driver: FakeDriver) -> None:
    with Session(engine) as session:
        session.execute(sa.text(QUERY), {"v": 1})
        session.scalars(sa.text(QUERY).columns(sa.column("n", sa.Integer)), {"v": 2})
        session.connection().exec_driver_sql(QUERY, {"v": 3})
    assert [given for _, given in asked(driver)] == [{"v": 1}, {"v": 2}, {"v": 3}]


@pytest.mark.parametrize(
    "explained",
    [
        "create or replace incremental view v comment 'as sparql it''s' as sparql SELECT ?v { ?s :p ?v }",
        "EXPLAIN SPARQL ASK { ?s ?p ?v }",
        "/* a */ -- b\n sparql ask { ?s ?p ?v }",
    ],
)
def test_what_else_begins_a_statement_of_sparql(engine: sa.Engine, driver: FakeDriver, explained: str) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text(explained), {"v": 1})
    assert asked(driver) == [(explained, {"v": 1})]


def test_many_updates(engine: sa.Engine, driver: FakeDriver) -> None:
    text = "SPARQL INSERT DATA { GRAPH <g> { <a:s> <a:p> ?v } }"
    rows = [{"v": 1}, {"v": 2}]
    with engine.connect() as connection:
        connection.execute(sa.text(text), rows)
        connection.exec_driver_sql(text, rows)
    assert asked(driver) == [(text, rows), (text, rows)]


def test_a_value_that_is_bound_to_a_name_is_refused(engine: sa.Engine, driver: FakeDriver) -> None:
    statement = sa.text(QUERY)
    with engine.connect() as connection:
        connection.execute(statement)
        for bound in (statement.bindparams(p=5), statement.bindparams(sa.bindparam("p", Iri("a:x"), sa.types.NullType()))):
            with pytest.raises(sa.exc.ArgumentError, match=r":p is a prefixed name.*\?p"):
                connection.execute(bound)
        with pytest.raises(sa.exc.ArgumentError, match="doesn't define a bound parameter named 'v'"):
            connection.execute(statement.bindparams(v=5))
    assert len(asked(driver)) == 1


def test_markers_of_sql_are_markers_still(engine: sa.Engine, driver: FakeDriver) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT 'SPARQL' WHERE :v > 1"), {"v": 2})
        connection.execute(sa.text("SELECT * FROM sparql WHERE a = :v"), {"v": 3})
    assert asked(driver) == [("SELECT 'SPARQL' WHERE ? > 1", [2]), ("SELECT * FROM sparql WHERE a = ?", [3])]


def test_with_asyncio() -> None:
    driver = FakeDriver()
    module: Any = driver

    async def main() -> None:
        engine = create_async_engine("imp+aio:///house", module=ImpAsyncModule(module), isolation_level="AUTOCOMMIT")
        async with engine.connect() as connection:
            await connection.execute(sa.text(QUERY), {"v": 5})
            await connection.execute(sa.text(QUERY), [{"v": 5}, {"v": 6}])
        await engine.dispose()

    asyncio.run(main())
    assert [given for _, given in asked(driver)] == [{"v": 5}, [{"v": 5}, {"v": 6}]]
