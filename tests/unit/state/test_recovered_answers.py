"""Answers from groups that another process has saved."""

from __future__ import annotations

from pathlib import Path

from imp_driver.reasons import Decision, Reason, ServedBy
from tests.unit.state.test_recovery import a_warehouse, insert, process

TEXT = "SELECT g, sum(a) AS s, count(*) AS n FROM r WHERE x {} {} GROUP BY g"


def test_a_state_with_more_keys_serves_changing_constants_after_a_restart(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path, answers=True) as first:
        for number in (0, 1):
            first.ask(TEXT.format(">=", number))
        assert first.sketches.relations.background.settle(60)
        assert first.ask(TEXT.format(">=", 2)).served_by is ServedBy.STATE
    insert(warehouse, (60, 3, 0, 100))
    with process(warehouse, tmp_path, answers=True) as second:
        # What was asked before the restart has a state of its own; new constants are told apart by their second ones.
        assert second.ask(TEXT.format(">=", 0)).decision is Decision.MAINTAINED
        reports = [second.ask(TEXT.format(">=", number)) for number in (1, 2, 3)]
        assert [report.served_by for report in reports[1:]] == [ServedBy.STATE] * 2
        assert reports[1].decision is Decision.MAINTAINED
        assert reports[1].detail.startswith("from finer groups") or "read back from the store" in reports[1].detail
        assert all(report.not_answered is None or report.not_answered.reason is not Reason.LIFT_NEEDED for report in reports[1:])
