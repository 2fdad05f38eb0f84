"""State -> sketch of one query: HAVING, top-k and merge evaluated over all groups in one vectorised pass.

The state does not depend on the constants above the groups, so a query with other constants needs no capture (sketch-safety rules 2).
"""

from __future__ import annotations

import numpy as np

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.bounds.condition import GroupValues, evaluate
from imp_driver.dataflow.bounds.topk import OrderedGroups, retain_top, undecided_boundary
from imp_driver.dataflow.bounds.truth import Truth
from imp_driver.dataflow.merge import Merge
from imp_driver.parse.supported import Refused
from imp_driver.plan.bind import BoundBlock
from imp_driver.reasons import Reason
from imp_driver.sketch.codes import BooleanArray, IntegerArray
from imp_driver.sketch.fragments import FragmentSet
from imp_driver.sketch.sketch import Sketch
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import Derived

_TRUE = Truth(np.ones(1, dtype=bool), np.zeros(1, dtype=bool), np.zeros(1, dtype=bool))


def known_sketch(relation: Maintained, state: GroupState, block: BoundBlock, fragments: int, *, may_tie: bool) -> Derived:
    """Return what ``derive_sketch`` does and the rows per fragment; kept for the next query of the same versions and constants.

    Before a new version's sketch, ranges of very unequal rows are cut anew, into at most ``fragments``.
    """
    constants = constants_of(block, may_tie=may_tie)
    known = relation.sketches.newest
    if known is not None and known.vector == relation.vector and known.constants == constants:
        return known
    # What has changed since is taken from the state below: interrupted there, the known one would lack it.
    relation.sketches.put_aside()
    touched = state.take_touched()
    state.rebalance(fragments)
    merged = _merged(known, state, block, constants, touched) if block.limit is None and state.is_aligned else None
    sketch = derive_sketch(relation, state, block, may_tie=may_tie) if merged is None else _sketch(relation, state, merged.fragments())
    return relation.sketches.add(Derived(relation.vector, constants, sketch, state.fragment_rows(), merged))


def constants_of(block: BoundBlock, *, may_tie: bool) -> str:
    """Return what a sketch depends on beside the state; as text, since 1, 1.0 and TRUE are equal in Python and not in Spark."""
    return repr((block.having, block.order, block.limit, block.offset, may_tie))


def _merged(known: Derived | None, state: GroupState, block: BoundBlock, constants: str, touched: IntegerArray) -> Merge:
    """Return which groups may pass: of the known ones those that changed since are asked again, where the rest is the same."""
    if known is None or known.merged is None or known.constants != constants or known.sketch.partition is not state.partition:
        return Merge(retained_groups(state, block), state.fragment, state.partition.fragments)
    some = state.only(touched)
    retained = _truth(some, block).broadcast(len(touched)).may_be_true & (some.rows > 0)
    known.merged.update(touched, retained, state.fragment[touched])
    return known.merged


def derive_sketch(relation: Maintained, state: GroupState, block: BoundBlock, *, may_tie: bool) -> Sketch:
    """Return the sketch of all groups that may be in the block's answer at the state's versions; the caller holds the relation.

    Raises:
        Refused: ``may_tie`` says that the order leaves ties, and there may be one where the top-k begins or ends.
    """
    if may_tie and block.limit is not None:
        row = undecided_boundary(state, _truth(state, block), block.order, (block.offset, block.limit))
        if row is not None:
            raise Refused(Reason.TIE_AT_LIMIT, f"rows {row} and {row + 1}; a tie-break at the end of ORDER BY would decide")
    return _sketch(relation, state, state.sketch(retained_groups(state, block)))


def _sketch(relation: Maintained, state: GroupState, fragments: FragmentSet) -> Sketch:
    versions = {location: table.version for location, table in relation.vector.items()}
    return Sketch(versions, relation.identity.attribute, state.partition, fragments)


def retained_groups(groups: OrderedGroups, block: BoundBlock) -> BooleanArray:
    """Return which groups may be in the block's answer."""
    truth = _truth(groups, block)
    return truth.may_be_true & groups.alive if block.limit is None else retain_top(groups, truth, block.order, block.limit)


def _truth(groups: GroupValues, block: BoundBlock) -> Truth:
    return _TRUE if block.condition is None else evaluate(block.condition, groups)
