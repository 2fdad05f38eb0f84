"""What records say about a goal: the newest one counts, by its worse quartile, and only if all of it was measured and right."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks import surroundings
from benchmarks.catalogue import WORKLOADS
from benchmarks.goals import Assessment, Better, Captures, Code, Goal, Measure, Over, Verdict, assess, read_goals
from benchmarks.records import Case, Quantity, Record, Stage
from tests.unit.benchmarks.making import CODE, FULL, case, maintained, record, series

GOAL = Goal(
    what="maintenance against recapture",
    target=100,
    workload="joins",
    code=Code(of=("imp_driver",), without=("imp_driver/cli",), also=("benchmarks/protocol.py",)),
    of=Measure("FM", Quantity.CAPTURE),
    per=Measure("IMP", Quantity.MAINTENANCE),
)


def capturing(*captures: float) -> Case:
    """Return a case in which maintenance takes a millisecond."""
    return maintained(captures, (1.0,) * len(captures), join="1")


def verdict(goal: Goal, *cases: Case) -> Verdict:
    return assess(goal, [record(*cases)]).verdict


def test_the_lower_quartile_must_meet_a_goal() -> None:
    assert verdict(GOAL, capturing(90.0, 100.0, 100.0, 100.0, 200.0)) is Verdict.MET
    # The median does not help.
    assert verdict(GOAL, capturing(90.0, 99.0, 200.0, 300.0, 400.0)) is Verdict.MISSED


def test_where_less_is_better_it_is_the_upper_quartile() -> None:
    goal = replace(GOAL, better=Better.LOWER)
    assert verdict(goal, capturing(10.0, 20.0, 30.0, 100.0, 900.0)) is Verdict.MET
    assert verdict(goal, capturing(10.0, 20.0, 30.0, 101.0, 102.0)) is Verdict.MISSED


def test_every_case_must_meet_a_goal() -> None:
    assert verdict(GOAL, capturing(*(200.0,) * 10), capturing(*(99.0,) * 10)) is Verdict.MISSED


def test_the_newest_record_counts_and_not_the_best() -> None:
    worse = record(capturing(50.0, 60.0), date="2026-12-01T00:00:00Z")
    best = record(capturing(500.0, 600.0), date="2026-11-01T00:00:00Z")
    found = assess(GOAL, [best, worse])
    assert (found.verdict, found.newest, found.same_code, found.medians) == (Verdict.MISSED, worse, 2, (55.0, 550.0))


def test_the_range_is_that_of_records_of_the_same_code() -> None:
    other = record(capturing(500.0, 600.0), code=CODE | {"imp_driver/maintain": "2"})
    surface = record(capturing(70.0, 80.0), code=CODE | {"imp_driver/cli": "2"})
    found = assess(GOAL, [other, surface, record(capturing(50.0, 60.0))])
    assert (found.same_code, found.failed, found.medians) == (2, 0, (55.0, 75.0))


def test_code_that_comes_or_goes_is_other_code() -> None:
    moved = {path: digest for path, digest in CODE.items() if path != "imp_driver/maintain"} | {"imp_driver/circuit": "1"}
    assert assess(GOAL, [record(capturing(1.0), code=moved), record(capturing(2.0))]).same_code == 1


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (record(capturing(*(200.0,) * 10), is_dirty=True), Verdict.UNCOMMITTED),
        (record(capturing(*(200.0,) * 10), failure="OperationalError"), Verdict.FAILED),
        (record(capturing(*(200.0,) * 10), case(differences=("IMP against NS",))), Verdict.DIFFERENT),
        (record(maintained((200.0, 200.0), (1.0, None))), Verdict.INCOMPLETE),
        (record(case(series("FM", Quantity.CAPTURE, 200.0))), Verdict.INCOMPLETE),
        (record(), Verdict.INCOMPLETE),
    ],
    ids=lambda each: str(each) if isinstance(each, Verdict) else "",
)
def test_what_is_not_all_measured_right_and_committed_meets_no_goal(measured: Record, expected: Verdict) -> None:
    assert assess(GOAL, [measured]).verdict is expected


@pytest.mark.parametrize(
    "changes",
    [{"workload": "groups"}, {"options": FULL | {"rows": 100_000}}, {"options": FULL | {"repetitions": 9}}],
    ids=["another workload", "few rows", "few repetitions"],
)
def test_records_of_something_else_are_not_asked(changes: dict[str, object]) -> None:
    assert assess(GOAL, [record(capturing(200.0), **changes)]) == Assessment(GOAL, Verdict.NO_RECORD)


def test_all_cases_that_a_goal_names_must_be_there() -> None:
    goal = replace(GOAL, where={"join": ("1", "2")})
    fine = (200.0,) * 10
    assert verdict(goal, maintained(fine, (1.0,) * 10, join="1")) is Verdict.INCOMPLETE
    both = [maintained(fine, (1.0,) * 10, join=name) for name in ("1", "2")]
    assert verdict(goal, *both, maintained((1.0,), (1.0,), join="3")) is Verdict.MET
    crossed = replace(GOAL, where={"join": ("1", "2"), "delta": ("a", "b")})
    every = [maintained(fine, (1.0,) * 10, join=join, delta=delta) for join in ("1", "2") for delta in ("a", "b")]
    assert verdict(crossed, *every) is Verdict.MET
    assert verdict(crossed, *every[:-1]) is Verdict.INCOMPLETE


def test_cases_are_taken_together_by_repetition() -> None:
    cases = [maintained((4.0, 90.0), (1.0, 1.0), join="1"), maintained((25.0, 30.0), (1.0, 3.0), join="2")]
    mean = assess(replace(GOAL, over=Over.GEOMETRIC_MEAN), [record(*cases)]).figures
    assert [(each.minimum, each.maximum) for each in mean.summaries] == [pytest.approx((10.0, 30.0))]
    total = assess(replace(GOAL, over=Over.TOTAL), [record(*cases)]).figures
    assert [(each.minimum, each.maximum) for each in total.summaries] == [(14.5, 30.0)]


def test_a_difference_and_a_number_of_its_own_are_figures_too() -> None:
    ways = case(series("driver", Quantity.QUERY, 12.0, 10.0), series("Spark", Quantity.QUERY, 9.0, 11.0))
    added = replace(GOAL, of=Measure("driver", Quantity.QUERY), per=None, less=Measure("Spark", Quantity.QUERY))
    assert assess(added, [record(ways)]).medians == (1.0, 1.0)
    assert assess(replace(added, less=None), [record(ways)]).medians == (11.0, 11.0)


def test_ratios_of_whole_queries_are_given_with_captures_and_without() -> None:
    goal = replace(GOAL, of=Measure("NS", Quantity.QUERY), per=Measure("IMP", Quantity.QUERY))
    both = case(
        series("NS", Quantity.QUERY, 300.0, 300.0),
        series("IMP", Quantity.QUERY, 100.0, 200.0),
        series("IMP", Quantity.CAPTURE, None, 100.0),
        series("IMP", Quantity.CAPTURE, 700.0, stage=Stage.COLD_START),
    )
    assert assess(goal, [record(both)]).captures == Captures((0.6, 0.6), (3.0, 3.0))
    assert assess(GOAL, [record(capturing(1.0))]).captures is None


def answered(*milliseconds: float, served: float = 1.0, query: str = "1") -> Case:
    """Return a case of plain Spark, which always takes 100 ms, and of answers, with a cold start and a warm-up of 400 ms each."""
    number = len(milliseconds)
    return case(
        series("NS", Quantity.QUERY, *(100.0,) * number),
        *(series("NS", Quantity.QUERY, 100.0, stage=stage) for stage in (Stage.COLD_START, Stage.WARM_UP)),
        series("answers", Quantity.QUERY, *milliseconds),
        *(series("answers", Quantity.QUERY, 400.0, stage=stage) for stage in (Stage.COLD_START, Stage.WARM_UP)),
        series("answers", Quantity.ANSWERED, *(served,) * number),
        query=query,
    )


ANSWERS = replace(GOAL, of=Measure("answers", Quantity.QUERY), per=None, better=Better.LOWER, target=50)


def test_percentiles_are_those_of_all_measurements_of_all_cases() -> None:
    cases = [answered(*map(float, range(1, 52))), answered(*map(float, range(52, 102)), query="2")]
    (found,) = assess(replace(ANSWERS, over=Over.P95), [record(*cases)]).figures.summaries
    assert (found.median, found.number) == (96.0, 101)
    (middle,) = assess(replace(ANSWERS, over=Over.P50), [record(*cases)]).figures.summaries
    assert (middle.lower_quartile, middle.upper_quartile) == (51.0, 51.0)
    assert verdict(replace(ANSWERS, over=Over.P50, target=51), *cases) is Verdict.MET
    assert verdict(replace(ANSWERS, over=Over.P99), *cases) is Verdict.MISSED
    # A case without a measurement is no good one.
    assert verdict(replace(ANSWERS, over=Over.P50), *cases, case(query="3")) is Verdict.INCOMPLETE


def test_a_wall_is_of_the_first_rounds_with_what_was_captured_in_them() -> None:
    goal = replace(GOAL, of=Measure("NS", Quantity.QUERY), per=Measure("answers", Quantity.QUERY), over=Over.WALL, target=0.5)
    (found,) = assess(goal, [record(answered(*(1.0,) * 20), answered(*(3.0,) * 20, query="2"))]).figures.summaries
    assert (found.median, found.number) == (2 * 10 * 100.0 / (2 * 800.0 + 8 * 1.0 + 8 * 3.0), 10)


def test_only_cases_that_were_answered_count_where_a_goal_says_so() -> None:
    goal = replace(GOAL, of=Measure("NS", Quantity.QUERY), per=Measure("answers", Quantity.QUERY), target=100, answered_by="answers")
    cases = [answered(1.0, 1.0), answered(99.0, 99.0, served=0.0, query="2")]
    assert verdict(goal, *cases) is Verdict.MET
    assert verdict(replace(goal, answered_by=""), *cases) is Verdict.MISSED
    assert verdict(goal, cases[1]) is Verdict.INCOMPLETE
    counted = replace(GOAL, of=Measure("answers", Quantity.ANSWERED), per=None, over=Over.TOTAL, target=1)
    assert assess(counted, [record(*cases)]).medians == (1.0, 1.0)


def test_every_goal_is_of_a_workload_and_of_code_that_are_there() -> None:
    code = surroundings.code()
    for goal in read_goals():
        assert goal.workload in WORKLOADS
        assert f"benchmarks/workloads/{goal.workload}.py" in goal.digests(code)
        for path in (*goal.code.of, *goal.code.without, *goal.code.also):
            assert any(part == path or part.startswith(f"{path}/") for part in code), path


def test_goals_are_told_apart() -> None:
    goals = read_goals()
    assert (
        len({json.dumps([goal.workload, str(goal.where), goal.of.system, goal.of.quantity, goal.over, goal.target]) for goal in goals})
        == len(goals)
        >= 20
    )
