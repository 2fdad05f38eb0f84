"""The cost rule: what a state's past says about bringing it up to date now."""

from __future__ import annotations

import pytest

from imp_driver.state.costs import LEAST_LOSS, MOST_PUT_OFF, Advice, Costs


def _learned(seconds: float, *, captured: float = 10.0, saved: float | None = None) -> Costs:
    costs = Costs(captured=captured, saved=saved)
    for _ in range(3):
        costs.note_maintenance(20, seconds)
    return costs


def test_without_history_it_is_maintained() -> None:
    costs = Costs(captured=0.5, saved=0.1)
    costs.note_maintenance(5, 9.0)
    judgement = costs.judge(1_000_000)
    assert (judgement.advice, judgement.is_worth_it) == (Advice.MAINTAIN, True)


def test_a_sketch_that_was_of_no_use_is_not_maintained_on_trial() -> None:
    assert not Costs(captured=0.5, saved=0.0).judge(1).is_worth_it
    assert Costs(captured=0.01, saved=0.0).judge(1).is_worth_it


def test_cheap_upkeep_is_always_done() -> None:
    judgement = _learned(0.02, captured=0.001, saved=0.0).judge(20)
    assert (judgement.advice, judgement.is_worth_it) == (Advice.MAINTAIN, True)


def test_the_estimate_grows_with_the_rows() -> None:
    costs = Costs()
    costs.note_maintenance(10, 0.1)
    costs.note_maintenance(1010, 1.1)
    assert costs.maintenance(10) == pytest.approx(0.1)
    assert costs.maintenance(2010) == pytest.approx(2.1)


def test_rows_beyond_all_that_was_seen_cost_in_proportion() -> None:
    costs = _learned(0.1)
    assert costs.maintenance(20) == pytest.approx(0.1)
    assert costs.maintenance(200) == pytest.approx(1.0)


def test_one_disturbed_step_changes_nothing() -> None:
    costs = _learned(0.05)
    costs.note_maintenance(20, 5.0)
    assert costs.maintenance(20) == pytest.approx(0.05)


def test_capturing_is_advised_where_it_is_half_the_price_and_until_it_is_the_dearer_one() -> None:
    costs = _learned(1.0, captured=0.4)
    assert costs.judge(20).advice is Advice.RECAPTURE
    assert costs.judge(20).cost == 0.4
    costs.captured = 0.9
    assert costs.judge(20).advice is Advice.RECAPTURE
    costs.captured = 1.1
    assert costs.judge(20).advice is Advice.MAINTAIN
    costs.captured = 0.9
    assert costs.judge(20).advice is Advice.MAINTAIN


def test_upkeep_that_costs_more_than_it_saves_is_put_off_and_tried_again() -> None:
    costs = _learned(1.0, saved=0.5)
    costs.all_saved = costs.all_upkeep
    assert [costs.judge(20).is_worth_it for _ in range(MOST_PUT_OFF + 2)] == [False] * MOST_PUT_OFF + [True, False]
    assert not costs.judge(20).is_given_up


def test_a_state_at_a_loss_is_given_up_and_tried_ever_more_rarely() -> None:
    costs = _learned(1.0, saved=0.1)
    assert costs.all_upkeep > LEAST_LOSS
    tried = [number for number in range(10 * MOST_PUT_OFF) if costs.judge(20).is_worth_it]
    assert tried == [MOST_PUT_OFF, 3 * MOST_PUT_OFF + 1, 7 * MOST_PUT_OFF + 2]
    judgement = costs.judge(20)
    assert judgement.is_given_up
    assert judgement.detail.endswith("; until now it has cost 3000 ms and saved 0 ms")


def test_what_was_given_up_is_tried_at_once_when_it_pays() -> None:
    costs = _learned(1.0, saved=0.1)
    assert costs.judge(20).is_given_up
    costs.queries = 20
    judgement = costs.judge(20)
    assert (judgement.is_worth_it, judgement.is_given_up) == (True, False)


def test_hysteresis_of_what_is_worth_it() -> None:
    costs = _learned(1.0, saved=0.9)
    assert costs.judge(20).is_worth_it
    costs.saved = 0.7
    assert not costs.judge(20).is_worth_it
    costs.saved = 1.1
    assert not costs.judge(20).is_worth_it
    costs.saved = 1.3
    assert costs.judge(20).is_worth_it


def test_many_queries_of_one_version_pay_together() -> None:
    costs = _learned(1.0, saved=0.5)
    for _ in range(20):
        costs.note_asked(is_new=True)
        for _ in range(4):
            costs.note_asked(is_new=False)
    assert costs.queries == pytest.approx(5, rel=0.01)
    assert costs.judge(20).is_worth_it


def test_what_a_query_saves_is_worked_out_from_its_gain() -> None:
    costs = Costs()
    costs.note_query(0.2, 0.8)
    assert costs.saved == pytest.approx(0.8)
    costs.note_query(1.0, -0.1)
    assert costs.saved == pytest.approx(0.7 * 0.8)


def test_the_detail_has_the_numbers() -> None:
    assert _learned(0.5, saved=0.2).judge(20).detail == "to maintain is estimated at 500 ms, what it saves at 200 ms"
