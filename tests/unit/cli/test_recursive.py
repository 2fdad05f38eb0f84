"""The recursive demo without an engine: its network, what happens to it, the plain fixpoint, the map and what is said of a reading."""

from __future__ import annotations

import argparse
import io
import json
import re
from itertools import islice

import pytest
from rich.console import Console

from imp_driver.cli import recursive
from imp_driver.cli.fixpoint import closure, unreachable
from imp_driver.cli.main import main
from imp_driver.cli.network import LINKS, Link, changes, name_of, network
from imp_driver.cli.network_map import network_map, style_of
from imp_driver.cli.recursive import Anew, Step, _drawn, _fields, _shown, _summary
from imp_driver.reasons import Decision, Reason
from imp_driver.values.report import SketchReport


def test_the_network_is_reproducible_and_whole() -> None:
    whole = network(7)
    assert whole == network(7)
    assert whole != network(8)
    assert (len(whole.nodes), len(whole.links), len(whole.domains)) == (100, 396, 13)
    assert len(set(whole.links)) == len(whole.links)
    assert all((dst, src) in whole.links for src, dst in whole.links)
    assert unreachable(whole.domains, whole.links) == {}
    assert [name_of(number) for number in (0, 1, 12)] == ["transit", "stub 0.0", "stub 3.2"]


@pytest.mark.parametrize("seed", [1, 7])
def test_each_change_takes_links_that_are_up_or_brings_back_those_that_were_taken(seed: int) -> None:
    whole = network(seed)
    happening = list(islice(changes(whole, seed), 300))
    assert happening == list(islice(changes(whole, seed), 300))
    up, broken = set(whole.links), set[str]()
    for change in happening:
        links = {(int(src), int(dst)) for src, dst in re.findall(r"\((\d+), (\d+)\)", change.text)}
        assert links
        if change.label.endswith(" fails"):
            assert change.text.startswith(f"DELETE FROM {LINKS} WHERE (src, dst) IN ((")
            assert links <= up
            up -= links
            broken.add(change.label.removesuffix(" fails"))
        else:
            assert change.text.startswith(f"INSERT INTO {LINKS} VALUES (")
            assert links <= set(whole.links) - up
            up |= links
            broken.remove(change.label.removesuffix(" is back"))
        assert len(broken) <= 6
    kinds = {change.label.split()[0] for change in happening} | {
        sign for change in happening for sign in ("->", " - ") if sign in change.label
    }
    assert kinds == {"node", "link", "->", " - "}


def _by_search(links: set[Link]) -> set[Link]:
    """Every pair with a way from the first to the second, one start after the other."""
    found = set()
    for start in {src for src, _ in links}:
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for dst in {dst for src, dst in links if src == node and (start, dst) not in found}:
                found.add((start, dst))
                waiting.append(dst)
    return found


@pytest.mark.parametrize("links", [set(), {(1, 2)}, {(1, 2), (2, 1), (2, 3)}, {(1, 2), (2, 3), (3, 1), (4, 3), (5, 5)}])
def test_the_fixpoint_is_what_a_search_finds(links: set[Link]) -> None:
    assert closure(links) == _by_search(links)


def test_unreachable_pairs_are_those_of_the_domain_in_which_they_begin() -> None:
    assert unreachable([(1, 2), (3,)], [(1, 2), (2, 1), (1, 3)]) == {1: 2}
    assert unreachable([(1, 2), (3,)], []) == {0: 4, 1: 2}


def _text(*shown: object) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(*shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_map_has_each_domain_with_its_pairs() -> None:
    whole = network(7)
    shown = _text(network_map(whole, {0: 32, 5: 1_736}))
    assert all(name_of(number) in shown for number in range(13))
    assert shown.count("all up") == 11
    assert "1,736" in shown
    assert [style_of(pairs, 100) for pairs in (0, 1, 50, 51, 100)] == ["green", "yellow", "yellow", "bold red", "bold red"]


def _step(anew: Anew | None = None) -> Step:
    versions = {"spark_catalog.default.demo_node": 1, "spark_catalog.default.demo_link": 5}
    report = SketchReport(Decision.MAINTAINED, Reason.ANSWERED, delta_rows=2, tables=versions)
    return Step("link 0 - 4 fails", {0: 32, 1: 736}, 0.0081, report, anew)


def test_a_reading_as_a_record_and_in_the_table() -> None:
    assert _step().version == 5
    alone, compared = _fields(_step()), _fields(_step(Anew(0.25, 0.006, True)))
    assert (alone["change"], alone["unreachable_pairs"], alone["driver_seconds"]) == ("link 0 - 4 fails", 768, 0.0081)
    assert (alone["is_equal"], compared["is_equal"], compared["plain_reading_seconds"]) == (None, True, 0.25)
    assert list(alone) == list(compared)
    shown = _text(_drawn(network(7), [_step(), _step(Anew(0.25, 0.006, False))]))
    assert "link 0 - 4 fails" in shown
    assert "NO" in shown
    assert "736" in shown
    assert "all up" in _text(_drawn(network(7), []))


class Both:
    """A driver and a writer: answers with the links that its changes have left, and gives them at any version."""

    def __init__(self) -> None:
        self.up = set(network(7).links)
        self.rows: list[tuple[int, int]] = []
        self.sketch_report = _step().report

    def __enter__(self) -> Both:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is open."""

    def execute(self, text: str) -> Both:
        links = {(int(src), int(dst)) for src, dst in re.findall(r"\((\d+), (\d+)\)", text)}
        if text.startswith("SELECT"):
            self.rows = sorted(self.up) if f"{LINKS} VERSION AS OF 5" in text else list(unreachable(network(7).domains, self.up).items())
        else:
            self.up = self.up - links if text.startswith("DELETE") else self.up | links
        return self

    def fetchall(self) -> list[tuple[int, int]]:
        return self.rows

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("is_terminal", [False, True])
def test_each_commit_is_read_and_some_readings_are_computed_anew(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursive, "_PAUSE", 0.0)
    console, both = Console(file=io.StringIO(), force_terminal=is_terminal, width=120), Both()
    steps = _shown(both, both, network(7), argparse.Namespace(queries=9, seed=7), console)  # type: ignore[arg-type]
    assert [step.anew is not None and step.anew.is_equal for step in steps] == [True, *[False] * 3, True, *[False] * 3, True]
    assert [step.label for step in steps] == ["all links are up", *(change.label for change in islice(changes(network(7), 7), 8))]
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert ("stub 3.2" in shown) is is_terminal
    assert steps[-1].label in shown
    if not is_terminal:
        records = [json.loads(line) for line in shown.splitlines()]
        assert [(each["record"], each["number"]) for each in records] == [("reading", number) for number in range(1, 10)]


@pytest.mark.parametrize(("is_equal", "code", "told"), [(True, 0, "All counts are equal (2 computed anew"), (False, 1, "2 counts DIFFER")])
def test_a_count_that_differs_is_told_at_the_end(is_equal: bool, code: int, told: str) -> None:
    anew = Anew(0.25, 0.006, is_equal)
    for is_terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=is_terminal, color_system=None, width=80)
        assert _summary([_step(anew), _step(), _step(anew)], console, 9) == code
        assert isinstance(console.file, io.StringIO)
        shown = console.file.getvalue()
        if is_terminal:
            assert told in shown
            assert "2 commits." in shown
            assert "took 8.1 ms (median)" in shown
        else:
            found = json.loads(shown)
            assert (found["record"], found["changes"], found["compared"]) == ("summary", 2, 2)
            assert (found["different"], found["median_driver_seconds"]) == (2 * code, 0.0081)
        assert _summary([_step(anew)], console, 9) == code


@pytest.mark.parametrize(("option", "value"), [("--rows", "3"), ("--result", "other"), ("--size", "small")])
def test_options_of_the_dashboard_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--recursive", option, value])
    assert caught.value.code == 2
    assert "usage: imp demo" in (told := capsys.readouterr().err)
    assert "--rows, --size and --result are those of the dashboard" in told
