"""The table of goals in the docs is the one that the records make, and a goal that was missed stays in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from benchmarks import performance, records
from benchmarks.goals import assess, read_goals
from benchmarks.records import Quantity, read_all
from tests.unit.benchmarks.making import CODE, case, maintained, record
from tests.unit.benchmarks.test_goals import GOAL


def test_the_table_of_the_docs_is_that_of_the_records() -> None:
    document = performance.DOCUMENT.read_text(encoding="utf-8")
    every = read_all()
    assert performance.with_table(document, performance.table([assess(goal, every) for goal in read_goals()])) == document


def test_the_picture_of_the_docs_has_medians_of_the_record_that_it_names() -> None:
    picture = (performance.DOCUMENT.parent / "answers.svg").read_text(encoding="utf-8")
    [name] = re.findall(r"benchmarks/records/([\w.-]+\.json)", picture)
    [source] = [each for each in read_all() if f"{each.date[:10]}T" in name and f"-{each.workload}-{each.commit[:7]}.json" in name]
    shown = re.findall(r">(driver|Spark) ([\d,.]+) ms<", picture)
    cases = [("same constants", "0"), ("other constants", "0"), ("join", "0"), ("same constants", "1000"), ("other constants", "1000")]
    expected = []
    for shape, delta in cases:
        labels = {"groups": "5000", "aggregates": "3", "shape": shape, "delta": delta}
        [measured] = [each for each in source.cases if {key: str(value) for key, value in each.labels.items()} == labels]
        for shown_as, system in (("driver", "answers"), ("Spark", "NS")):
            value = median(each for each in measured.values(system, Quantity.QUERY) if each is not None)
            expected.append((shown_as, f"{value:,.1f}" if value < 100 else f"{value:,.0f}"))
    assert shown == expected


def test_a_missed_goal_stays_in_the_table() -> None:
    goal = replace(GOAL, earlier="162x")
    table = performance.table([assess(goal, [record(maintained((50.0, 60.0, 250.0), (1.0, 1.0, 1.0)))])])
    assert table.splitlines()[2] == (
        "| maintenance against recapture | at least 100x | median 60x; quartiles 55x to 155x; all 50x to 250x; 3 repetitions; "
        "2026-11-23, commit c0ffee0, 2 cores, load 0.1 to 1.5 | 60x (1 record) | missed | 162x |"
    )


def test_a_goal_without_a_record_says_so() -> None:
    assert (
        performance.table([assess(GOAL, [])]).splitlines()[2]
        == "| maintenance against recapture | at least 100x |  |  | no record yet |  |"
    )


def test_met_and_the_reason_for_few_repetitions_are_shown() -> None:
    short = replace(maintained((200.0,) * 3, (1.0,) * 3), shortened="3 repetitions instead of 10: one round took 75 s")
    row = performance.table([assess(GOAL, [record(short)])]).splitlines()[2]
    assert "| **met** |" in row
    assert "of these 3 repetitions instead of 10: one round took 75 s" in row


def test_uncommitted_code_is_named() -> None:
    row = performance.table([assess(GOAL, [record(maintained((200.0,), (1.0,)), is_dirty=True)])]).splitlines()[2]
    assert "commit c0ffee0 with uncommitted changes" in row
    assert "| uncommitted code |" in row


def test_figures_of_other_code_than_this_are_named() -> None:
    found = [assess(GOAL, [record(case(join="1"))])]
    assert performance.outdated(found, CODE | {"imp_driver/cli": "2"}) == []
    said = "maintenance against recapture: the code it measures has changed since 2026-11-23, commit c0ffee0, 2 cores, load 0.1 to 1.5"
    assert performance.outdated(found, CODE | {"imp_driver/maintain": "2"}) == [said]


@pytest.mark.parametrize(
    "document", ["", performance.BEGIN, f"{performance.END}\n{performance.BEGIN}", f"{performance.BEGIN}\n" * 2 + performance.END]
)
def test_a_document_without_its_markers_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match="the document needs one line"):
        performance.with_table(document, "table\n")


def test_the_command_checks_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "performance.md"
    document.write_text(f"before\n{performance.BEGIN}\nold\n{performance.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(performance, "DOCUMENT", document)
    assert performance.main(["--check"]) == 1
    assert "old" in document.read_text(encoding="utf-8")
    assert performance.main([]) == 0
    text = document.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert all(goal.what in text for goal in read_goals())
    assert performance.main(["--check"]) == 0


def test_records_are_read_from_the_folder_that_runs_write_to() -> None:
    assert Path(__file__).parents[3] / "benchmarks" / "records" == records.FOLDER
