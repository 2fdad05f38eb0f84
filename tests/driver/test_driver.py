"""The whole driver on random queries and random changes, without a JVM, and the proof that this finds wrong rules.

IMP_WIDE=1 takes many more steps.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from imp_driver.reasons import Decision, Reason
from tests.seeds import SEED, WIDE
from tests.soundness.driver_attack import KINDS, attack_kind
from tests.soundness.driver_checks import OPERATORS
from tests.soundness.driver_mutants import DRIVER_MUTANTS
from tests.soundness.killers import of_today, problems
from tests.soundness.mutated import Killer
from tests.soundness.window_mutants import WINDOW_MUTANTS

Recorder = Callable[[str, object], None]
NUMBERS = {
    "attack": (6, 200),
    "nested": (7, 200),
    "lookups": (6, 200),
    "buckets": (6, 200),
    "grammar": (4, 200),
    "eager": (6, 200),
    "answers": (8, 200),
    "rows": (5, 200),
    "firsts": (4, 200),
    "scalars": (4, 200),
    "selected": (4, 200),
    "series": (3, 200),
    "windows": (3, 400),
    "windows below": (4, 400),
    "alike": (8, 200),
    "wide": (5, 400),
}
"""How many warehouses of each kind are always attacked, with seed 0, and how many in a wide run."""


def numbers(kind: str) -> range:
    """Return the numbers of the warehouses that are always attacked."""
    return range(NUMBERS[kind][WIDE])


@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_the_plain_query(seed: int, record_property: Recorder) -> None:
    tally = attack_kind("attack", seed, numbers("attack"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.crashed <= 1
    assert min(tally.decisions[decision] for decision in (Decision.CAPTURED, Decision.MAINTAINED, Decision.FRESH)) > 20
    assert tally.reasons[Reason.FILTERED] > 80
    assert tally.reused > 2
    assert tally.cut_anew > 2
    assert tally.shared > 5


@pytest.mark.parametrize("seed", [SEED])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_today(kind: str, seed: int, record_property: Recorder) -> None:
    # Each day another of the manners in which warehouses of a kind are asked.
    tally = attack_kind(kind, seed, range(50) if WIDE else [seed % 4])
    record_property("cases", tally.decisions.total())
    assert tally.differences == []


def test_changes_of_joins_are_exact_in_memory_and_by_the_engine(record_property: Recorder) -> None:
    # A seed whose few warehouses have joins that only the engine can follow; with others that takes some thirty warehouses.
    tally = attack_kind("joins", 2, range(200 if WIDE else 6))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.in_memory > 60
    assert tally.several > 5
    assert tally.asked_engine > 30


def test_changes_are_followed_through_every_operator(record_property: Recorder) -> None:
    tally = attack_kind("nested", 0, numbers("nested"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert min(tally.followed[each.__name__] for each in OPERATORS) > 8


def test_partners_of_changed_rows_that_are_looked_up(record_property: Recorder) -> None:
    tally = attack_kind("lookups", 0, numbers("lookups"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.looked_up > 10


def test_states_that_do_not_fit_into_memory(record_property: Recorder) -> None:
    tally = attack_kind("buckets", 0, numbers("buckets"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.in_buckets > 20


def test_states_meet_later_queries_that_differ_in_one_feature(record_property: Recorder) -> None:
    tally = attack_kind("grammar", 0, numbers("grammar"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.reused > 5
    assert tally.shared > 20
    assert tally.reasons[Reason.FILTERED] > 100


def test_states_that_were_maintained_ahead_are_those_of_a_query(record_property: Recorder) -> None:
    tally = attack_kind("eager", 0, numbers("eager"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.ahead > 40
    assert min(tally.decisions[decision] for decision in (Decision.CAPTURED, Decision.FRESH, Decision.MAINTAINED)) > 10


def test_rows_that_come_from_groups(record_property: Recorder) -> None:
    tally = attack_kind("answers", 0, numbers("answers"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 200
    assert tally.ahead > 10
    # Few queries are left for sketches.
    assert tally.reasons[Reason.FILTERED] > 0


def test_rows_that_are_not_grouped(record_property: Recorder) -> None:
    tally = attack_kind("rows", 0, numbers("rows"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 100
    assert tally.coarser > 10


def test_first_rows_of_which_few_are_kept(record_property: Recorder) -> None:
    tally = attack_kind("firsts", 0, numbers("firsts"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 60


def test_scalar_subqueries_and_several_sets_of_keys(record_property: Recorder) -> None:
    tally = attack_kind("scalars", 0, numbers("scalars"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 100
    assert tally.coarser > 10


def test_scalar_subqueries_in_the_select_list(record_property: Recorder) -> None:
    tally = attack_kind("selected", 0, numbers("selected"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 50


def test_joins_with_the_first_ones_of_other_groups(record_property: Recorder) -> None:
    tally = attack_kind("series", 0, numbers("series"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 50


def test_window_functions(record_property: Recorder) -> None:
    tally = attack_kind("windows", 0, numbers("windows"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.answered > 100


def test_window_functions_and_first_rows_below_groups(record_property: Recorder) -> None:
    tally = attack_kind("windows below", 0, numbers("windows below"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.in_memory > 40


def test_texts_that_differ_in_constants(record_property: Recorder) -> None:
    tally = attack_kind("alike", 0, numbers("alike"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.alike > 60


def test_groups_over_more_tables(record_property: Recorder) -> None:
    tally = attack_kind("wide", 0, numbers("wide"))
    record_property("cases", tally.decisions.total())
    assert tally.differences == []
    assert tally.wide > 10


def test_every_wrong_step_of_the_driver_is_found() -> None:
    """By a case that is known to find it; what the product makes of most of these cases is tested above."""

    def tried_elsewhere(case: Killer) -> bool:
        return case.seed == 0 and case.number in range(NUMBERS.get(case.kind, (0, 0))[0])

    assert problems(of_today(DRIVER_MUTANTS + WINDOW_MUTANTS), tried_elsewhere) == []
