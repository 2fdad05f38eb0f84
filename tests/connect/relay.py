"""A way to a server that can be cut: to its clients the server is gone then, as when its process was killed."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType


class Relay:
    """Passes bytes between its own ``port`` of this machine and that of a server, until it is cut."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._streams: list[asyncio.StreamWriter] = []
        self._listening: asyncio.Server | None = None
        self.port = 0

    def __enter__(self) -> Relay:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Close all connections in the middle of what they send, and take no more."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result()

    async def _listen(self) -> None:
        self._listening = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = int(self._listening.sockets[0].getsockname()[1])

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._streams += [writer, to_server]
        await asyncio.gather(_pass_on(reader, to_server), _pass_on(from_server, writer))

    async def _cut(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for writer in self._streams:
            writer.transport.abort()
        self._streams.clear()
        # The tasks that pass bytes on end by themselves once their connections are closed.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while received := await reader.read(65_536):
            writer.write(received)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
