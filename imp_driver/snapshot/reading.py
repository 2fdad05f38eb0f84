"""One SELECT read against the tables as they are now: names to snapshots, statement to plan and blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from imp_driver.errors import OperationalError
from imp_driver.parse.moment import NOW, TODAY
from imp_driver.parse.settings import check_settings
from imp_driver.parse.statement import Statement, per_statement, with_named
from imp_driver.plan.bind import Once, bind, with_values
from imp_driver.plan.context import Definition, TableDefinition, ViewDefinition
from imp_driver.plan.nodes import Plan, Scan
from imp_driver.plan.usefulness import check_filters
from imp_driver.plan.zones import Times, types_in, zone_of
from imp_driver.ports import Moment, Relation, RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis
from imp_driver.snapshot.text import Blocks, Text, known_text
from imp_driver.snapshot.versions import Versions
from imp_driver.values.execution import Parameters
from imp_driver.values.quoting import has_variable
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.tables import ChangeSource, TableSnapshot
from imp_driver.values.zones import UTC

_NOT_DELTA = {
    RelationKind.OTHER_TABLE: Reason.NOT_A_DELTA_TABLE,
    RelationKind.VIEW: Reason.VIEW,
    RelationKind.TEMPORARY_VIEW: Reason.TEMPORARY_VIEW,
}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    relation: Relation
    snapshot: TableSnapshot


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A query with the version of every table it reads.

    Attributes:
        statement: without clauses that ask for versions; that of all texts like it where ``constants`` has those of this one.
        tables: by the name that a scan has.
        is_pinned: some table is read at a version that the query or its transaction asks for.
        moment: when it is run, where it asks for that.
        zone: of the session's times, empty where its rules are not known.
        constants: values of markers that stand for constants of the text (parse/patterns.py).
    """

    statement: Statement
    text: Text
    tables: Mapping[tuple[str, ...], Table]
    settings: tuple[tuple[str, str], ...]
    is_pinned: bool
    moment: Moment | None = None
    zone: str = ""
    constants: Mapping[str, exp.Literal] = field(default_factory=dict)

    def parameters(self, given: Parameters) -> Parameters:
        """Return the values of an execution's markers with those of its text, and of its day and time, beside."""
        times = {} if self.moment is None else {TODAY: self.moment.day, NOW: self.moment.instant}
        return with_named(given, {**self.constants, **times})

    @property
    def template_text(self) -> str:
        """The template's text, of which the numbers of LIMIT are a part."""
        text = self.text.template_text
        for name, value in self.constants.items():
            text = text.replace(f":{name}", str(value.this))
        return text

    def bound(self, analysis: Analysis, parameters: Parameters) -> Blocks:
        """Return a block of this reading with its constants, and the wider one where it has one; worked out once where no marker is in it.

        Raises:
            Refused: nothing drops groups, or a parameter has no exact literal.
        """
        name = id(analysis), self.zone
        known = None if parameters else self.text.blocks.get(name)
        if known is None:
            known = self._blocks(analysis, parameters)
            check_filters(known[0], by_subquery=analysis.plan.by_subquery)
            if not parameters:
                self.text.blocks[name] = known
        return known

    def groups(self, analysis: Analysis, parameters: Parameters) -> Blocks:
        """Return a block that is answered from, as ``bound`` does; most have no marker, since conditions on groups stand above them.

        Raises Refused: a parameter has no exact literal.
        """
        known = self._known_without_markers(analysis)
        return known if isinstance(known, tuple) else self._blocks(analysis, parameters)

    def is_constant(self, analysis: Analysis) -> bool:
        """Say whether a block that is answered from is the same for all constants of this text."""
        return isinstance(self._known_without_markers(analysis), tuple)

    def _known_without_markers(self, analysis: Analysis) -> Blocks | Grounds:
        name = id(analysis), self.zone
        known = self.text.without_markers.get(name)
        if known is None:
            known = self.text.without_markers[name] = self._without_markers(analysis)
        return known

    def _blocks(self, analysis: Analysis, parameters: Parameters) -> Blocks:
        read = self._times(analysis, lambda: {**types_in(analysis.plan.top), **analysis.columns}).read
        once = self._once(analysis)
        wide = None if analysis.lifted is None else bind(analysis.lifted, parameters, analysis.columns, read, once)
        return bind(analysis.block, parameters, analysis.columns, read, once), wide

    def _without_markers(self, analysis: Analysis) -> Blocks | Grounds:
        try:
            return self._blocks(analysis, None)
        except Refused as refused:
            return refused.grounds

    def times(self, plan: Plan) -> Times:
        """Return how times in the expressions of a plan of this text are read."""
        return self._times(plan, lambda: types_in(plan))

    def with_values(self, plan: Plan, parameters: Parameters) -> Plan:
        """Return a plan of this text with the values of its markers; worked out once where it has none. Raises Refused."""
        name = id(plan), self.zone
        known = None if parameters else self.text.with_values.get(name)
        if known is None:
            known = with_values(plan, parameters, self.times(plan).read, self._once(plan))
            if not parameters:
                self.text.with_values[name] = known
        return known

    def _once(self, owner: Plan | Analysis) -> Once:
        return self.text.once.setdefault((id(owner), self.zone), Once())

    def _times(self, owner: Plan | Analysis, types: Callable[[], Mapping[str, pa.DataType | None]]) -> Times:
        name = id(owner), self.zone
        known = self.text.times.get(name)
        if known is None:
            known = self.text.times[name] = Times.of(types(), self.zone)
        return known

    @property
    def bytes(self) -> int:
        """Bytes of the files of every table, as often as it is read."""
        times_read = self.text.times_read
        return sum(times_read[id(scan.place)] * self.size(scan) for scan in self.text.scans)

    def size(self, scan: Scan) -> int:
        """Return the bytes of the files of one occurrence of a table."""
        return int(self.tables[scan.table].snapshot.files.sizes.sum())


class _Snapshots:
    """The tables that one query reads, each at one version however often it is named."""

    def __init__(self, session: Session, source: ChangeSource, versions: Versions, is_told: bool) -> None:
        self._session = session
        self._source = source
        self._versions = versions
        self._is_told = is_told
        self.is_pinned = False
        self._by_location: dict[str, tuple[TableSnapshot, int | None]] = {}
        self.has_failed = False
        self.tables: dict[tuple[str, ...], Table] = {}
        self.definitions: dict[tuple[str, ...], Definition] = {}

    def find(self, name: tuple[str, ...]) -> Definition:
        """Resolve a name of the query or of a view. Raises Refused: no view or Delta table, or one that cannot be read in process."""
        if name not in self.definitions:
            self.has_failed = True
            self.definitions[name] = self._definition(name)
            self.has_failed = False
        return self.definitions[name]

    def _definition(self, name: tuple[str, ...]) -> Definition:
        relation = self._session.resolve(name)
        # Spark checks the tables of a query when it runs, but of a view that was unfolded it only sees the tables below.
        if relation is not None and (self._is_told or relation.kind is RelationKind.VIEW) and not self._session.may_read(relation.name):
            raise Refused(Reason.NOT_PERMITTED, ".".join(name))
        if relation is not None and relation.kind is RelationKind.VIEW and relation.view is not None:
            if not self._versions.reads_views:
                reason = Reason.OLD_VERSION if relation.view.is_recursive else Reason.TIME_TRAVEL
                raise Refused(reason, f"{'.'.join(name)} is a view")
            return ViewDefinition(relation.name, relation.view)
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            reason = Reason.NOT_A_DELTA_TABLE if relation is None else _NOT_DELTA.get(relation.kind, Reason.NOT_A_DELTA_TABLE)
            raise Refused(reason, ".".join(name))
        snapshot = self._snapshot(relation.location, self._versions.of(name, relation.location))
        if relation.table_id not in (None, snapshot.table_id):
            raise Refused(Reason.STORE_NOT_READABLE, f"{'.'.join(name)}: another table lies in {relation.location} on this machine.")
        if has_variable(*relation.name, relation.location, *(column.name for column in snapshot.schema)):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"a name in {'.'.join(name)} has ${{, which begins a variable of Spark")
        self.tables[relation.name] = Table(relation, snapshot)
        return TableDefinition(relation.name, snapshot.schema)

    def _snapshot(self, location: str, version: int | None) -> TableSnapshot:
        known = self._by_location.get(location)
        if known is not None and known[1] != version:
            raise Refused(Reason.TIME_TRAVEL, "one table at several versions")
        if known is None:
            self.is_pinned |= version is not None
            try:
                found = self._source.snapshot(location) if version is None else self._source.snapshot_at(location, version)
            except OperationalError as error:
                raise Refused(Reason.STORE_NOT_READABLE, str(error)) from error
            known = self._by_location[location] = found, version
        return known[0]


def read(statement: Statement, session: Session, source: ChangeSource, versions: Versions, *, is_told: bool = False) -> Reading:
    """Read a query; what does not depend on versions is worked out once per text and schemas.

    Args:
        is_told: what is found is shown and not run, so that nothing else keeps it from who may not read the tables.

    Raises:
        Refused: nothing can be done about it in this session; the reason says why.
    """
    settings = session.settings()
    check_settings(settings)
    snapshots = _Snapshots(session, source, versions, is_told)
    cell = _cell(statement)
    known = cell[0] if cell and all(snapshots.find(name) == found for name, found in cell[0].definitions.items()) else None
    if known is None:
        known = known_text(statement, snapshots, snapshots.definitions)
        # A name that stands for no readable table now may stand for one the next time.
        cell[:] = [] if snapshots.has_failed else [known]
    zone = _zone(session, known, snapshots, dict(settings))
    moment = _moment(session, known, zone) if known.asked else None
    return Reading(statement, known, snapshots.tables, settings, snapshots.is_pinned, moment, zone)


def _zone(session: Session, text: Text, snapshots: _Snapshots, settings: Mapping[str, str]) -> str:
    """Return the zone of the session; the engine is asked for its rules when there is a time that they are needed for."""
    name = zone_of(settings)
    if name == UTC or not name:
        return name
    has_instants = any(column.type_name == "timestamp" for table in snapshots.tables.values() for column in table.snapshot.schema)
    return name if (has_instants or NOW in text.asked) and session.knows_zone(name) else ""


def _moment(session: Session, text: Text, zone: str) -> Moment:
    if NOW in text.asked and not zone:
        raise Refused(Reason.NON_DETERMINISTIC, f"{NOW}, in a session whose zone has rules that are not known here")
    found = session.moment()
    if found is None:
        raise Refused(Reason.NON_DETERMINISTIC, f"{', '.join(sorted(text.asked))}, which the engine alone knows")
    return found


def is_still(source: ChangeSource, snapshot: TableSnapshot) -> bool:
    """Say whether the table of a snapshot still lies there, at whatever version."""
    try:
        return source.snapshot(snapshot.location).table_id == snapshot.table_id
    except OperationalError:
        return False


@per_statement
def _cell(statement: Statement) -> list[Text]:
    """Return the place where what is known of a statement is kept."""
    return []
