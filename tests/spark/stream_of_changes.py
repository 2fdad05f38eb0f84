"""Many queries over one stream of changes: tables are made, changed and read at a new version once for all queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import imp_driver
from imp_driver.values.report import SketchReport
from tests.faults.lake import Lake, Process
from tests.seeds import WIDE
from tests.spark.reports import report_of


class Stream:
    """Tables that Spark makes and changes, and queries that are asked of them in shadow mode at each version.

    Spark answers until the first change; the rest, which is upkeep, is asked of the same tables with an engine without a JVM in its place.
    With IMP_WIDE=1 Spark answers always. Each query has a state of its own, so that none serves another. What the driver reported is kept,
    or the error with which a query ended; after an error it is not asked again.
    """

    def __init__(self, warehouse: Path, stores: Path) -> None:
        self._warehouse = warehouse
        self._stores = stores
        self._open = ExitStack()
        self._lake = Lake(warehouse)
        self._open.callback(self._lake.connection.close)
        self._cursors: dict[Hashable, imp_driver.Cursor] = {}
        self._processes: dict[Hashable, Process] = {}
        self._has_changed = False
        self._reports: defaultdict[Hashable, list[SketchReport]] = defaultdict(list)
        self._errors: dict[Hashable, imp_driver.Error | AssertionError] = {}

    def run(self, text: str) -> None:
        """Run a statement on a connection that asks no query."""
        self._cursor("").execute(text)

    def ask(self, key: Hashable, text: str) -> None:
        """Ask the query known by ``key`` once more."""
        if key in self._errors:
            return
        try:
            self._reports[key].append(self._asked(key, text))
        except (imp_driver.Error, AssertionError) as error:
            self._errors[key] = error

    def turns(self, changes: Sequence[str], before: int = 1) -> Iterator[None]:
        """Yield, for the queries to be asked, so many times before the first change and once after each."""
        yield from [None] * before
        self._has_changed = True
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

    def _asked(self, key: Hashable, text: str) -> SketchReport:
        if WIDE:
            return self._by_spark(key, text)
        found = self._process(key).ask(text)
        if not self._has_changed:
            by_spark = self._by_spark(key, text)
            assert (found.decision, found.reason, found.attribute) == (by_spark.decision, by_spark.reason, by_spark.attribute), text
        return found

    def _by_spark(self, key: Hashable, text: str) -> SketchReport:
        cursor = self._cursor(key)
        cursor.execute(text).fetchall()
        return report_of(cursor)

    def _process(self, key: Hashable) -> Process:
        if key not in self._processes:
            process = self._processes[key] = Process(self._lake, store=self._stores / f"lake{len(self._processes)}")
            self._open.callback(process.close)
        return self._processes[key]

    def _cursor(self, key: Hashable) -> imp_driver.Cursor:
        if key not in self._cursors:
            store = str(self._stores / str(len(self._cursors)))
            connection = self._open.enter_context(
                imp_driver.connect(warehouse=str(self._warehouse), sketch="shadow", answers="off", store=store)
            )
            self._cursors[key] = connection.cursor()
        return self._cursors[key]
