"""The life of a relation: what it is after each transition, and after one that was interrupted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.circuit.circuit import circuit_of
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.reasons import RecaptureReason
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.sketch.sketch import Sketch
from imp_driver.snapshot.vector import TableState, Vector
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import KEPT, Derived, SketchCache
from imp_driver.state.values import Cause, Identity
from imp_driver.values.cuts import CutName
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of

PARTITION = RangePartition(pa.int32(), (5,))


def _block(text: str = "SELECT g FROM t GROUP BY g HAVING count(*) > 1") -> BoundBlock:
    analysis = analysis_of(text, (SchemaColumn("g", "integer", True), SchemaColumn("x", "long", True)))
    return bind(analysis.block, None, analysis.columns)


def _vector(version: int) -> Vector:
    return {"/t": TableState("t", version, 3)}


def _captured() -> Maintained:
    relation = Maintained(Identity("key", "template", "SELECT", "t", "/t", "family", "prefix", "source"))
    state = GroupState.capture((pa.array([1, 7], pa.int32()),), pa.array([1, 2]), {}, (), (pa.int32(),))
    relation.captured(CutGroups(state, {CutName(2, 0): KeyCut(state, 0, PARTITION, "g")}), _block(), (pa.int32(),), _vector(0))
    return relation


def test_it_has_groups_from_its_capture_on() -> None:
    relation = _captured()
    assert (relation.is_ready, relation.groups, relation.version, relation.usage.counts.captures) == (True, 2, 0, 1)
    assert (relation.cause, relation.attempts.failure, relation.is_saved) == (None, None, False)


def test_while_a_step_changes_them_groups_are_held_and_not_ready() -> None:
    relation = _captured()
    with relation.changing() as contents:
        assert (relation.is_held, relation.is_ready, relation.contents, relation.state) == (True, False, None, None)
        relation.advanced(_vector(1), None, 5)
    assert relation.contents is contents
    assert (relation.version, relation.usage.counts.maintained, relation.usage.counts.delta_rows) == (1, 1, 5)


@pytest.mark.parametrize("end", [KeyboardInterrupt, RuntimeError])
def test_a_step_that_is_interrupted_leaves_no_groups_and_no_tables_that_may_be_changed_in_part(end: type[BaseException]) -> None:
    join = _block("SELECT t.g, sum(s.x) FROM t JOIN s ON t.g = s.g GROUP BY t.g HAVING sum(s.x) > 1")
    relation, sides = _captured(), circuit_of(join, (pa.int32(),))
    assert sides is not None
    with relation.changing():
        relation.advanced(_vector(1), sides, 0)
    assert relation.circuit is sides
    with pytest.raises(end), relation.changing():
        raise end
    assert (relation.is_held, relation.is_ready, relation.memory) == (False, False, 0)


def test_an_invalid_one_stays_in_service_until_it_is_captured_again() -> None:
    relation = _captured()
    relation.invalidated(Cause(RecaptureReason.INEXACT_STATE, "2 groups"))
    assert (relation.is_held, relation.is_in_service, relation.attempts.needs_deep_buffers) == (False, True, True)
    assert relation.version == 0
    again = _captured().contents
    assert again is not None
    relation.captured(again, _block(), (pa.int32(),), _vector(3))
    assert (relation.cause, relation.version, relation.attempts.needs_deep_buffers) == (None, 3, True)


def test_what_is_given_up_is_of_no_version() -> None:
    relation = _captured()
    relation.invalidated()
    assert (relation.is_in_service, relation.vector, relation.version) == (False, {}, None)


def test_what_is_in_use_or_not_saved_is_not_parked() -> None:
    relation = _captured()
    assert relation.parked() == 0
    assert relation.is_ready


def _derived(version: int, constants: str = "") -> Derived:
    return Derived(_vector(version), constants, Sketch({"/t": version}, "g", PARTITION, FragmentSet.of([0], 3)), np.zeros(3, np.int64))


def test_a_few_older_sketches_are_kept() -> None:
    cache = SketchCache()
    every = [cache.add(_derived(version)) for version in range(KEPT + 3)]
    assert cache.newest is every[-1]
    assert [derived.vector for derived in cache.every] == [_vector(version) for version in range(2, KEPT + 3)]
    assert cache.find(_vector(3), "") is not None
    assert (cache.find(_vector(1), ""), cache.find(_vector(3), "other")) == (None, None)
    assert cache.memory == sum(derived.memory for derived in cache.every)
    cache.put_aside()
    assert cache.newest is None
    assert cache.find(_vector(KEPT + 2), "") is not None
