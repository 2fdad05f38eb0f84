"""The whole driver on random queries and random changes, without a JVM, and the proof that this finds wrong rules.

IMP_WIDE=1 takes many more steps.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from imp_driver.reasons import Decision, Reason
from tests.operators.model import WIDE
from tests.soundness.driver_attack import OPERATORS, attack, attack_buckets, attack_eager, attack_joins, attack_lookups, attack_nested
from tests.soundness.driver_mutants import DRIVER_MUTANTS, SLOW_DRIVER_MUTANTS
from tests.soundness.mutants import Mutant, prepare, run


@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_the_plain_query(seed: int) -> None:
    tally = attack(400 if WIDE else 12, seed)
    assert tally.differences == []
    assert tally.crashed <= 1
    assert min(tally.decisions[decision] for decision in (Decision.CAPTURED, Decision.MAINTAINED, Decision.FRESH)) > 20
    assert tally.reasons[Reason.FILTERED] > 100
    assert tally.reused > 2
    assert tally.cut_anew > 2
    assert tally.shared > 5


def test_changes_of_joins_are_exact_in_memory_and_by_the_engine() -> None:
    tally = attack_joins(400 if WIDE else 8, 0)
    assert tally.differences == []
    assert tally.in_memory > 60
    assert tally.asked_engine > 30


def test_changes_are_followed_through_every_operator() -> None:
    tally = attack_nested(400 if WIDE else 12, 0)
    assert tally.differences == []
    assert min(tally.followed[each.__name__] for each in OPERATORS) > 8


def test_partners_of_changed_rows_that_are_looked_up() -> None:
    tally = attack_lookups(400 if WIDE else 8, 0)
    assert tally.differences == []
    assert tally.looked_up > 10


def test_states_that_do_not_fit_into_memory() -> None:
    tally = attack_buckets(200 if WIDE else 6, 0)
    assert tally.differences == []
    assert tally.in_buckets > 20


def test_states_that_were_maintained_ahead_are_those_of_a_query() -> None:
    tally = attack_eager(400 if WIDE else 12, 0)
    assert tally.differences == []
    assert tally.ahead > 40
    assert min(tally.decisions[decision] for decision in (Decision.CAPTURED, Decision.FRESH, Decision.MAINTAINED)) > 10


def test_every_wrong_step_of_the_driver_is_found() -> None:
    """Every other one by default: each takes the attack up to a minute."""
    mutants = DRIVER_MUTANTS + SLOW_DRIVER_MUTANTS if WIDE else DRIVER_MUTANTS[::2]
    with ThreadPoolExecutor(2) as pool:
        survivors = [name for name in pool.map(_survives, mutants) if name]
    assert survivors == []


def _survives(mutant: Mutant) -> str:
    with TemporaryDirectory() as folder:
        prepare(mutant, Path(folder))
        result = run(Path(folder), 400, 0, "tests.soundness.driver_attack")
    assert "Traceback" not in result.stderr, f"{mutant.name}: {result.stderr[-500:]}"
    return "" if result.returncode == 1 else mutant.name
