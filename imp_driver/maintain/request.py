"""What is asked of the sketches for one block of a SELECT, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from imp_driver.delta.contract import TableSnapshot
from imp_driver.delta.coverage import FileFragments
from imp_driver.maintain.upkeep import Upkeep
from imp_driver.parse.supported import Refused
from imp_driver.parse.template import Template
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis
from imp_driver.safety.cuts import Cut
from imp_driver.safety.partial import PartialCut
from imp_driver.sketch.sketch import Sketch
from imp_driver.state.maintained import Maintained


@dataclass(frozen=True, slots=True)
class Request:
    """All that is known of one block of a SELECT when its sketch is asked for.

    Attributes:
        snapshots: every table that the block reads, by the name that its scans have.
        lifted: the same block with a state that does not depend on conditions on its keys; None when it has no such conditions.
        is_lifted: this request is about that.
        reuse: how a state with other constants comes to serve this request; empty when the state is the block's own.
        is_pinned: the versions are asked for, so no others will do, and they may be old ones.
        by_cost: leave out upkeep that costs more than it saves.
        partial: the cut, where it is on a column that is no group key; ``column`` is what the block calls that.
    """

    template: Template
    analysis: Analysis
    block: BoundBlock
    snapshots: Mapping[tuple[str, ...], TableSnapshot]
    settings: tuple[tuple[str, str], ...]
    fragments: int
    lifted: BoundBlock | None = None
    is_lifted: bool = False
    reuse: str = ""
    partial: PartialCut | None = None
    column: str = ""
    by_cost: bool = False
    is_pinned: bool = False

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
    def rows(self) -> int:
        """Rows of all tables together; 0 for what is not known."""
        return sum(snapshot.row_count or 0 for snapshot in self.tables)


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
class Prepared:
    """A sketch at the versions of the request.

    Attributes:
        cuts: the occurrences that the sketch cuts; ``files`` has the fragments of each one's files.
        rows: the state's rows per fragment, the NULL fragment last.
        reuse: that of the request which the sketch was made for.
    """

    relation: Maintained
    upkeep: Upkeep
    sketch: Sketch
    cuts: tuple[Cut, ...]
    files: tuple[FileFragments, ...]
    rows: npt.NDArray[np.int64]
    reuse: str = ""


def united(every: Sequence[Prepared]) -> Prepared:
    """Return one sketch that holds those of several states of a block.

    Raises:
        Refused: they are of different versions, or over different ranges.
    """
    first = every[0]
    if any(each.sketch.versions != first.sketch.versions for each in every):
        raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
    if any(each.sketch.partition != first.sketch.partition for each in every):
        raise Refused(Reason.CAPTURE_DEFERRED, "states of other constants would do, but they have different ranges")
    fragments, rows = first.sketch.fragments, first.rows
    for each in every[1:]:
        # A row that several states hold is counted more than once, which only makes the sketch look larger.
        fragments, rows = fragments.union(each.sketch.fragments), rows + each.rows
    return first if len(every) == 1 else replace(first, sketch=replace(first.sketch, fragments=fragments), rows=rows)
