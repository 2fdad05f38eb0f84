"""Answers from groups that another process has saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from imp_driver.reasons import Decision, ServedBy
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
        # What was asked before the restart has a state of its own, new constants come from that for all of them at once.
        assert second.ask(TEXT.format(">=", 0)).decision is Decision.MAINTAINED
        reports = [second.ask(TEXT.format(">=", number)) for number in (1, 2, 3)]
        assert [report.served_by for report in reports] == [ServedBy.STATE] * 3
        assert [report.decision for report in reports] == [Decision.MAINTAINED, Decision.FRESH, Decision.FRESH]
        assert "from finer groups" in reports[0].detail
        assert "read back from the store" in reports[0].detail


OTHERS = [
    ("SELECT g, x, sum(a) AS s FROM r GROUP BY g, x", "SELECT g, sum(a) AS s FROM r WHERE x > {} GROUP BY g"),
    (
        "SELECT g, x + 1 AS k, min(a) AS lo, avg(a) AS m, count(DISTINCT a) AS d FROM r WHERE a > 0 GROUP BY g, x + 1",
        "SELECT g, min(a) AS lo, count(*) AS n FROM r WHERE a > 0 AND x + 1 <= {} GROUP BY g",
    ),
    (
        "SELECT r.g, s.y, max(r.a) AS m, sum(s.b) AS t FROM r JOIN s ON r.x = s.k GROUP BY r.g, s.y",
        "SELECT s.y, max(r.a) AS m FROM r JOIN s ON r.x = s.k WHERE r.g <> {} GROUP BY s.y",
    ),
]


@pytest.mark.parametrize(("finer", "text"), OTHERS)
def test_what_was_never_asked_before_a_restart_comes_from_finer_groups_at_once(tmp_path: Path, finer: str, text: str) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path, answers=True) as first:
        for _ in range(2):
            first.ask(finer)
        assert first.ask(finer).served_by is ServedBy.STATE
    insert(warehouse, (60, 3, 0, 100))
    with process(warehouse, tmp_path, answers=True) as second:
        for number in (1, 2, 0):
            report = second.ask(text.format(number))
            assert (report.served_by, report.decision) in ((ServedBy.STATE, Decision.MAINTAINED), (ServedBy.STATE, Decision.FRESH))


def test_a_state_of_a_text_that_is_read_otherwise_now_is_captured_again(tmp_path: Path) -> None:
    warehouse = a_warehouse()
    with process(warehouse, tmp_path, answers=True) as first:
        for _ in range(2):
            first.ask("SELECT g, x, sum(a) AS s FROM r GROUP BY g, x")
    (record,) = [each for each in first.repository.records() if each.block is not None]
    block = record.block
    assert block is not None
    # Another key than the groups have: the identity of the record tells.
    first.repository.save([(replace(record, block=replace(block, keys=("`g`", "`a`"))), first.repository.load(record))])
    with process(warehouse, tmp_path, answers=True) as second:
        report = second.ask("SELECT g, sum(a) AS s FROM r WHERE x > 1 GROUP BY g")
        assert report.decision in (Decision.CAPTURED, Decision.NOT_USED)
