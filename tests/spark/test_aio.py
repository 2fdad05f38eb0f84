"""The dialect for asyncio on a real warehouse: round trips, objects, cancelling, several connections at once."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

import imp_driver
from imp_driver.reasons import Decision
from imp_sqlalchemy.worker import THREAD_NAME

pytestmark = pytest.mark.usefixtures("engine")

ENDLESS = sa.text("SELECT count(*) FROM range(10000000000000) a")
"""A query of hours."""


class Base(DeclarativeBase):
    """The tables of these tests."""


class Item(Base):
    __tablename__ = f"aio_{uuid.uuid4().hex[:12]}"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    label: Mapped[str]


@asynccontextmanager
async def opened(warehouse: Path, options: str = "sketch=off") -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(f"imp+aio:///{warehouse}?{options}", isolation_level="AUTOCOMMIT")
    try:
        yield engine
    finally:
        await engine.dispose()


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]


def test_rows_come_back_and_sketches_are_used(warehouse: Path) -> None:
    table = sa.Table(f"aio_{uuid.uuid4().hex[:12]}", sa.MetaData(), sa.Column("k", sa.Integer), sa.Column("v", sa.Numeric(9, 2)))
    total = sa.func.sum(table.c.v)
    query = sa.select(table.c.k, total).group_by(table.c.k).having(total > 15).order_by(table.c.k)

    async def main() -> list[Any]:
        async with opened(warehouse, "sketch=lazy") as engine, engine.connect() as connection:
            await connection.run_sync(table.create)
            found = await connection.run_sync(lambda each: sa.inspect(each).get_columns(table.name))
            assert [str(column["type"]) for column in found] == ["INTEGER", "DECIMAL(9, 2)"]
            assert (await connection.execute(table.insert(), [{"k": n % 10, "v": n} for n in range(30)])).rowcount == 30
            decisions = []
            for _ in range(2):
                result: Any = await connection.execute(query)
                decisions.append(result.cursor.sketch_report.decision)
                assert [row.k for row in result] == list(range(10))
            off: Any = await connection.execute(query, execution_options={"imp_sketch": "off"})
            decisions.append(off.cursor.sketch_report.reason.name)
            await connection.run_sync(table.drop)
            return decisions

    assert asyncio.run(main()) == [Decision.CAPTURED, Decision.FRESH, "SKETCH_OFF"]
    for thread in workers():
        thread.join(20)
    assert workers() == []


def test_objects_of_the_orm(warehouse: Path) -> None:
    async def main() -> None:
        async with opened(warehouse) as engine:
            async with engine.begin() as connection:
                await connection.run_sync(Base.metadata.create_all)
            async with AsyncSession(engine, expire_on_commit=False) as session:
                items = [Item(label=f"item {number}") for number in range(4)]
                session.add_all(items)
                await session.commit()
                items[0].label = "other"
                await session.delete(items[1])
                await session.commit()
            async with AsyncSession(engine) as session:
                assert sorted(await session.scalars(sa.select(Item.label))) == ["item 2", "item 3", "other"]
                assert await session.get(Item, items[1].id) is None
            async with engine.begin() as connection:
                await connection.run_sync(Base.metadata.drop_all)

    asyncio.run(main())


def test_a_timeout_cancels_the_query_in_spark(engine: imp_driver.Connection, warehouse: Path) -> None:
    async def main() -> None:
        async with opened(warehouse) as made, made.connect() as connection:
            raw = await connection.get_raw_connection()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.0):
                    await connection.execute(ENDLESS)
            assert not connection.invalidated
            assert (await connection.execute(sa.text("SELECT 1"))).scalar_one() == 1
            assert await connection.get_raw_connection() is raw

    asyncio.run(main())


def test_a_stream_is_left_before_its_end_and_another_is_cancelled(warehouse: Path) -> None:
    slow = sa.text("SELECT id FROM range(100000000000) WHERE id < 5 OR id = 99999999999")

    async def main() -> None:
        async with opened(warehouse) as engine, engine.connect() as connection:
            result = await connection.stream(sa.text("SELECT id FROM range(0, 100000, 1, 1000)"))
            assert [row.id for row in await result.fetchmany(3)] == [0, 1, 2]
            await result.close()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.0):
                    await connection.stream(slow)
            assert await connection.scalar(sa.text("SELECT 1")) == 1

    asyncio.run(main())


def test_two_connections_work_at_once(warehouse: Path) -> None:
    async def main() -> None:
        async with opened(warehouse) as engine, engine.connect() as first, engine.connect() as second:
            endless = asyncio.create_task(first.scalar(ENDLESS))
            # Rows that stand in the query need no task of Spark, whose cores may all be busy with the other one.
            for number in range(3):
                assert await second.scalar(sa.text(f"SELECT * FROM VALUES ({number})")) == number
            assert not endless.done()
            endless.cancel()
            with pytest.raises(asyncio.CancelledError):
                await endless
            answers = [each.scalar(sa.text(f"SELECT sum(id) FROM range({size})")) for each, size in ((first, 10), (second, 100))]
            assert await asyncio.gather(*answers) == [45, 4950]

    asyncio.run(main())
