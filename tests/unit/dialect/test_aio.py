"""The dialect for asyncio, over a driver without an engine: threads, cancelling, errors, the pool, streams."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

import imp_driver
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_sqlalchemy import ImpAsyncDialect
from imp_sqlalchemy.aio_connection import AwaitedConnection
from imp_sqlalchemy.aio_dialect import ImpAsyncModule
from imp_sqlalchemy.worker import THREAD_NAME
from tests.unit.dbapi.fakes import REPORT, numbers
from tests.unit.dialect.fakes import FakeDriver, ended
from tests.unit.dialect.test_worker import reached

WAIT, ASK = sa.text("SELECT wait"), sa.text("SELECT 1")


@asynccontextmanager
async def opened(driver: Any, **options: Any) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine("imp+aio:///house", module=ImpAsyncModule(driver), **options)
    try:
        yield engine
    finally:
        await engine.dispose()


def test_the_loop_runs_on_while_a_statement_waits() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            [pipeline] = driver.pipelines
            asked = asyncio.create_task(connection.execute(WAIT))
            await reached(pipeline.began)
            assert not asked.done()
            pipeline.released.set()
            assert (await asked).fetchall() == [(0,), (1,), (2,), (3,), (4,)]

    asyncio.run(main())


def test_each_connection_works_in_one_thread_that_ends_with_it() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as first, engine.connect() as second:
            for connection in (first, second):
                await connection.execute(ASK)
                await connection.execute(sa.text("INSERT INTO t VALUES (:n)"), [{"n": 1}, {"n": 2}])
                await connection.commit()

    asyncio.run(main())
    [one], [other] = (pipeline.threads for pipeline in driver.pipelines)
    assert all(pipeline.closed for pipeline in driver.pipelines)
    assert len({one, other, threading.current_thread()}) == 3
    assert one.name.startswith(THREAD_NAME)
    assert ended({one, other})


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_cancelled_wait_cancels_the_statement_and_keeps_the_connection(is_stream: bool) -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            [pipeline] = driver.pipelines

            async def ask() -> None:
                await (connection.stream(WAIT) if is_stream else connection.execute(WAIT))

            asked = asyncio.create_task(ask())
            await reached(pipeline.began)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert pipeline.ended == pipeline.interrupted
            assert len(pipeline.ended) == 1
            assert not connection.invalidated
            assert (await connection.execute(ASK)).scalar() == 0
        assert len(driver.pipelines) == 1

    asyncio.run(main())


def test_a_timeout_is_a_timeout() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await connection.execute(WAIT)
            assert driver.pipelines[0].ended == driver.pipelines[0].interrupted
            assert (await connection.execute(ASK)).scalar() == 0

    asyncio.run(main())


def test_a_cancel_that_fails_is_logged_and_the_end_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    driver = FakeDriver()

    def fail(execution: Execution) -> None:
        driver.pipelines[0].released.set()
        raise imp_driver.OperationalError("gone")

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            driver.pipelines[0].interrupt = fail  # type: ignore[method-assign]
            asked = asyncio.create_task(connection.execute(WAIT))
            await reached(driver.pipelines[0].began)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert len(driver.pipelines[0].ended) == 1

    asyncio.run(main())
    assert "could not be cancelled" in caplog.text


def test_a_connection_whose_opening_is_cancelled_is_closed() -> None:
    driver = FakeDriver()
    driver.gate.clear()

    async def main() -> set[threading.Thread]:
        async with opened(driver) as engine:
            opening = asyncio.create_task(engine.connect().start())
            await reached(driver.connecting)
            threads = {thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)}
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            assert driver.pipelines == []
            driver.gate.set()
            return threads

    assert ended(asyncio.run(main()))
    assert [pipeline.closed for pipeline in driver.pipelines] == [True]


def test_a_connection_whose_first_questions_are_cancelled_is_closed() -> None:
    driver = FakeDriver(slow="VALUES (version())")

    async def main() -> None:
        async with opened(driver) as engine:
            opening = asyncio.create_task(engine.connect().start())
            await reached(driver.connecting)
            while not driver.pipelines:
                await asyncio.sleep(0)
            await reached(driver.pipelines[0].began)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            assert driver.pipelines[0].ended == driver.pipelines[0].interrupted
            driver.slow = "SELECT wait"
            async with engine.connect() as connection:
                assert (await connection.execute(ASK)).scalar() == 0

    asyncio.run(main())
    assert ended(driver.pipelines[0].threads)
    assert [pipeline.closed for pipeline in driver.pipelines] == [True, True]


def test_errors_are_those_of_the_driver() -> None:
    driver = FakeDriver()
    wrong, lost = imp_driver.ProgrammingError("wrong"), imp_driver.OperationalError("lost")
    lost.error_class = imp_driver.CONNECTION_LOST

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            pipeline = driver.pipelines[0]
            pipeline.error = wrong
            with pytest.raises(sa.exc.ProgrammingError) as raised:
                await connection.execute(ASK)
            assert raised.value.orig is wrong
            assert not raised.value.connection_invalidated
            pipeline.error = lost
            with pytest.raises(sa.exc.OperationalError) as raised_then:
                await connection.execute(ASK)
            assert raised_then.value.orig is lost
            assert raised_then.value.connection_invalidated
            assert ended(pipeline.threads)
            await connection.rollback()
            assert (await connection.execute(ASK)).scalar() == 0
        assert [pipeline.closed for pipeline in driver.pipelines] == [True, True]

    asyncio.run(main())


def test_a_connection_that_cannot_be_opened_leaves_no_thread() -> None:
    class Refusing(FakeDriver):
        def connect(self, **options: Any) -> imp_driver.Connection:
            self.thread = threading.current_thread()
            raise imp_driver.OperationalError("no Java")

    driver = Refusing()

    async def main() -> None:
        async with opened(driver) as engine:
            with pytest.raises(sa.exc.OperationalError, match="no Java"):
                await engine.connect().start()

    asyncio.run(main())
    assert ended({driver.thread})


def test_the_pool_gives_connections_back() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver, pool_size=1, max_overflow=0, pool_pre_ping=True) as engine:
            assert isinstance(engine.pool, sa.AsyncAdaptedQueuePool)

            async def ask() -> Any:
                async with engine.connect() as connection:
                    return (await connection.execute(sa.text("VALUES (version())"))).scalar()

            assert await asyncio.gather(*(ask() for _ in range(4))) == ["4.2.0"] * 4
        assert len(driver.pipelines) == 1

    asyncio.run(main())


def test_a_forgotten_connection_is_closed_by_its_thread() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine:

            async def forget() -> None:
                connection = await engine.connect().start()
                await connection.execute(ASK)
                del connection
                gc.collect()

            with pytest.warns(sa.exc.SAWarning, match="non-checked-in connection"):
                await forget()

    asyncio.run(main())
    [pipeline] = driver.pipelines
    assert ended(pipeline.threads)
    assert pipeline.closed


def test_a_stream_is_read_in_portions() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            stream = driver.pipelines[0].stream = numbers(3000, [1000, 1000])
            result = await connection.stream(ASK, execution_options={"yield_per": 10})
            assert [row.n for row in await result.fetchmany(1500)] == list(range(1500))
            assert len(stream._batches) == 1
            assert not stream.closed
            await result.close()
            assert stream.closed
            await connection.stream(sa.text("INSERT INTO t VALUES (1)"))
            await connection.commit()

    asyncio.run(main())


def test_options_and_reports_reach_the_cursor() -> None:
    driver = FakeDriver()

    async def main() -> None:
        async with opened(driver) as engine, engine.connect() as connection:
            result: Any = await connection.execute(ASK, execution_options={"imp_sketch": "off"})
            assert driver.pipelines[0].modes == [SketchMode.OFF]
            assert (result.cursor.sketch, result.cursor.sketch_report) == ("off", REPORT)
            assert result.cursor.query_id
            raw = await connection.get_raw_connection()
            assert isinstance(raw.driver_connection, AwaitedConnection)
            with pytest.raises(imp_driver.NotSupportedError, match="RESTORE"):
                await raw.driver_connection.rollback()
            await raw.driver_connection.commit()

    asyncio.run(main())


def test_the_dialect_is_found_by_its_entry_point_and_has_no_creator() -> None:
    async def creator() -> None: ...

    async def main() -> None:
        engine = create_async_engine("imp+aio:///house", async_creator=creator)
        assert isinstance(engine.dialect, ImpAsyncDialect)
        with pytest.raises(sa.exc.NotSupportedError, match="connect_args"):
            await engine.connect().start()

    asyncio.run(main())


def test_without_greenlet_sqlalchemy_says_what_to_install() -> None:
    program = """
import asyncio, sys
sys.modules["greenlet"] = None
from sqlalchemy.ext.asyncio import create_async_engine
asyncio.run(create_async_engine("imp+aio:///house").connect().start())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "sqlalchemy[asyncio]" in ran.stderr
