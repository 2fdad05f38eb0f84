"""A connection that is awaited: how it ends."""

from __future__ import annotations

import asyncio

import pytest

import imp_driver
from imp_sqlalchemy.aio_connection import AwaitedConnection
from tests.unit.dialect.fakes import FakePipeline, ended
from tests.unit.dialect.test_worker import reached


def test_a_connection_that_is_closed_cancels_what_another_task_runs() -> None:
    async def main() -> None:
        pipeline = FakePipeline()
        connection = await AwaitedConnection.open(lambda: imp_driver.Connection(pipeline))
        asked = asyncio.create_task(connection.cursor().execute("SELECT wait"))
        await reached(pipeline.began)
        await connection.close()
        with pytest.raises(imp_driver.OperationalError, match="cancelled"):
            await asked
        assert pipeline.ended == pipeline.interrupted
        assert ended(pipeline.threads)

    asyncio.run(main())


def test_after_its_end_a_connection_says_that_it_is_closed() -> None:
    async def main() -> None:
        pipeline = FakePipeline()
        connection = await AwaitedConnection.open(lambda: imp_driver.Connection(pipeline))
        cursor = connection.cursor()
        await cursor.execute("SELECT 1")
        assert [row async for row in cursor] == [(0,), (1,), (2,), (3,), (4,)]
        await connection.close()
        await connection.close()
        await cursor.close()
        connection.abandon()
        with pytest.raises(imp_driver.InterfaceError, match="closed"):
            await cursor.execute("SELECT 1")
        with pytest.raises(imp_driver.InterfaceError, match="closed"):
            connection.cursor()
        assert ended(pipeline.threads)

    asyncio.run(main())
