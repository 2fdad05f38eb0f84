"""The solutions of one pattern, brought from the versions of one reading to those of the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.answer.graphs.quads import Wanted
from imp_driver.answer.graphs.tables import GraphTable
from imp_driver.dataflow.mappings.circuit import Circuit, NotMaintained, QuadRow
from imp_driver.dataflow.mappings.operator import add_all
from imp_driver.errors import cancelled
from imp_driver.maintain.changes import signed_rows
from imp_driver.maintain.step import check_row_count, check_share
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.ports import ResultTooLarge
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.sparql.algebra import Pattern
from imp_driver.state.costs import Costs
from imp_driver.state.values import Usage
from imp_driver.values.cancel import CancellationToken
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangePlan, ChangeSource, ChangesUnavailable, TableSnapshot, ZSet

ReadT = TypeVar("ReadT")
TUPLE_BYTES = 400
"""What a tuple of a circuit takes, with its place in an index (measured: docs/sparql.md)."""


class FollowedPattern:
    """Solutions of one pattern. Safe to use from several threads.

    ``memory`` are the bytes that it may take; with ``is_once`` there will be one reading.

    Attributes:
        identifier: for DROP STATE; another one each time that a pattern is kept.
        statement: the query that it is kept for.
        bytes: about how many it takes.
        solutions: how many different ones there are, None where they are not kept.
        problem: why the last reading had none, empty where it had.
    """

    def __init__(self, pattern: Pattern, memory: int, *, statement: str = "", is_once: bool = False) -> None:
        self.identifier, self.statement = uuid4().hex[:12], statement
        self.usage, self.costs = Usage(), Costs()
        self.bytes = 0
        self.solutions: int | None = None
        self.problem = ""
        self._pattern = pattern
        self._is_once = is_once
        self._memory = memory
        self._circuit: Circuit | None = None
        self._names: Mapping[str, tuple[str, ...]] = {}
        self._vector: Mapping[str, TableSnapshot] = {}
        self._refused: tuple[Mapping[str, int], Refused] | None = None
        self._lock = threading.Lock()
        self._token = CancellationToken()

    @property
    def tables(self) -> Collection[tuple[str, ...]]:
        """Names of the tables that it reads."""
        return self._names.values()

    @property
    def versions(self) -> dict[tuple[str, ...], int]:
        """Of these tables, which the solutions are at; none where they are not kept."""
        names, vector = self._names, self._vector
        return {names[name]: each.version for name, each in vector.items()}

    def read(
        self, tables: Mapping[str, GraphTable], source: ChangeSource, means: Means, reader: Callable[[Circuit], ReadT]
    ) -> tuple[Upkeep, Mapping[str, TableSnapshot], ReadT]:
        """Return what a reader makes of the solutions at the tables' versions, or at newer ones that another thread has seen.

        Raises:
            Refused: they cannot be followed, or take more than the memory.
            Error: the engine failed.
        """
        with self._lock:
            self._names = {name: each.name for name, each in tables.items()}
            self.usage.note_use()
            self._token = means.token
            try:
                self._check(tables)
                with means.watch.stage("maintain"):
                    upkeep = self._timed(tables, source, means)
            except Refused as refused:
                self.problem = refused.grounds.told
                raise
            finally:
                self._note_size()
            assert self._circuit is not None
            self.problem = ""
            self.usage.note_answer()
            return upkeep, self._vector, reader(self._circuit)

    def _timed(self, tables: Mapping[str, GraphTable], source: ChangeSource, means: Means) -> Upkeep:
        begin = time.perf_counter()
        upkeep = self._brought_to(tables, source, means)
        seconds = time.perf_counter() - begin
        if upkeep.decision in (Decision.CAPTURED, Decision.RECAPTURED):
            self.costs.note_capture(seconds)
            self.usage.add(captures=1)
            return upkeep
        if upkeep.decision is Decision.MAINTAINED:
            self.costs.note_maintenance(upkeep.delta_rows, seconds)
            self.usage.add(maintained=1, delta_rows=upkeep.delta_rows)
        self.costs.all_saved += self.costs.captured or 0.0
        return upkeep

    def _note_size(self) -> None:
        circuit = self._circuit
        self.bytes = 0 if circuit is None else circuit.size * TUPLE_BYTES
        self.solutions = None if circuit is None else len(circuit.rows)

    def _check_wanted(self) -> None:
        if self._token.is_cancelled:
            raise cancelled(self._token.query_id)

    def _check(self, tables: Mapping[str, GraphTable]) -> None:
        """Raise Refused where the same versions were too much before."""
        if self._refused is not None and self._refused[0] == _versions(tables):
            raise Refused.on(self._refused[1].grounds)

    def _brought_to(self, tables: Mapping[str, GraphTable], source: ChangeSource, means: Means) -> Upkeep:
        before = next(iter(self._vector.values())).version if self._vector else None
        if self._circuit is None or self._circuit.is_lost:
            self._load(tables, means)
            return Upkeep(Decision.CAPTURED, None)
        try:
            tables = {name: self._ahead(name, each, source) for name, each in tables.items()}
            plans = {name: self._plan(name, each, source) for name, each in tables.items()}
            read = {name: self._changed(plan, tables[name], source, means) for name, plan in plans.items() if plan is not None}
            for name, signed in read.items():
                check_row_count(self._vector[name].row_count, int(signed.weights.sum()), tables[name].snapshot)
        except ChangesUnavailable as error:
            self._load(tables, means)
            return Upkeep(Decision.RECAPTURED, before, recapture_reason=error.reason, detail=error.detail)
        vector = {name: each.snapshot for name, each in tables.items()}
        if not read:
            self._vector = vector
            return Upkeep(Decision.FRESH, before)
        self._step({name: (signed.rows, signed.weights) for name, signed in read.items()}, self._circuit, tables)
        followed = [plan for plan in plans.values() if plan is not None]
        rows, size = sum(len(signed.weights) for signed in read.values()), sum(plan.bytes for plan in followed)
        return Upkeep(Decision.MAINTAINED, before, rows, followed[0].source, delta_bytes=size)

    def _ahead(self, name: str, table: GraphTable, source: ChangeSource) -> GraphTable:
        """Return a table at the version that the solutions are at, where another thread has seen a newer one: they cannot go back."""
        known, asked = self._vector[name], table.snapshot
        if known.table_id != asked.table_id or known.version <= asked.version:
            return table
        if table.is_pinned:
            raise Refused(Reason.OLD_VERSION)
        return replace(table, snapshot=source.snapshot(asked.location))

    def _plan(self, name: str, table: GraphTable, source: ChangeSource) -> ChangePlan | None:
        """Say how to get the changes of a table, None where there are none that are asked for. Raises ChangesUnavailable."""
        before, snapshot = self._vector[name], table.snapshot
        if (before.location, before.table_id) != (snapshot.location, snapshot.table_id):
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, "the table is another one than before")
        columns = table.columns(self._wanted(table))
        if before.version == snapshot.version or columns is None:
            return None
        plan = source.plan(snapshot.location, before.table_id, before.version, snapshot.version)
        if lost := plan.lost(columns):
            raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{', '.join(lost)} became another column")
        if plan.source is DeltaSource.NONE:
            return None
        check_share(plan, snapshot)
        return plan

    def _wanted(self, table: GraphTable) -> Wanted:
        assert self._circuit is not None
        return self._circuit.wanted[table.graph]

    def _changed(self, plan: ChangePlan, table: GraphTable, source: ChangeSource, means: Means) -> ZSet:
        return signed_rows(plan, table.columns(self._wanted(table)) or (), source, means.read)

    def _load(self, tables: Mapping[str, GraphTable], means: Means) -> None:
        """Read what the pattern can match, at the tables' versions."""
        self._circuit, self._vector = None, {}
        try:
            most = self._memory // TUPLE_BYTES
            circuit = Circuit(self._pattern, most, is_once=self._is_once, check=self._check_wanted)
        except NotMaintained as error:
            raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        except RecursionError:
            raise Refused(Reason.LEFT_TO_SPARK, "the query is nested too deeply") from None
        with means.watch.stage("capture"):
            loaded = {}
            for name, each in tables.items():
                wanted = circuit.wanted[each.graph]
                if each.columns(wanted) is None:
                    continue
                try:
                    loaded[name] = means.read(each.load_text(wanted), most_bytes=self._memory // 4), None
                except ResultTooLarge as error:
                    self._refuse(tables, "the rows that its patterns can match", error)
            self._step(loaded, circuit, tables)

    def _step(
        self,
        changes: Mapping[str, tuple[pa.Table, npt.NDArray[np.int64] | None]],
        circuit: Circuit,
        tables: Mapping[str, GraphTable],
    ) -> None:
        signed: dict[str, dict[QuadRow, int]] = {}
        for name, (rows, weights) in changes.items():
            graph = tables[name].graph
            found = tables[name].quads(rows, circuit.wanted[graph], weights)
            if graph in signed:
                add_all(signed[graph], found)
            else:
                signed[graph] = found
        self._circuit = circuit
        try:
            circuit.step(signed)
        except NotMaintained as error:
            self._refuse(tables, f"{circuit.size} tuples", error)
        self._vector = {name: each.snapshot for name, each in tables.items()}
        if circuit.size * TUPLE_BYTES > self._memory:
            self._refuse(tables, f"{circuit.size} tuples", None)

    def _refuse(self, tables: Mapping[str, GraphTable], what: str, cause: Exception | None) -> None:
        refused = Refused(Reason.STATE_TOO_LARGE, f"{what} would take more than the {self._memory} bytes of option memory")
        self._refused, self._circuit, self._vector = (_versions(tables), refused), None, {}
        raise refused from cause


def _versions(tables: Mapping[str, GraphTable]) -> Mapping[str, int]:
    return {name: each.snapshot.version for name, each in tables.items()}
