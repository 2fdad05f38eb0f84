"""Primary keys: a row without one is refused before a statement is sent."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import imp_driver
from imp_sqlalchemy import ImpDialect
from imp_sqlalchemy.aio_dialect import ImpAsyncModule
from tests.unit.dialect.fakes import FakeDriver


class Base(DeclarativeBase):
    """The tables of these tests."""


class Shop(Base):
    __tablename__ = "shops"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str | None]


class Sale(Base):
    __tablename__ = "sales"
    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(), primary_key=True)
    price: Mapped[int]


SHOPS: Any = Shop.__table__
SALES: Any = Sale.__table__


def sent(driver: FakeDriver) -> list[str]:
    return [text for text in driver.pipelines[0].asked if not text.startswith("VALUES")]


def test_an_object_without_a_key_is_refused_before_a_statement_is_sent(engine: sa.Engine, driver: FakeDriver) -> None:
    with Session(engine) as session:
        session.add(Shop(name="a"))
        with pytest.raises(sa.exc.CompileError, match=r"no value for shops.id, of the primary key.*Identity.*uuid4.*autoincrement=False"):
            session.commit()
    assert sent(driver) == []


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        (sa.insert(SHOPS), [{"name": "a"}]),
        (sa.insert(SHOPS), [{"name": "a"}, {"name": "b"}]),
        (sa.insert(SHOPS), None),
        (sa.insert(SHOPS).values(name="a"), None),
        (sa.insert(SHOPS).values([{"name": "a"}, {"name": "b"}]), None),
        (sa.insert(SHOPS).from_select(["name"], sa.select(sa.literal("x"))), None),
        (sa.insert(Shop).values(name="a"), None),
        (sa.insert(SHOPS).values({SHOPS.c.name: "a"}), None),
    ],
)
def test_inserts_without_a_key(engine: sa.Engine, driver: FakeDriver, statement: Any, rows: Any) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.CompileError, match=r"shops\.id"):
        connection.execute(statement, rows)
    assert sent(driver) == []


@pytest.mark.parametrize("rows", [{"id": None, "name": "a"}, [{"id": 1, "name": "a"}, {"id": None, "name": "b"}]])
def test_a_key_that_is_none(engine: sa.Engine, driver: FakeDriver, rows: Any) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.IntegrityError, match=r"shops\.id.* is None") as raised:
        connection.execute(sa.insert(SHOPS), rows)
    assert isinstance(raised.value.orig, imp_driver.IntegrityError)
    assert ("row 2" in str(raised.value)) == isinstance(rows, list)
    assert sent(driver) == []


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        (sa.insert(SHOPS), {"id": 1}),
        (sa.insert(SHOPS), [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]),
        (sa.insert(SHOPS).values({SHOPS.c.id: 1}), None),
        (sa.insert(SHOPS).values([{"id": 1}, {"id": 2}]), None),
        (sa.insert(SHOPS).values(id=sa.select(sa.literal(3)).scalar_subquery()), None),
        (sa.insert(SHOPS).from_select(["id"], sa.select(sa.literal(3))), None),
        (sa.insert(SALES), [{"price": 1}, {"price": 2}]),
        (sa.insert(sa.table("anything", sa.column("a"))), {"a": 1}),
    ],
)
def test_inserts_with_a_key_or_where_delta_makes_it(engine: sa.Engine, driver: FakeDriver, statement: Any, rows: Any) -> None:
    with engine.connect() as connection:
        connection.execute(statement, rows)
    assert all(text.startswith("INSERT INTO") for text in sent(driver))


def test_a_statement_that_is_only_written() -> None:
    assert str(sa.insert(SHOPS).compile(dialect=ImpDialect())) == "INSERT INTO shops (id, name) VALUES (?, ?)"


@pytest.mark.parametrize(
    "column",
    [
        sa.Column("id", sa.Uuid, primary_key=True, default=uuid.uuid4),
        sa.Column("id", sa.Integer, primary_key=True, server_default="7"),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    ],
)
def test_columns_that_have_a_value_anyway(engine: sa.Engine, column: sa.Column[Any]) -> None:
    table = sa.Table("t", sa.MetaData(), column, sa.Column("a", sa.Integer))
    with engine.connect() as connection:
        assert connection.execute(sa.insert(table), {"a": 1}).rowcount == 1


def test_an_object_learns_the_value_that_delta_made(engine: sa.Engine, driver: FakeDriver) -> None:
    with Session(engine, expire_on_commit=False) as session:
        with engine.connect():
            pass
        driver.pipelines[0].generated = 41
        sale = Sale(price=5)
        session.add(sale)
        session.commit()
        assert sale.id == 41


def test_with_asyncio() -> None:
    driver: Any = FakeDriver()

    async def main() -> int:
        engine = create_async_engine("imp+aio:///house", module=ImpAsyncModule(driver), isolation_level="AUTOCOMMIT")
        async with AsyncSession(engine, expire_on_commit=False) as session:
            await session.connection()
            driver.pipelines[0].generated = 41
            sale = Sale(price=5)
            session.add(sale)
            await session.commit()
        await engine.dispose()
        return sale.id

    assert asyncio.run(main()) == 41
