"""The cuts that a query asks for, attached to the groups of its relation; those that nothing asks for any more, taken off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imp_driver.capture.capture import StateTooLarge
from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.capture import cut_by
from imp_driver.maintain.choices import Choices
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import Means
from imp_driver.reasons import Reason
from imp_driver.sketch.cells import CellCut
from imp_driver.state.maintained import Maintained
from imp_driver.values.cuts import CutName
from imp_driver.values.refusal import Refused


def cut_relation(relation: Maintained, request: Request, choices: Choices, means: Means, budget: int) -> Request:
    """Cut the groups of a relation, at the request's versions, by what is asked for; return the request with the cuts that there are.

    A column beside the first, which costs a query, is cut by from the second use on. Groups in buckets have one cut, by a key.

    Raises:
        Refused: the first cut is not to be had.
    """
    contents = relation.in_memory
    if contents is None:
        return _with_cut_of_buckets(relation, request)
    wanted = {*request.names, *choices.of_templates(relation.usage.templates)}
    for name, cut in contents.cuts.items():
        if name not in wanted or (isinstance(cut, CellCut) and cut.has_lost_balance):
            relation.detached(name)
    first, *others = request.names
    if first not in contents.cuts:
        _attach(relation, request, first, means, budget)
    there = [name for name in others if name in contents.cuts or _is_attached(relation, request, name, choices, means, budget)]
    return replace(request, names=(first, *there))


def _is_attached(relation: Maintained, request: Request, name: CutName, choices: Choices, means: Means, budget: int) -> bool:
    if relation.usage.counts.uses < 2:
        return False
    try:
        _attach(relation, request, name, means, budget)
    except Refused:
        choices.leave_out(request.template.identifier, name)
        return False
    return True


def _attach(relation: Maintained, request: Request, name: CutName, means: Means, budget: int) -> None:
    """Cut the groups of a relation in memory, at the request's versions, by one more column.

    Raises:
        Refused: Spark failed, there are too many cells, or what it answers is not of these groups.
    """
    contents = relation.in_memory
    assert contents is not None
    state = contents.state
    slots = np.flatnonzero(state.alive)
    try:
        with means.watch.stage("capture"):
            keys = tuple(state.key_values(place, slots) for place in range(len(relation.key_types)))
            cut = cut_by(name, request, state, keys, means.read, budget)
    except StateTooLarge as error:
        raise Refused(Reason.STATE_TOO_LARGE, str(error)) from error
    except (Error, StateCorrupt) as error:
        raise_if_cancelled(error)
        raise Refused(Reason.CAPTURE_FAILED, str(error).split("\n", 1)[0]) from error
    relation.attached(name, cut)


def _with_cut_of_buckets(relation: Maintained, request: Request) -> Request:
    """Return the request with the cut that groups in buckets have. Raises Refused where that is no cut of its block."""
    bucketed = relation.bucketed
    assert bucketed is not None
    if bucketed.name.key not in request.analysis.cuts:
        raise Refused(Reason.STATE_TOO_LARGE, f"the groups are in buckets by {bucketed.attribute}")
    return replace(request, names=(bucketed.name,))
