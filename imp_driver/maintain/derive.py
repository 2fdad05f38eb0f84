"""State -> sketches of one query: HAVING, top-k and merge evaluated over all groups in one vectorised pass.

The state does not depend on the constants above the groups, so a query with other constants needs no capture (sketch-safety rules 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imp_driver.capture.clustering import cut_files
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.bounds.condition import GroupValues, evaluate
from imp_driver.dataflow.bounds.topk import OrderedGroups, retain_top, undecided_boundary
from imp_driver.dataflow.bounds.truth import Truth
from imp_driver.maintain.request import CutSketch, Request
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Reason
from imp_driver.sketch.coverage import FileFragments
from imp_driver.sketch.cut_groups import Cut, CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.sketch.merge import Merge
from imp_driver.sketch.sketch import Sketch
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import Derived
from imp_driver.values.codes import BooleanArray, IntegerArray
from imp_driver.values.cuts import CutName
from imp_driver.values.refusal import Refused

_TRUE = Truth(np.ones(1, dtype=bool), np.zeros(1, dtype=bool), np.zeros(1, dtype=bool))


def known_sketches(relation: Maintained, groups: CutGroups, names: Sequence[CutName], block: BoundBlock, *, may_tie: bool) -> list[Derived]:
    """Return the sketch by each of some cuts, with the rows per fragment; kept for the next query of the same versions and constants.

    Before a new version's sketch, ranges of a key with very unequal rows are cut anew.

    Raises:
        Refused: ``may_tie`` says that the order leaves ties, and there may be one where the top-k begins or ends.
    """
    asked = _Asked(groups.state, block, constants_of(block, may_tie=may_tie), may_tie)
    return [_known(relation, groups.cuts[name], name, asked) for name in names]


@dataclass(slots=True, eq=False)
class _Asked:
    """What is asked of all groups, at most once for all cuts."""

    state: GroupState
    block: BoundBlock
    constants: str
    may_tie: bool
    _retained: BooleanArray | None = None

    def retained(self) -> BooleanArray:
        """Return which groups may be in the block's answer. Raises Refused as ``known_sketches``."""
        if self._retained is None:
            check_decided(self.state, self.block, may_tie=self.may_tie)
            self._retained = retained_groups(self.state, self.block)
        return self._retained


def _known(relation: Maintained, cut: Cut, name: CutName, asked: _Asked) -> Derived:
    sketches = relation.sketches(name)
    known = sketches.newest
    if known is not None and known.vector == relation.vector and known.constants == asked.constants:
        return known
    # What has changed since is taken from the cut below: interrupted there, the known one would lack it.
    sketches.put_aside()
    merged = None
    if isinstance(cut, KeyCut):
        touched = cut.take_touched()
        cut.rebalance(name.fragments)
        merged = None if asked.block.limit is not None else _merged(known, cut, asked, touched)
    fragments = cut.sketch(asked.retained()) if merged is None else merged.fragments()
    versions = {location: table.version for location, table in relation.vector.items()}
    sketch = Sketch(versions, cut.attribute, cut.partition, fragments)
    return sketches.add(Derived(relation.vector, asked.constants, sketch, cut.fragment_rows(), merged))


def located(relation: Maintained, request: Request, name: CutName, derived: Derived) -> CutSketch:
    """Return a sketch with the fragments of the files that it cuts."""
    cuts, partition = request.cuts_of(name), derived.sketch.partition

    def locate() -> Iterator[FileFragments]:
        return (FileFragments.locate(files, column, partition) for files, column in cut_files(cuts, request.snapshots))

    files = relation.sketches(name).files(derived, request.template.identifier, locate)
    return CutSketch(name, derived.sketch, cuts, files, derived.rows)


def constants_of(block: BoundBlock, *, may_tie: bool) -> str:
    """Return what a sketch depends on beside the state; as text, since 1, 1.0 and TRUE are equal in Python and not in Spark."""
    return repr((block.having, block.order, block.limit, block.offset, may_tie))


def _merged(known: Derived | None, cut: KeyCut, asked: _Asked, touched: IntegerArray) -> Merge:
    """Return which groups may pass: of the known ones those that changed since are asked again, where the rest is the same."""
    if known is None or known.merged is None or known.constants != asked.constants or known.sketch.partition is not cut.partition:
        return Merge(asked.retained(), cut.fragment, cut.partition.fragments)
    some = asked.state.only(touched)
    retained = _truth(some, asked.block).broadcast(len(touched)).may_be_true & (some.rows > 0)
    known.merged.update(touched, retained, cut.fragment[touched])
    return known.merged


def check_decided(state: GroupState, block: BoundBlock, *, may_tie: bool) -> None:
    """Raise Refused where the order leaves ties, and there may be one where the top-k begins or ends."""
    if may_tie and block.limit is not None:
        row = undecided_boundary(state, _truth(state, block), block.order, (block.offset, block.limit))
        if row is not None:
            raise Refused(Reason.TIE_AT_LIMIT, f"rows {row} and {row + 1}; a tie-break at the end of ORDER BY would decide")


def retained_groups(groups: OrderedGroups, block: BoundBlock) -> BooleanArray:
    """Return which groups may be in the block's answer."""
    truth = _truth(groups, block)
    return truth.may_be_true & groups.alive if block.limit is None else retain_top(groups, truth, block.order, block.limit)


def _truth(groups: GroupValues, block: BoundBlock) -> Truth:
    return _TRUE if block.condition is None else evaluate(block.condition, groups)
