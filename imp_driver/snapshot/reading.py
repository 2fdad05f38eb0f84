"""One SELECT read against the tables as they are now: names to snapshots, statement to plan and blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from imp_driver.errors import OperationalError
from imp_driver.parse.settings import check_settings
from imp_driver.parse.statement import Statement, per_statement
from imp_driver.parse.template import VIEW_MARK, template_text
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.plan.check import checked_tree
from imp_driver.plan.context import Definition, TableDefinition, ViewDefinition
from imp_driver.plan.groupings import groupings
from imp_driver.plan.nodes import Aggregate, Plan, Scan, scans
from imp_driver.plan.resolve import resolve
from imp_driver.plan.usefulness import check_filters
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis, analyse, analysed_groups
from imp_driver.safety.cuts import Cut
from imp_driver.snapshot.versions import Versions
from imp_driver.values.quoting import has_variable
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.run import Parameters
from imp_driver.values.tables import ChangeSource, TableSnapshot

Blocks: TypeAlias = tuple[BoundBlock, BoundBlock | None]
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
        analyses: the blocks that may be cut; ``refused`` says why there is none.
        numbers: one per block; blocks that are readings of one text have the same, and so one state where all else is equal.
        scans: every occurrence of a table, one per place in the text.
        times_read: how many occurrences a place in the text has, by its ``id``.
        tables: by the name that a scan has.
        is_pinned: some table is read at a version that the query or its transaction asks for.
    """

    template_text: str
    analyses: tuple[Analysis, ...]
    numbers: tuple[int, ...]
    scans: tuple[Scan, ...]
    times_read: Mapping[int, int]
    tables: Mapping[tuple[str, ...], Table]
    settings: tuple[tuple[str, str], ...]
    is_pinned: bool
    refused: Grounds | None
    statement: Statement
    _known: _Known

    def grouped(self) -> Grouped:
        """Return the query as operators above maintained groups; worked out once per text and schemas.

        Raises:
            Refused: some rows come from no groups.
        """
        if self._known.grouped is None:
            self._known.grouped = _grouped(self.statement, self._known)
        if isinstance(self._known.grouped, Grounds):
            raise Refused.on(self._known.grouped)
        return self._known.grouped

    def bound(self, analysis: Analysis, parameters: Parameters) -> Blocks:
        """Return a block of this reading with its constants, and the wider one where it has one; worked out once where no marker is in it.

        Raises:
            Refused: nothing drops groups, or a parameter has no exact literal.
        """
        known = None if parameters else self._known.blocks.get(id(analysis))
        if known is None:
            block = bind(analysis.block, parameters, analysis.columns)
            check_filters(block)
            known = block, None if analysis.lifted is None else bind(analysis.lifted, parameters, analysis.columns)
            if not parameters:
                self._known.blocks[id(analysis)] = known
        return known

    @property
    def bytes(self) -> int:
        """Bytes of the files of every table, as often as it is read."""
        return sum(self.times_read[id(scan.place)] * int(self.tables[scan.table].snapshot.files.sizes.sum()) for scan in self.scans)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """A query all rows of which come from groups: its plan with the order of its rows, and the aggregations that are maintained."""

    template_text: str
    plan: Plan
    parts: tuple[tuple[Aggregate, Analysis], ...]


@dataclass(slots=True, eq=False)
class _Known:
    """What was found for a text when its names stood for these definitions; ``grouped`` is found when it is asked for."""

    definitions: Mapping[tuple[str, ...], Definition]
    analyses: tuple[Analysis, ...]
    scans: tuple[Scan, ...]
    times_read: Mapping[int, int]
    template_text: str
    refused: Grounds | None
    blocks: dict[int, Blocks] = field(default_factory=dict)
    grouped: Grouped | Grounds | None = None

    def find(self, name: tuple[str, ...]) -> Definition:
        """Return what a name stood for. Raises Refused as it was then."""
        found = self.definitions.get(name)
        if found is None:
            raise Refused.on(self.refused or Grounds(Reason.NOT_A_DELTA_TABLE, ".".join(name)))
        return found


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
                raise Refused(Reason.TIME_TRAVEL, f"{'.'.join(name)} is a view")
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
        known = _analysed(statement, snapshots)
        # A name that stands for no readable table now may stand for one the next time.
        cell[:] = [] if snapshots.has_failed else [known]
    return Reading(
        template_text=known.template_text,
        analyses=known.analyses,
        numbers=_numbers(known.analyses),
        scans=known.scans,
        times_read=known.times_read,
        tables=snapshots.tables,
        settings=settings,
        is_pinned=snapshots.is_pinned,
        refused=known.refused,
        statement=statement,
        _known=known,
    )


def is_still(source: ChangeSource, snapshot: TableSnapshot) -> bool:
    """Say whether the table of a snapshot still lies there, at whatever version."""
    try:
        return source.snapshot(snapshot.location).table_id == snapshot.table_id
    except OperationalError:
        return False


def _may_be_cut(analysis: Analysis, found: Sequence[Analysis], times_read: Mapping[int, int]) -> bool:
    """Say whether some key of a block cuts only places that the blocks cut as often as they are read.

    A block without such a key may read no place more than once.
    """

    def is_cut_often(cut: Cut) -> bool:
        cuts = [each for other in found for every in other.cuts.values() for each in every if each.scan.place is cut.scan.place]
        return len({each.scan.occurrence for each in cuts if each.attribute.name == cut.attribute.name}) == times_read[id(cut.scan.place)]

    if not analysis.cuts:
        return all(times_read[id(scan.place)] == 1 for scan in analysis.scans)
    return any(all(map(is_cut_often, cuts)) for cuts in analysis.cuts.values())


def _numbers(analyses: Sequence[Analysis]) -> tuple[int, ...]:
    names = [(frozenset(id(scan.place) for scan in each.scans), tuple(key.sql() for key in each.block.keys)) for each in analyses]
    return tuple(names.index(name) for name in names)


@per_statement
def _cell(statement: Statement) -> list[_Known]:
    """Return the place where what is known of a statement is kept."""
    return []


def _analysed(statement: Statement, snapshots: _Snapshots) -> _Known:
    try:
        tree = checked_tree(statement)
        plan = resolve(tree, snapshots)
        every = scans(plan)
        times_read = Counter(id(scan.place) for scan in every)
        found = analyse(plan)
        analyses = tuple(analysis for analysis in found if _may_be_cut(analysis, found, times_read))
        if not analyses or any(analysis.may_tie and analysis not in analyses for analysis in found):
            raise Refused(Reason.READ_TWICE)
        places = {id(scan.place): scan for scan in every}
        text = template_text(tree) + _views_text(every)
        return _Known(snapshots.definitions, analyses, tuple(places.values()), times_read, text, None)
    except Refused as refused:
        return _Known(snapshots.definitions, (), (), {}, "", refused.grounds)


def _grouped(statement: Statement, known: _Known) -> Grouped | Grounds:
    try:
        tree = checked_tree(statement)
        plan = resolve(tree, known, keeps_order=True)
        text = template_text(tree) + _views_text(scans(plan))
        return Grouped(text, plan, tuple((each.aggregate, analysed_groups(each.block)) for each in groupings(plan)))
    except Refused as refused:
        return refused.grounds


def _views_text(every: Iterable[Scan]) -> str:
    """Render the views that a query looks through: the same text over a redefined view is another template (rules 7, case 31)."""
    views = {reference.name: reference.view for scan in every for reference in scan.views}
    return "".join(
        f"{VIEW_MARK}{'.'.join(name)} ({', '.join(f'{each.source} AS {each.name} {each.type_name}' for each in view.columns)}) "
        f"IN {'.'.join(view.namespace)} AS {view.text}"
        for name, view in sorted(views.items(), key=lambda item: item[0])
    )
