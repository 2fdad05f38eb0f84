"""Queries of an asyncio application: several at once, a stream, and one that takes too long and is cancelled."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

VISITS = sa.Table("example_visits", sa.MetaData(), sa.Column("page", sa.Integer), sa.Column("seconds", sa.Integer))
TOTAL = sa.func.sum(VISITS.c.seconds)


async def busiest(engine: AsyncEngine, low: int) -> list[Any]:
    """Return the pages with more seconds than this. Each call has a connection of its own, and with it a thread."""
    query = sa.select(VISITS.c.page, TOTAL).group_by(VISITS.c.page).having(low < TOTAL).order_by(VISITS.c.page)
    async with engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(query)]


async def run(engine: AsyncEngine) -> list[Any]:
    """Fill a table and ask; return the answers of the queries that ran at once."""
    async with engine.connect() as connection:
        await connection.run_sync(VISITS.metadata.drop_all)
        await connection.run_sync(VISITS.metadata.create_all)
        await connection.execute(VISITS.insert(), [{"page": number % 20, "seconds": number} for number in range(200)])
        answers = await asyncio.gather(busiest(engine, 1070), busiest(engine, 1080))
        print(answers)
        result = await connection.stream(sa.select(VISITS.c.seconds).order_by(VISITS.c.seconds))
        print("first of the stream:", await result.fetchmany(3))
        await result.close()
        try:
            async with asyncio.timeout(1):
                await connection.execute(sa.text("SELECT count(*) FROM range(10000000000000)"))
        except TimeoutError:
            # The query has ended in Spark by now.
            print("cancelled; the connection goes on:", await connection.scalar(sa.text("SELECT 'yes'")))
    return list(answers)


async def opened(warehouse: str) -> list[Any]:
    """Run with an engine, and close its connections and their threads."""
    engine = create_async_engine(f"imp+aio:///{warehouse}?sketch=lazy", isolation_level="AUTOCOMMIT")
    try:
        return await run(engine)
    finally:
        await engine.dispose()


def main(warehouse: str) -> list[Any]:
    return asyncio.run(opened(warehouse))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
