"""Many queries over one stream of changes: tables are made, changed and read at a new version once for all queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import imp_driver
from imp_driver.observe.report import SketchReport
from tests.spark.reports import report_of


class Stream:
    """Each query has a connection in shadow mode and a store of its own, so that no state of one serves another.

    What the driver reported is kept, or the error with which a query ended; after an error it is not asked again.
    """

    def __init__(self, warehouse: Path, stores: Path) -> None:
        self._warehouse = warehouse
        self._stores = stores
        self._open = ExitStack()
        self._cursors: dict[Hashable, imp_driver.Cursor] = {}
        self._reports: defaultdict[Hashable, list[SketchReport]] = defaultdict(list)
        self._errors: dict[Hashable, imp_driver.Error] = {}

    def run(self, text: str) -> None:
        """Run a statement on a connection that asks no query."""
        self._cursor("").execute(text)

    def ask(self, key: Hashable, text: str) -> None:
        """Ask the query known by ``key`` once more."""
        if key in self._errors:
            return
        try:
            cursor = self._cursor(key)
            cursor.execute(text).fetchall()
            self._reports[key].append(report_of(cursor))
        except imp_driver.Error as error:
            self._errors[key] = error

    def turns(self, changes: Sequence[str], before: int = 1) -> Iterator[None]:
        """Yield, for the queries to be asked, so many times before the first change and once after each."""
        yield from [None] * before
        for change in changes:
            self.run(change)
            yield

    def reports(self, key: Hashable) -> list[SketchReport]:
        """Return the reports of a query in the order in which it was asked. Raises the error with which it ended."""
        if key in self._errors:
            raise self._errors[key]
        return self._reports[key]

    def close(self) -> None:
        self._open.close()

    def _cursor(self, key: Hashable) -> imp_driver.Cursor:
        if key not in self._cursors:
            store = str(self._stores / str(len(self._cursors)))
            connection = self._open.enter_context(imp_driver.connect(warehouse=str(self._warehouse), sketch="shadow", store=store))
            self._cursors[key] = connection.cursor()
        return self._cursors[key]
