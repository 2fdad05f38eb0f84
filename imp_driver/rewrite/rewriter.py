"""A query and the tables as they are now -> the text that Spark gets: its blocks' sketches brought up to date, their ranges conjoined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from imp_driver.maintain.data_skipping import own_share
from imp_driver.maintain.request import CutSketch, Prepared, Request, request_of
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.statement import Statement
from imp_driver.reasons import Reason
from imp_driver.rewrite.splice import Pin, check_every, pin_of, pinned
from imp_driver.rewrite.use import Part, Use, conditions_of, gains, plan_use
from imp_driver.safety.analysis import Analysis
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.reading import Reading
from imp_driver.values.execution import Execution, Parameters
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused, accepted
from imp_driver.values.tables import TableSnapshot


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A query ready to run with its sketches. ``pinned_text`` reads the same versions uncut, to be compared with."""

    text: str
    pinned_text: str
    snapshots: tuple[TableSnapshot, ...]
    parts: tuple[Part, ...]


class Rewriter:
    """Rewrites the queries of one connection; ``asked`` is told what each one asks of the sketches."""

    def __init__(
        self,
        sketches: Sketches,
        options: Options,
        reader: Reader,
        asked: Callable[[Execution, list[Request]], None],
    ) -> None:
        self._sketches = sketches
        self._options = options
        self._reader = reader
        self._asked = asked

    def rewrite(self, reading: Reading, execution: Execution, means: Means) -> Rewritten:
        """Return the query with its sketches.

        Raises:
            Refused: it has none; the reason says why.
            Error: Spark failed in maintenance.
        """
        with execution.watch.stage("bind"):
            requests = self._requests(reading, execution.parameters)
        self._asked(execution, requests)
        prepared = self._prepared(requests, means)
        with execution.watch.stage("rewrite"):
            return self._spliced(reading, prepared)

    def note_time(self, rewritten: Rewritten, seconds: float) -> None:
        """Let each block's relation learn what its sketches saved a query that took so long."""
        for prepared, gain in gains(rewritten.parts):
            self._sketches.note_time(prepared, seconds, gain)

    def requests(self, statement: Statement, execution: Execution) -> list[Request]:
        """Return what a query that is only told about would ask of the sketches. Raises Refused."""
        return self._requests(self._reader.read(statement, execution, is_told=True), execution.parameters)

    def _requests(self, reading: Reading, parameters: Parameters) -> list[Request]:
        """Bind the blocks of a query; one in which nothing drops groups is left out.

        Raises:
            Refused: none is left, or one whose top-k may tie is not.
        """
        blocks = reading.text.cut()
        numbered = zip(blocks.numbers, blocks.analyses, strict=True)
        return accepted(lambda each: self._request(reading, *each, parameters), numbered, lambda each: each[1].may_tie)

    def _request(self, reading: Reading, number: int, analysis: Analysis, parameters: Parameters) -> Request:
        return request_of(reading, analysis, reading.bound(analysis, parameters), reading.template_text, number, self._options)

    def _prepared(self, requests: list[Request], means: Means) -> list[tuple[Request, Prepared]]:
        """Bring the sketch of each block up to date; a block that has none is left out.

        Raises:
            Refused: no block has one, or one whose top-k may tie has none.
        """
        return accepted(
            lambda request: (request, self._sketches.prepare(request, means)), requests, lambda request: request.analysis.may_tie
        )

    def _spliced(self, reading: Reading, prepared: Sequence[tuple[Request, Prepared]]) -> Rewritten:
        query_bytes = reading.bytes
        parts = [part for request, each in prepared for part in self._parts(request, each, query_bytes)]
        conditions, used = conditions_of(parts, reading.text.times_read, self._options.maximum_runs)
        if not conditions and any(part.use.is_filter for part in parts):
            raise Refused(Reason.READ_TWICE)
        statement = reading.statement
        uncut, cut = _pins(statement, reading, used, conditions)
        is_replaced = bool(conditions) or reading.is_pinned
        if is_replaced:
            check_every(statement, cut)
        text = pinned(statement, cut) if is_replaced else statement.text
        snapshots = tuple(table.snapshot for table in reading.tables.values())
        return Rewritten(text, pinned(statement, uncut), snapshots, tuple(used))

    def _parts(self, request: Request, prepared: Prepared, query_bytes: int) -> list[Part]:
        parts = [Part(request, prepared, each, self._use(request, each, query_bytes)) for each in prepared.sketches]
        self._sketches.note_use(request.template.identifier, prepared, [part.use.is_filter for part in parts])
        return parts

    def _use(self, request: Request, each: CutSketch, query_bytes: int) -> Use:
        share = max(own_share(request, cut.scan) for cut in each.cuts) if request.analysis.plan.of_rows else 1.0
        return plan_use(each.sketch, each.files, each.rows, self._options.maximum_runs, query_bytes=query_bytes, own_share=share)


def _pins(statement: Statement, reading: Reading, parts: Sequence[Part], conditions: Mapping[int, str]) -> tuple[list[Pin], list[Pin]]:
    """Pin every occurrence of a table; return the pins without and with the conditions of the sketches.

    A table that no sketch stands on is pinned too: the answer is that of one moment, and can be compared with the plain one.
    """
    versions: dict[str, int] = {}
    for part in parts:
        versions.update(part.cut.sketch.versions)
    # Where another thread was faster, one sketch may stand for a newer version than the other.
    if any(versions[location] != version for part in parts for location, version in part.cut.sketch.versions.items()):
        raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
    uncut, cut = [], []
    for scan in reading.text.scans:
        # By location: one table may have a name and a path in the same query.
        snapshot = reading.tables[scan.table].snapshot
        pin = pin_of(statement, scan, versions.get(snapshot.location, snapshot.version))
        uncut.append(pin)
        cut.append(replace(pin, condition=conditions.get(id(scan.place))))
    return uncut, cut
