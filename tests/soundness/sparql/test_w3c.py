"""Published tests of SPARQL 1.0 and 1.1, of queries while their triples come and go, and of updates."""

from __future__ import annotations

import lzma
from pathlib import Path
from random import Random

import pytest

from imp_driver.errors import NotSupportedError
from tests.seeds import SEED, WIDE, of_today
from tests.soundness.sparql import carried
from tests.soundness.sparql.incremental import Difference, differences, errs, trusted, way
from tests.soundness.sparql.known import JUDGE_ERRS, KNOWN, UNJUDGED, Error, Reason
from tests.soundness.sparql.maintained import Maintained
from tests.soundness.sparql.results import result
from tests.soundness.sparql.solutions import Solutions, are_same
from tests.soundness.sparql.suite import Case, Kind, cases
from tests.soundness.sparql.triples import Quad, quads
from tests.soundness.sparql.updates import is_left

CASES = cases()
QUERIES = [name for name, case in CASES.items() if case.kind is not Kind.UPDATE]
UPDATES = [name for name, case in CASES.items() if case.kind is Kind.UPDATE]
JUDGED_BY_ALL = of_today(QUERIES, 4)
SEEDS = (SEED,) if WIDE else (0,)
"""Of the order in which triples come and go."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [name for name in QUERIES if name not in KNOWN])
def test_solutions_follow_the_triples(name: str, seed: int) -> None:
    found = next(differences(CASES[name], Maintained, Random(seed), has_all_judges=name in JUDGED_BY_ALL), None)
    assert found is None


@pytest.mark.parametrize("name", [name for name in UPDATES if name not in KNOWN])
def test_updates_leave_what_they_should(name: str) -> None:
    assert is_left(CASES[name]) == ""


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_not_passed_is_refused(name: str) -> None:
    """Every reason is a refusal; none is a wrong answer."""
    with pytest.raises(NotSupportedError):
        Maintained(CASES[name].text)


def test_there_are_as_many_tests_as_in_the_suites() -> None:
    assert (len(QUERIES), len(UPDATES)) == (518, 94)
    assert len(KNOWN) < 10


def test_but_for_few_tests_an_engine_judges_what_is_in_between() -> None:
    assert {name for name in JUDGED_BY_ALL if not trusted(CASES[name])} == UNJUDGED & set(JUDGED_BY_ALL)


def test_the_archive_is_made_of_a_checkout(tmp_path: Path) -> None:
    for name, content in carried.files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "sparql11/entailment").mkdir(parents=True)
    (tmp_path / "sparql11/entailment/manifest.ttl").write_text("")
    assert carried.archived(tmp_path) == lzma.decompress(carried.ARCHIVE.read_bytes())


def _forgets(case: Case) -> list[Difference]:
    """Follow a case with operators that do not hear of what leaves."""

    class Forgetful(Maintained):
        def change(self, quad: Quad, sign: int) -> None:
            if sign > 0:
                super().change(quad, sign)

    return list(differences(case, Forgetful, Random(0)))


@pytest.mark.parametrize(
    "name", ["sparql10/basic/spoo-1", "sparql11/negation/full-minuend", "sparql11/aggregates/agg01", "sparql11/property-path/pp12"]
)
def test_what_does_not_follow_is_found(name: str) -> None:
    found = _forgets(CASES[name])
    assert any(each.point.startswith("less") for each in found)


def test_the_way_has_all_triples_thrice_and_none_once() -> None:
    every = quads(CASES["sparql10/basic/spoo-1"].loaded)
    points = list(way(every, Random(0)))
    there: set[Quad] = set()
    for point in points:
        for quad, sign in point.changes:
            assert (quad in there) is (sign < 0)
            (there.add if sign > 0 else there.remove)(quad)
        assert there == set(point.present)
        assert not point.is_whole or there == set(every)
    assert [len(point.present) for point in points if point.is_compared].count(0) == 1
    assert [point.is_whole for point in points].count(True) == 2


def _rows(*rows: tuple[str | None, ...], columns: tuple[str, ...] = ("x", "y")) -> Solutions:
    return Solutions(columns, rows)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (_rows(("_:a", "_:b"), ("_:b", "_:c")), _rows(("_:n", "_:o"), ("_:m", "_:n")), True),
        (_rows(("_:a", "_:b"), ("_:b", "_:c")), _rows(("_:n", "_:o"), ("_:m", "_:m")), False),
        (_rows(("_:a", "_:b"), ("_:a", "_:b")), _rows(("_:m", "_:n"), ("_:m", "_:o")), False),
        (_rows(("<a>", None)), _rows((None, "<a>"), columns=("y", "x")), True),
        (_rows(("<a>", None)), _rows(("<a>", None), ("<a>", None)), False),
        (
            _rows(('"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None)),
            _rows(('"01"^^<http://www.w3.org/2001/XMLSchema#integer>', None)),
            True,
        ),
        (_rows(('"1"', None)), _rows(('"01"', None)), False),
        (
            _rows(('"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None)),
            _rows(('"1"^^<http://www.w3.org/2001/XMLSchema#decimal>', None)),
            False,
        ),
    ],
)
def test_solutions_are_the_same_up_to_names_of_blank_nodes(left: Solutions, right: Solutions, expected: bool) -> None:
    assert are_same(left, right) is expected
    assert are_same(right, left) is expected


def test_blank_nodes_of_the_data_are_not_renamed_and_an_order_counts() -> None:
    assert not are_same(_rows(("_:a", None)), _rows(("_:b", None)), ["_:a", "_:b"])
    left, right = _rows(("<a>", "<b>"), ("<a>", "<c>"), ("<d>", "<b>")), _rows(("<a>", "<c>"), ("<a>", "<b>"), ("<d>", "<b>"))
    assert are_same(left, right, ordered_by=("x",))
    assert not are_same(left, right, ordered_by=("x", "y"))


def test_results_are_read_in_all_forms() -> None:
    paths = {"csv": "sparql11/csv-tsv-res/csvtsv01.csv", "tsv": "sparql11/csv-tsv-res/csvtsv01.tsv"}
    assert [len(result(path).rows) for path in paths.values()] == [6, 6]
    assert result("sparql10/sort/result-sort-1.rdf").rows == (('"Alice"',), ('"Bob"',), ('"Eve"',), ('"Fred"',))
    assert result("sparql10/ask/ask-1.srx") == Solutions((), ((),))


@pytest.mark.parametrize(("name", "judge"), JUDGE_ERRS)
def test_judges_err_where_they_are_said_to(name: str, judge: str) -> None:
    assert errs(CASES[name], judge, Maintained, Random(0))


def test_reasons_are_those_that_are_given() -> None:
    assert set(KNOWN.values()) == set(Reason)
    assert set(JUDGE_ERRS.values()) == set(Error)
