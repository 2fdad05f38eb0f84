"""What is asked of the sketches for one block of a SELECT, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from imp_driver.capture.instrument import at_versions
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.parse.template import Template, make_template, text_and_names
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Scan
from imp_driver.plan.render import RelationOf
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis
from imp_driver.safety.cuts import Cut
from imp_driver.safety.partial import PartialCuts, name_in
from imp_driver.sketch.coverage import FileFragments
from imp_driver.sketch.sketch import Sketch
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Blocks
from imp_driver.state.maintained import Maintained
from imp_driver.values.cuts import CutName
from imp_driver.values.option_kinds import Policy, SketchMode
from imp_driver.values.options import Options
from imp_driver.values.ranges import RangePartition
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import TableSnapshot


@dataclass(frozen=True, slots=True)
class Request:
    """All that is known of one block of a SELECT when its sketch is asked for.

    Attributes:
        shape: the text without any constants, and the block's number.
        snapshots: every table that the block reads, by the name that its scans have.
        lifted: the same block with a state that does not depend on conditions on its keys; None when it has no such conditions.
        is_lifted: this request is about that.
        reuse: how a state with other constants comes to serve this request; empty when the state is the block's own.
        is_pinned: the versions are asked for, so no others will do, and they may be old ones.
        by_cost: leave out upkeep that costs more than it saves.
        is_named: the rows are those of an incremental view, which are captured when it is made.
        is_finer: others are merged from the groups, which Spark compares with one another: no query waits longer for them than for that.
        bucket_key: by ranges of which of its keys groups are kept in buckets where they are too many; empty where by none.
        bucket_ranges: those that others of the same query are kept by.
        keeps_conditions: none of the block's conditions is taken for that of a finer state, whatever its constants.
        tasks: how many tasks of the engine may read a table for it; None for all.
        zone: of the session's times, as the reading has it.
        names: what it is cut by; ``partial`` says what their sketches must cover where one of these is no group key.
    """

    template: Template
    analysis: Analysis
    block: BoundBlock
    snapshots: Mapping[tuple[str, ...], TableSnapshot]
    settings: tuple[tuple[str, str], ...]
    fragments: int
    shape: tuple[str, int] = ("", 0)
    lifted: BoundBlock | None = None
    is_lifted: bool = False
    reuse: str = ""
    names: tuple[CutName, ...] = ()
    partial: PartialCuts | None = None
    by_cost: bool = False
    is_named: bool = False
    is_pinned: bool = False
    is_finer: bool = False
    bucket_key: str = ""
    bucket_ranges: RangePartition | None = None
    keeps_conditions: bool = False
    tasks: int | None = None
    zone: str = ""

    @property
    def is_ansi(self) -> bool:
        """Whether an overflow and a division by 0 are errors; unset it is so, since Spark 4."""
        return dict(self.settings).get("spark.sql.ansi.enabled", "None") in ("true", "None")

    @property
    def relation(self) -> RelationOf:
        """What stands in a query of the driver's own for a scan."""
        return at_versions(self.versions, self.tasks)

    @property
    def tables(self) -> tuple[TableSnapshot, ...]:
        """Each table once, however many names it has."""
        return tuple({snapshot.location: snapshot for snapshot in self.snapshots.values()}.values())

    @property
    def versions(self) -> dict[tuple[str, ...], int]:
        return {name: snapshot.version for name, snapshot in self.snapshots.items()}

    @property
    def bytes(self) -> int:
        """Bytes of the files of the block's tables, as often as it reads them."""
        return sum(int(self.snapshots[scan.table].files.sizes.sum()) for scan in self.analysis.scans)

    @property
    def type_names(self) -> dict[str, str | None]:
        """Delta type names by the names that the block uses."""
        source = self.block.source
        return {(each.name if isinstance(source, Scan) else each.identifier): each.type_name for each in source.output}

    def cuts_of(self, name: CutName) -> tuple[Cut, ...]:
        """Return the occurrences that a cut is on."""
        if name.key is not None:
            return self.analysis.cuts[name.key]
        scan = self.analysis.scans[name.place]
        return (Cut(scan, next(each for each in scan.output if each.name == name.column)),)

    def has_cut(self, name: CutName) -> bool:
        """Say whether the block has an attribute to be cut; a name of a former process may be of another reading of the text."""
        if name.key is not None:
            return name.key in self.analysis.cuts
        scans = self.analysis.scans
        return 0 <= name.place < len(scans) and any(each.name == name.column for each in scans[name.place].output)

    def attribute_of(self, name: CutName) -> str:
        """Return what people call an attribute that is cut."""
        return self.cuts_of(name)[0].attribute.name

    def column_of(self, name: CutName) -> str:
        """Return what the block calls a cut column that is no key."""
        return name_in(self.analysis.plan, self.cuts_of(name)[0])

    @property
    def rows(self) -> int:
        """Rows of all tables together; 0 for what is not known."""
        return sum(snapshot.row_count or 0 for snapshot in self.tables)


def request_of(reading: Reading, analysis: Analysis, blocks: Blocks, template_text: str, number: int, options: Options) -> Request:
    """Return what is asked for one block of a query; ``number`` tells it from the other blocks of the text."""
    snapshots = snapshots_of(reading, analysis)
    identity = tuple((snapshot.location, snapshot.table_id) for snapshot in snapshots.values())
    template = make_template(template_text, identity, reading.settings, number)
    block, wide = blocks
    by_cost = options.policy is Policy.AUTO and options.sketch is not SketchMode.SHADOW
    fragments, is_pinned = options.fragments, reading.is_pinned
    shape = (text_and_names(reading.statement)[0], number)
    settings, zone = reading.settings, reading.zone
    return Request(template, analysis, block, snapshots, settings, fragments, shape, wide, by_cost=by_cost, is_pinned=is_pinned, zone=zone)


def snapshots_of(reading: Reading, analysis: Analysis) -> dict[tuple[str, ...], TableSnapshot]:
    """Return the tables of a block as a reading has them, by the names of its scans."""
    return {scan.table: reading.tables[scan.table].snapshot for scan in analysis.scans}


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One use of a state, kept to maintain it without a query. ``request`` has no snapshots: the file statistics of old versions are large.

    ``locations`` are by the name that scans have; ``at`` is in seconds of a clock that never goes back.
    """

    request: Request
    locations: Mapping[tuple[str, ...], str]
    at: float

    @classmethod
    def of(cls, request: Request, at: float) -> Use:
        return cls(replace(request, snapshots={}), {name: each.location for name, each in request.snapshots.items()}, at)

    def request_at(self, snapshots: Mapping[str, TableSnapshot]) -> Request:
        """Return the request for other versions of its tables, given by location."""
        return replace(self.request, snapshots={name: snapshots[location] for name, location in self.locations.items()})


@dataclass(frozen=True, slots=True, eq=False)
class CutSketch:
    """The sketch by one of a block's cuts.

    Attributes:
        cuts: the occurrences that it cuts; ``files`` has the fragments of each one's files.
        rows: the relation's rows per fragment, the NULL fragment last.
    """

    name: CutName
    sketch: Sketch
    cuts: tuple[Cut, ...]
    files: tuple[FileFragments, ...]
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The sketches of a block, one for each of its cuts, at the versions of the request; ``reuse`` is that of what they were made for."""

    relation: Maintained
    upkeep: Upkeep
    sketches: tuple[CutSketch, ...]
    reuse: str = ""


def united(every: Sequence[Prepared]) -> Prepared:
    """Return one sketch that holds those of several states of a block, each by one cut.

    Raises:
        Refused: they are of different versions, or over different ranges.
    """
    if len(every) == 1:
        return every[0]
    sketches = [each.sketches[0] for each in every]
    first = sketches[0]
    if any(each.sketch.versions != first.sketch.versions for each in sketches):
        raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
    if any(each.sketch.partition != first.sketch.partition for each in sketches):
        raise Refused(Reason.CAPTURE_DEFERRED, "states of other constants would do, but they have different ranges")
    fragments, rows = first.sketch.fragments, first.rows
    for each in sketches[1:]:
        # A row that several states hold is counted more than once, which only makes the sketch look larger.
        fragments, rows = fragments.union(each.sketch.fragments), rows + each.rows
    return replace(every[0], sketches=(replace(first, sketch=replace(first.sketch, fragments=fragments), rows=rows),))
