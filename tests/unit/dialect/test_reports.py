"""Reports where SQLAlchemy hides the cursor: listeners, contexts of results, the newest of a connection and of a session."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, scoped_session, sessionmaker

from imp_sqlalchemy import last_report, on_report
from imp_sqlalchemy.aio_dialect import ImpAsyncModule
from tests.unit.dbapi.fakes import REPORT
from tests.unit.dialect.fakes import FakeDriver

ASK = sa.text("SELECT n")


class Base(DeclarativeBase):
    """The table of these tests."""


class Number(Base):
    __tablename__ = "numbers"
    n: Mapped[int] = mapped_column(primary_key=True)


def test_a_result_has_the_report_when_its_rows_are_fetched(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        result: Any = connection.execute(ASK)
        assert len(result.all()) == 5
        assert result.context.sketch_report is REPORT
        inserted: Any = connection.execute(sa.insert(Number).values(n=1))
        assert inserted.context.sketch_report is REPORT
        raw: Any = connection.exec_driver_sql("SELECT 1")
        assert raw.context.sketch_report is REPORT


def test_a_listener_hears_of_each_statement_until_it_is_stopped(engine: sa.Engine) -> None:
    heard: list[Any] = []
    stop = on_report(engine, lambda report, context: heard.append((report, context.statement, context.execution_options.get("tile"))))
    with engine.connect() as connection:
        # What SQLAlchemy asks when it connects is heard too, but it is of no interest here.
        heard.clear()
        connection.execute(ASK, execution_options={"tile": "sales"}).all()
        with Session(connection) as session:
            session.execute(ASK)
        stop()
        connection.execute(ASK)
    assert heard == [(REPORT, "SELECT n", "sales"), (REPORT, "SELECT n", None)]


def test_a_listener_of_one_connection(engine: sa.Engine) -> None:
    heard: list[str] = []
    with engine.connect() as first, engine.connect() as second:
        on_report(first, lambda report, context: heard.append(context.statement))
        second.execute(sa.text("SELECT 2"))
        first.execute(sa.text("SELECT 1"))
    assert heard == ["SELECT 1"]


def test_the_newest_report_of_a_connection(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert last_report(connection) is None
        connection.execute(ASK)
        assert last_report(connection) is REPORT
    with engine.connect() as another:
        # It has the driver's connection of the one before, but not what that was told.
        assert last_report(another) is None


def test_a_session_keeps_its_newest_report_over_a_commit(engine: sa.Engine) -> None:
    with Session(engine) as session, Session(engine) as other:
        assert last_report(session) is None
        assert session.scalars(sa.select(Number.n)).all() == [0, 1, 2, 3, 4]
        assert last_report(session) is REPORT
        session.commit()
        assert last_report(session) is REPORT
        assert last_report(other) is None
    scoped = scoped_session(sessionmaker(engine))
    scoped.execute(ASK)
    assert last_report(scoped) is REPORT
    scoped.remove()


def test_engines_connections_and_sessions_of_asyncio() -> None:
    driver: Any = FakeDriver()

    async def main() -> list[Any]:
        engine = create_async_engine("imp+aio:///house", module=ImpAsyncModule(driver), isolation_level="AUTOCOMMIT")
        heard: list[Any] = []
        async with engine.connect() as connection:
            assert last_report(connection) is None
            on_report(engine, lambda report, context: heard.append(context.statement))
            result: Any = await connection.execute(ASK)
            assert (result.context.sketch_report, last_report(connection)) == (REPORT, REPORT)
            on_report(connection, lambda report, context: heard.append("of the connection"))
            stream = await connection.stream(ASK)
            await stream.close()
            assert last_report(connection) is REPORT
        async with AsyncSession(engine) as session:
            assert last_report(session) is None
            await session.scalars(ASK)
            assert last_report(session) is REPORT
        await engine.dispose()
        return heard

    assert asyncio.run(main()) == ["SELECT n", "of the connection", "SELECT n", "SELECT n"]


@pytest.mark.parametrize("target", [None, "engine", sa.create_engine("sqlite://"), sa.Engine])
def test_what_reports_nothing_is_refused(target: Any) -> None:
    with pytest.raises(sa.exc.ArgumentError, match=r"imp://, not from"):
        on_report(target, lambda report, context: None)
    with pytest.raises(sa.exc.ArgumentError, match="connections and sessions"):
        last_report(target)


def test_other_databases_beside_are_left_alone() -> None:
    other = sa.create_engine("sqlite://")
    with Session(other) as session:
        assert session.execute(sa.text("SELECT 1")).scalar_one() == 1
        assert last_report(session) is None
    other.dispose()
