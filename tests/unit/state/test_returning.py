"""When a query is likely to be asked again: by what became of the last ones."""

from __future__ import annotations

from imp_driver.state.returning import FEWEST, WINDOW, Returning


def test_the_first_queries_are_and_then_only_what_comes_back() -> None:
    returning = Returning()
    asked = [returning.is_likely(f"query {number}", f"run {number}") for number in range(2 * FEWEST)]
    assert asked == [True] * (FEWEST - 1) + [False] * (FEWEST + 1)
    # The second time it is.
    assert returning.is_likely("query 7", "run 9")


def test_where_some_come_back_new_ones_are_likely_to() -> None:
    returning = Returning()
    for number in range(FEWEST):
        returning.note(f"tile {number}", f"run {number}")
    assert not returning.is_likely("new", "a")
    for number in range(FEWEST):
        returning.note(f"tile {number}", f"later {number}")
    assert returning.is_likely("another", "b")
    # Until so many came that were asked once.
    answers = [returning.is_likely(f"once {number}", f"c {number}") for number in range(WINDOW + FEWEST)]
    assert answers[0]
    assert not answers[-1]
    assert answers == sorted(answers, reverse=True)


def test_one_run_that_asks_several_times_asks_once() -> None:
    returning = Returning()
    for number in range(FEWEST):
        returning.note(f"query {number}", f"run {number}")
        returning.note(f"query {number}", f"run {number}")
    assert not returning.is_likely("query 0", "run 0")
    # What was answered from states is another run's, whichever.
    returning.note("query 0")
    assert returning.is_likely("query 0", "run 0")
