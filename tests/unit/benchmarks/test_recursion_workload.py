"""The workload of recursive views measures all of its cases, finds a system that is wrong, and says where its peer is missing."""

from __future__ import annotations

import math
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from benchmarks import records
from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Case, Quantity
from benchmarks.recursion import figures, ours, peer, sensors, spreading
from benchmarks.recursion.costs import CostsByDRed
from benchmarks.recursion.dred import DRed
from benchmarks.recursion.maintained import Maintained, Row
from benchmarks.recursion.recompute import Recompute
from benchmarks.recursion.sensors import Field
from benchmarks.recursion.streams import Change, Stream
from benchmarks.summary import present
from benchmarks.workloads import recursion, recursion_figures, recursion_peer
from tests.unit.benchmarks.making import case, record, series

PLAN = Plan(2, warm_up=1)
ROUNDS = {"insert": 1 + 1 + 2, "delete": 1 + 1 + 2, None: 1 + 2}
"""The cold start, the warm-up where something changes, and the repetitions."""


class Wrong(DRed):
    """Does not see all rows of the view."""

    def rows(self) -> Iterator[Row]:
        rows = super().rows()
        next(rows, None)
        return rows


class WrongCosts(CostsByDRed):
    def rows(self) -> Iterator[Row]:
        return ((source, target, cost + 1) for source, target, cost in super().rows())


def missing() -> Path:
    raise peer.PeerMissingError("cargo is missing")


def measured(monkeypatch: pytest.MonkeyPatch, *, is_wrong: bool = False, is_quick: bool = False, is_peer: bool = False) -> tuple[Case, ...]:
    for name, number in {"NODES": 27, "LARGE": 30, "POWER_LAW_NODES": 40, "LOADS": 1}.items():
        monkeypatch.setattr(recursion, name, number)
    monkeypatch.setattr(sensors, "field", partial(sensors.field, spacing=20))
    kind = Wrong if is_wrong else DRed
    monkeypatch.setattr(recursion_peer, "built", missing)
    monkeypatch.setattr(ours, "reachable", kind)
    regions: Callable[[Field], Maintained] = lambda field: kind(spreading.regions(field))  # noqa: E731
    monkeypatch.setattr(ours, "regions", regions)
    monkeypatch.setattr(ours, "shortest_paths", WrongCosts if is_wrong else CostsByDRed)
    journal = Journal(PLAN.repetitions)
    (recursion_peer.run if is_peer else recursion.run)(journal, PLAN, is_quick=is_quick)
    return journal.cases


def test_the_papers_figures_have_what_is_shipped_and_the_rows_of_all_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NODES": 27, "SIZES": (12,), "MACHINES": (3, 6), "SHARES": (25, 100)}.items():
        monkeypatch.setattr(recursion_figures, name, value)
    monkeypatch.setattr(sensors, "field", partial(sensors.field, spacing=20))
    journal = Journal(PLAN.repetitions)
    recursion_figures.run(journal, PLAN, is_quick=False)
    figures = [each.labels["figure"] for each in journal.cases]
    assert {figure: figures.count(figure) for figure in figures} == {"7": 3, "9": 3, "11": 4, "13": 4, "14": 4}
    for each in journal.cases:
        assert each.differences == ()
        assert each.compared == ROUNDS[each.labels.get("change")]  # type: ignore[index]
        systems = {one.system for one in each.series if one.system.startswith("absorption") or one.system.endswith("selections")}
        assert systems
        for system in systems:
            shipped = present(each.values(system, Quantity.SHIPPED_BYTES))
            assert len(shipped) == 2
            assert any(shipped) or each.labels["figure"] == "9"


def test_each_case_has_all_measurements_and_compares_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = measured(monkeypatch)
    networks = 2 * (4 + 7) + 2 * (1 + 7) + (1 + 7)
    assert len({tuple(each.labels.items()) for each in cases}) == len(cases) == networks + (4 + 4) + (1 + 4)
    for each in cases:
        assert each.differences == ()
        repetitions = 1 if each.shortened else 2
        assert each.compared == ROUNDS[each.labels.get("change")] - 2 + repetitions  # type: ignore[index]
        for system in ("IMP", "DRed", "recomputed"):
            for quantity in (Quantity.CALL, Quantity.TOUCHED):
                assert len(present(each.values(system, quantity))) == repetitions
        if "change" in each.labels:
            # A ratio of rows touched is always a number.
            assert all(value > 0 for value in present(each.values("IMP", Quantity.TOUCHED)))
        is_small = each.labels["view"] == "regions" or each.labels["nodes"] == 27
        has_provenance = is_small and each.labels["view"] != "shortest paths"
        assert (len(each.values("relative lazy", Quantity.SHIPPED)) > 0) == has_provenance
    assert cases[0].labels == {
        "view": "reachable",
        "network": "transit-stub",
        "density": "dense",
        "nodes": 27,
        "links": 108,
        "inserted": "25 %",
    }
    assert cases[3].facts["rows"] == 27 * 27


def test_networks_are_measured_without_the_peer_where_it_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = measured(monkeypatch, is_peer=True)
    assert {each.facts["differential"] for each in cases} == {"not measured: its program could not be built"}
    assert {each.labels["nodes"] for each in cases} == {27, 30, 40}
    assert all(present(each.values("IMP", Quantity.CALL)) and not each.values("DRed", Quantity.CALL) for each in cases)


def test_a_wrong_view_is_found_in_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = measured(monkeypatch, is_wrong=True, is_quick=True)
    # A quick run has the paper's sizes alone.
    assert {each.labels.get("nodes") for each in cases} == {27, None}
    assert [len(each.differences) >= each.compared > 0 for each in cases] == [True] * len(cases)


@pytest.mark.parametrize(
    ("change", "sizes"),
    [
        (Change(is_insert=False, batches=3), [1, 1, 1]),
        (Change(is_insert=False, batch=7), [7]),
        (Change(is_insert=True, batch=2, batches=2), [2, 2]),
        (Change(is_insert=True, share=20), [4]),
        # No more than there are.
        (Change(is_insert=False, batch=100), [20]),
    ],
)
def test_a_stream_comes_back_to_the_whole_table(change: Change, sizes: list[int]) -> None:
    rows: list[Row] = [(number, number + 1) for number in range(20)]
    system, drawn = Recompute(), set()
    system.load(rows)
    whole = set(system.rows())
    stream = Stream(rows, change)
    for _ in range(5):
        stream.prepare([system])
        assert [len(deleted) + len(inserted) for deleted, inserted in stream.steps] == sizes
        assert all(bool(inserted) == change.is_insert for _, inserted in stream.steps)
        for step in stream.steps:
            system.apply(*step)
        drawn.add(str(stream.steps))
        assert (set(system.rows()) == whole) == change.is_insert
    assert len(drawn) > 1
    stream.restore([system])
    assert set(system.rows()) == whole


PROGRAM = """#!{python} -SE
import sys
sys.path[:0] = {path!r}
links, known = [], set()
for line in sys.stdin:
    sign, *link = line.split()
    if sign == "+":
        links.append(tuple(map(int, link)))
    elif sign == "-":
        links.remove(tuple(map(int, link)))
    else:
        pairs = set(links)
        while longer := {{(a, d) for a, b in links for c, d in pairs if b == c}} - pairs:
            pairs |= longer
        print("commit", 1500, len(pairs ^ known), len(pairs), sum(a * 1000 + b for a, b in pairs), flush=True)
        known = pairs
        if not links:
            sys.exit("nothing is left")
"""
"""Stands for the peer: it answers in the same form, with a plain closure and a hash of its own."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_text(PROGRAM.format(python=sys.executable, path=[]), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_peer_follows_changes_and_says_what_it_took(program: Path) -> None:
    with peer.Peer(program) as differential:
        differential.load([(0, 1), (1, 2), (2, 0)])
        assert (differential.changes, differential.fingerprint) == (9, (9, 3 * 3_003))
        differential.apply([(2, 0)], [(2, 3), (2, 3)])
        # (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3) are left of nine and three new ones.
        assert (differential.changes, differential.fingerprint) == (9, (6, 2_000 + 2_000 + 6 + 8))
        assert differential.microseconds == 3_000
        with pytest.raises(NotImplementedError, match="fingerprint alone"):
            differential.rows()


def test_a_peer_that_ends_is_told_of(program: Path) -> None:
    with peer.Peer(program) as differential:
        differential.load([(0, 1)])
        differential.apply([(0, 1)], [])
        with pytest.raises(peer.PeerMissingError, match="differential dataflow ended: nothing is left"):
            differential.apply([], [(0, 1)])


def test_without_cargo_the_peer_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *arguments, **options: None)
    with pytest.raises(peer.PeerMissingError, match="cargo is missing"):
        peer.built()


@pytest.mark.parametrize("status", [0, 1])
def test_the_peer_is_built_outside_of_the_repository(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(f'#!/bin/sh\necho "$CARGO_TARGET_DIR" "$@" > {tmp_path}/said\necho no network >&2\nexit {status}\n', encoding="utf-8")
    cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(peer, "cargo", lambda: str(cargo))
    monkeypatch.delenv(peer.TARGET, raising=False)
    if status:
        with pytest.raises(peer.PeerMissingError, match="cannot build benchmarks/peers: no network"):
            peer.built()
    else:
        built = peer.built()
        assert built.name == peer.PROGRAM
        assert not built.is_relative_to(peer.CRATE.parents[1])
        assert str(built).startswith((tmp_path / "said").read_text(encoding="utf-8").split()[0])
    # Cargo writes beside the manifest.
    manifest = Path((tmp_path / "said").read_text(encoding="utf-8").split()[-1])
    assert manifest.read_bytes() == (peer.CRATE / "Cargo.toml").read_bytes()
    assert not manifest.is_relative_to(peer.CRATE.parents[1])


def test_figures_are_means_with_confidence_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures.half_width([1.0]) == math.inf
    # Student's for two degrees of freedom, a deviation of 1, three values.
    assert figures.half_width([1.0, 2.0, 3.0]) == pytest.approx(4.303 / math.sqrt(3))
    assert figures.half_width([0.0, 2.0] * 50) == pytest.approx(1.96 * math.sqrt(100 / 99) / 10, rel=1e-3)
    both = case(series("IMP", Quantity.CALL, 1.0, 3.0), series("DRed", Quantity.CALL, 80.0, 120.0), view="reachable", nodes=100)
    text = figures.text(record(both))
    assert text.startswith("## view reachable, nodes 100\n")
    assert "| IMP | call ms | 2 | 2 | ± 12.7 | 1x |" in text
    assert "| DRed | call ms | 2 | 100 | ± 254 | 50x |" in text
    figures.main([str(records.write(record(both), tmp_path))])
    assert capsys.readouterr().out == f"{text}\n"
