"""Work in the engine that no query waits for: in the session of the query that asks for it, by a share of the cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from imp_driver.maintain.background import Background, Job
from imp_driver.maintain.upkeep import Means, means_of
from imp_driver.ports import Session
from imp_driver.values.execution import Execution

Work: TypeAlias = Callable[[Means, int | None], object]
"""Is given how many tasks may read a table; None for all."""


class Ahead:
    """Asks for work on behalf of one connection."""

    def __init__(self, background: Background, session: Session, share: float) -> None:
        self._background = background
        self._session = session
        self._share = share

    def ask(self, key: str, work: Work) -> bool:
        """Have work done soon, once however often it is asked for by this key; say whether it will be."""
        execution = Execution("")

        def do() -> None:
            cores = self._session.parallelism()
            tasks = max(1, int(cores * self._share))
            work(means_of(self._session, execution), tasks if tasks < cores else None)

        def cancel() -> None:
            execution.token.cancel()
            self._session.interrupt(execution)

        return self._background.ask(Job(key, self._session, do, cancel))
