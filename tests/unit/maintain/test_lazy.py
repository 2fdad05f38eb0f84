"""Bringing state up to date, on fakes: what is maintained, what is captured again; an interruption leaves no half-applied delta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.errors import CANCELLED, OperationalError
from imp_driver.maintain.derive import known_sketches
from imp_driver.maintain.request import Request
from imp_driver.maintain.step import bring_up_to_date
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.template import Template
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.safety.analysis import Analysis
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.sketch.merge import Merge
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.admission import Admission
from imp_driver.state.costs import Costs
from imp_driver.state.maintained import Maintained
from imp_driver.state.sketches import Derived
from imp_driver.state.values import Identity
from imp_driver.values.cuts import CutName
from imp_driver.values.ranges import equi_depth
from imp_driver.values.refusal import Refused
from imp_driver.values.stopwatch import Stopwatch
from imp_driver.values.tables import ChangePlan, ChangesUnavailable, SchemaColumn, TableSnapshot, ZSet
from imp_driver.values.view_policy import ViewPolicy
from tests.unit.tables import analysis_of

SCHEMA = (SchemaColumn("g", "integer", True), SchemaColumn("x", "long", True))


class NoFiles:
    """Statistics of a table without files."""

    sizes = np.zeros(0, np.int64)
    rows = np.zeros(0, np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        return pa.array([], pa.int32()), pa.array([], pa.int32()), np.zeros(0, np.int64)


class FakeSource:
    """One commit of signed rows per version after 0."""

    def __init__(self, commits: list[list[tuple[int | None, int | None, int]]], refuse: RecaptureReason | None = None) -> None:
        self.commits = commits
        self.refuse = refuse
        self.source = DeltaSource.CHANGE_FEED
        self.relation: str | None = None
        self.columns: frozenset[str] | None = None

    def snapshot(self, location: str) -> TableSnapshot:
        rows = sum(weight for commit in self.commits for _, _, weight in commit)
        return TableSnapshot(location, "id", len(self.commits) - 1, SCHEMA, rows, NoFiles())

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        if self.refuse is not None:
            raise ChangesUnavailable(self.refuse, "refused")
        count = sum(len(commit) for commit in self.commits[from_version + 1 : to_version + 1])
        return ChangePlan(location, from_version, to_version, self.source, count, self.relation, self.columns)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        return signed([row for commit in self.commits[plan.from_version + 1 : plan.to_version + 1] for row in commit])

    def rows_with(self, snapshot: TableSnapshot, columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
        return None

    def snapshot_at(self, location: str, version: int) -> TableSnapshot:
        raise AssertionError("not asked for")

    def version_at(self, location: str, moment: float) -> int:
        raise AssertionError("not asked for")

    def commit_digest(self, location: str, version: int) -> str | None:
        return f"{location} {version}"

    def commit_metrics(self, location: str, version: int) -> dict[str, int]:
        return {}


def signed(rows: list[tuple[int | None, int | None, int]]) -> ZSet:
    table = pa.table({"g": pa.array([row[0] for row in rows], pa.int32()), "x": pa.array([row[1] for row in rows], pa.int64())})
    return ZSet(table, np.array([row[2] for row in rows], np.int64))


def analysed(condition: str) -> Analysis:
    return analysis_of(f"SELECT g FROM t WHERE x <> 0 GROUP BY g HAVING {condition}", SCHEMA)


def block_of(condition: str) -> BoundBlock:
    analysis = analysed(condition)
    return bind(analysis.block, None, analysis.columns)


BLOCK = block_of("sum(x) > 10")


def no_reader(text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
    raise AssertionError(f"Spark was asked: {text}")


KEY = CutName(100, 0)


def sketch_of(relation: Maintained, block: BoundBlock, *, may_tie: bool = False) -> Derived:
    assert relation.in_memory is not None
    (found,) = known_sketches(relation, relation.in_memory, [KEY], block, may_tie=may_tie)
    return found


def new_relation() -> Maintained:
    return Maintained(Identity("key", "template", "text", "t", "/t", "family", "prefix", "source"))


def capture_into(relation: Maintained, source: FakeSource) -> Callable[[], None]:
    def capture() -> None:
        sums: dict[int | None, list[int]] = {}
        for commit in source.commits:
            for g, x, weight in commit:
                if x is not None and x != 0:
                    group = sums.setdefault(g, [0, 0])
                    group[0] += weight
                    group[1] += weight * x
        alive = {g: group for g, group in sums.items() if group[0]}
        keys = pa.array(list(alive), pa.int32())
        rows = pa.array([group[0] for group in alive.values()], pa.int64())
        parts = {(0, "count"): rows, (0, "sum"): pa.array([group[1] for group in alive.values()], pa.int64())}
        specifications = tuple(aggregate.specification for aggregate in BLOCK.aggregates)
        state = GroupState.capture((keys,), rows, parts, specifications, (pa.int32(),))
        relation.captured(
            CutGroups(state, {KEY: KeyCut(state, 0, equi_depth(keys, np.ones(len(keys), np.int64), 100), "g")}),
            BLOCK,
            (pa.int32(),),
            vector_of([source.snapshot("/t")]),
        )

    return capture


def update(relation: Maintained, source: FakeSource, read: Callable[..., pa.Table] = no_reader) -> Upkeep:
    request = Request(Template("t", "text"), analysed("sum(x) > 10"), BLOCK, {("t",): source.snapshot("/t")}, (), 100, names=(KEY,))
    return bring_up_to_date(relation, request, source, Means(read, Stopwatch()), capture_into(relation, source))


def kept(relation: Maintained, block: BoundBlock = BLOCK, *, may_tie: bool = False) -> set[int]:
    assert relation.state is not None
    return set(sketch_of(relation, block, may_tie=may_tie).sketch.fragments.members().tolist())


def test_capture_then_fresh_then_maintained() -> None:
    source = FakeSource([[(1, 20, 1), (2, 5, 1), (3, 30, 1)]])
    relation = new_relation()
    assert update(relation, source) == Upkeep(Decision.CAPTURED, None)
    assert kept(relation) == {0, 2}
    assert kept(relation, block_of("sum(x) < 10")) == {1}
    assert update(relation, source).decision is Decision.FRESH
    source.commits.append([(1, 20, -1), (2, 5, 1), (2, 1, 1), (3, 0, 1)])
    assert update(relation, source) == Upkeep(Decision.MAINTAINED, 0, 4, DeltaSource.CHANGE_FEED)
    # The range of the group that is gone is one of three, so that the others are cut anew.
    assert kept(relation) == {0, 1}
    assert relation.version == 1


def test_top_that_ties_where_it_ends_has_no_sketch_until_the_tie_is_gone() -> None:
    source = FakeSource([[(1, 20, 1), (2, 5, 1), (3, 30, 1)]])
    relation = new_relation()
    update(relation, source)
    analysis = analysis_of("SELECT g FROM t WHERE x <> 0 GROUP BY g ORDER BY sum(x) DESC LIMIT 1 OFFSET 1", SCHEMA)
    block = bind(analysis.block, None, analysis.columns)
    assert analysis.may_tie
    assert kept(relation, block, may_tie=True) == {0, 2}
    for change, rows in (((2, 15, 1), "rows 2 and 3"), ((1, 10, 1), "rows 1 and 2")):
        source.commits.append([change])
        update(relation, source)
        with pytest.raises(Refused) as caught:
            kept(relation, block, may_tie=True)
        assert caught.value.reason is Reason.TIE_AT_LIMIT
        assert caught.value.detail.startswith(rows)
    source.commits.append([(3, 1, 1)])
    update(relation, source)
    assert kept(relation, block, may_tie=True) == {0, 2}


@pytest.mark.parametrize("reason", [RecaptureReason.RESTORED, RecaptureReason.HISTORY_GONE])
def test_what_cannot_be_maintained_is_captured_again(reason: RecaptureReason) -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([(2, 20, 1)])
    source.refuse = reason
    upkeep = update(relation, source)
    assert (upkeep.decision, upkeep.recapture_reason) == (Decision.RECAPTURED, reason)
    assert relation.version == 1


def test_another_table_in_the_same_place_is_captured_again() -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    relation._vector = {location: replace(table, table_id="another") for location, table in relation.vector.items()}
    assert update(relation, source).recapture_reason is RecaptureReason.TABLE_REPLACED


@pytest.mark.parametrize(("columns", "reason"), [({"g", "x", "other"}, None), ({"g", "other"}, RecaptureReason.TABLE_REPLACED)])
def test_a_column_that_became_another_one_is_captured_again_though_no_row_changed(
    columns: set[str], reason: RecaptureReason | None
) -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([])
    source.source, source.columns = DeltaSource.NONE, frozenset(columns)
    assert update(relation, source).recapture_reason is reason


def test_the_policies_of_views() -> None:
    """STRICT: what cannot be followed is an error from then on, and costs no capture; FULL: a capture for each version."""
    source, strict, full = FakeSource([[(1, 20, 1)]]), new_relation(), new_relation()
    strict.named(("v",), ViewPolicy.STRICT)
    full.named(("v",), ViewPolicy.FULL)
    assert [update(each, source).decision for each in (strict, full)] == [Decision.CAPTURED] * 2
    source.commits.append([(2, 20, 1)])
    assert update(strict, source).decision is Decision.MAINTAINED
    assert update(full, source).recapture_reason is RecaptureReason.POLICY_FULL
    assert update(full, source).decision is Decision.FRESH
    source.refuse = RecaptureReason.RESTORED
    source.commits.append([(2, 30, 1)])
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            update(strict, source)
        assert caught.value.reason is Reason.NOT_FOLLOWED
        assert "RESTORED" in caught.value.detail
    strict.named(("v",), ViewPolicy.INCREMENTAL)
    assert update(strict, source).recapture_reason is RecaptureReason.RESTORED


def test_a_view_is_captured_again_at_once_where_other_states_are_put_off() -> None:
    decisions = []
    for policy in (None, ViewPolicy.AUTO):
        source, relation = FakeSource([[(1, 20, 1)]]), new_relation()
        relation.named(("v",), policy)
        update(relation, source)
        source.refuse = RecaptureReason.NOT_INCREMENTAL
        source.commits.append([(2, 20, 1)])
        try:
            decisions.append(update(relation, source).decision.name)
        except Refused as refused:
            decisions.append(refused.reason.name)
    assert decisions == ["RECAPTURE_DEFERRED", "RECAPTURED"]


def test_a_feed_that_lost_rows_is_noticed_by_the_row_count() -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([(2, 20, 1), (2, 30, 1)])
    source.read = lambda plan, columns: signed([(2, 20, 1)])  # type: ignore[method-assign]
    assert update(relation, source).recapture_reason is RecaptureReason.ROW_COUNT_DIFFERS


def test_deleting_rows_that_were_never_there_is_noticed() -> None:
    source = FakeSource([[(1, 20, 1), (2, 1, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([(1, 1, 1)])
    source.read = lambda plan, columns: signed([(7, 20, -1), (1, 1, 1), (1, 1, 1)])  # type: ignore[method-assign]
    assert update(relation, source).recapture_reason is RecaptureReason.CHANGES_CONTRADICT


def test_empty_delta_reads_nothing() -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([])
    source.source = DeltaSource.NONE
    assert update(relation, source) == Upkeep(Decision.MAINTAINED, 0, 0, DeltaSource.NONE)


def test_a_cancelled_read_leaves_the_state_as_it_was() -> None:
    source = FakeSource([[(1, 20, 1)]])
    relation = new_relation()
    update(relation, source)
    source.commits.append([(1, 1, 1)])
    source.source, source.relation = DeltaSource.SPARK_CHANGE_FEED, "(SELECT 1)"

    def cancelled(text: str, view: str | None = None, rows: pa.Table | None = None) -> pa.Table:
        raise OperationalError("cancelled", error_class=CANCELLED)

    with pytest.raises(OperationalError):
        update(relation, source, cancelled)
    assert relation.version == 0
    source.source, source.relation = DeltaSource.CHANGE_FEED, None
    assert update(relation, source).decision is Decision.MAINTAINED


def test_other_row_conditions_are_captured_when_asked_again() -> None:
    admission = Admission()
    assert [admission.admits(key, {"t": 1}) for key in ("a", "b", "b", "c", "a")] == [True, False, True, False, True]
    assert admission.admits("z", {"other": 1})
    # Of what differs in any constant some are captured at once.
    assert [admission.admits("r", {"t": 1}, run) for run in ("one", "one", "two", "two", "one")] == [False, False, True, True, True]
    assert [admission.admits("s", {"u": 1}, run) for run in ("one", "one")] == [True, True]
    assert not admission.admits("s2", {"u": 1}, "one")
    assert [admission.is_first("f", run) for run in ("one", "one", None, None)] == [True, True, False, False]
    assert [admission.admits(f"k{number}", {f"t{number}": 1, "shape": 3}) for number in (1, 2, 3, 4, 4)] == [True, True, True, False, True]


def _expensive(relation: Maintained, source: FakeSource, captured: float, saved: float) -> Request:
    """Capture at version 0, let maintenance look slow, and return the request for the newest version."""
    first = FakeSource(source.commits[:1])
    update(relation, first)
    relation.costs = Costs(captured, saved)
    for _ in range(3):
        relation.costs.note_maintenance(1, 1.0)
    request = Request(Template("t", "text"), analysed("sum(x) > 10"), BLOCK, {("t",): source.snapshot("/t")}, (), 100, names=(KEY,))
    return replace(request, by_cost=True)


def test_upkeep_that_costs_more_than_it_saves_waits_for_a_second_query_of_the_same_version() -> None:
    source, relation = FakeSource([[(1, 7, 1)], [(1, 8, 1)]]), new_relation()
    request = _expensive(relation, source, captured=5.0, saved=0.1)
    relation.costs.all_saved = 3.0
    with pytest.raises(Refused) as refused:
        bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source))
    assert refused.value.reason is Reason.MAINTENANCE_DEFERRED
    assert relation.state is not None
    assert relation.version == 0
    upkeep = bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source))
    assert (upkeep.decision, relation.version) == (Decision.MAINTAINED, 1)


def test_a_state_that_has_cost_more_than_it_saved_is_given_up_until_more_queries_ask_for_a_version() -> None:
    source, relation = FakeSource([[(1, 7, 1)], [(1, 8, 1)]]), new_relation()
    request = _expensive(relation, source, captured=5.0, saved=0.1)
    for _ in range(3):
        with pytest.raises(Refused) as refused:
            bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source))
        assert refused.value.reason is Reason.GIVEN_UP
    assert relation.version == 0
    relation.costs.queries = 20.0
    upkeep = bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source))
    assert (upkeep.decision, relation.version) == (Decision.MAINTAINED, 1)


def test_a_state_is_captured_again_where_that_is_cheaper() -> None:
    source, relation = FakeSource([[(1, 7, 1)], [(1, 8, 1)]]), new_relation()
    request = _expensive(relation, source, captured=0.1, saved=5.0)
    upkeep = bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source))
    assert (upkeep.decision, upkeep.recapture_reason) == (Decision.RECAPTURED, RecaptureReason.COSTS_MORE)
    assert relation.costs.captured is not None
    assert relation.costs.captured < 0.1


def test_without_the_rule_it_is_maintained_whatever_it_costs() -> None:
    source, relation = FakeSource([[(1, 7, 1)], [(1, 8, 1)]]), new_relation()
    request = replace(_expensive(relation, source, captured=0.1, saved=0.0), by_cost=False)
    assert (
        bring_up_to_date(relation, request, source, Means(no_reader, Stopwatch()), capture_into(relation, source)).decision
        is Decision.MAINTAINED
    )


def test_the_newest_sketch_is_kept_for_the_same_versions_and_constants() -> None:
    source, relation = FakeSource([[(1, 7, 1), (2, 30, 1)]]), new_relation()
    update(relation, source)
    assert relation.state is not None
    first = sketch_of(relation, BLOCK)
    assert sketch_of(relation, block_of("sum(x) > 10")) is first
    for other in ("sum(x) > 5", "sum(x) > 10.0"):
        assert sketch_of(relation, block_of(other)).constants != first.constants
    source.commits.append([(1, 8, 1)])
    sketch_of(relation, BLOCK)
    update(relation, source)
    assert sketch_of(relation, BLOCK).sketch.fragments.count > first.sketch.fragments.count


def test_a_sketch_whose_making_was_interrupted_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    source, relation = FakeSource([[(1, 7, 1), (2, 30, 1)]]), new_relation()
    update(relation, source)
    assert relation.state is not None
    first = sketch_of(relation, BLOCK).sketch.fragments
    source.commits.append([(1, 8, 1)])
    update(relation, source)
    with monkeypatch.context() as patch:
        patch.setattr(Merge, "update", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            sketch_of(relation, BLOCK)
    assert sketch_of(relation, BLOCK).sketch.fragments.count > first.count


def test_what_changed_does_not_pile_up_below_a_top_k() -> None:
    source, relation = FakeSource([[(1, 7, 1), (2, 30, 1)]]), new_relation()
    update(relation, source)
    assert relation.state is not None
    source.commits.append([(1, 8, 1)])
    update(relation, source)
    sketch_of(relation, replace(BLOCK, limit=1))
    key_cut = relation.in_memory.cuts[KEY] if relation.in_memory is not None else None
    assert isinstance(key_cut, KeyCut)
    assert len(key_cut.take_touched()) == 0


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
