"""Values of an application for variables of SPARQL."""

from __future__ import annotations

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.given import Iri, bound

TEXT = "PREFIX : <a:> SELECT ?s { ?s :p ?v }"


def test_names_may_have_their_question_mark() -> None:
    assert bound({"?s": Iri("a:1"), "v": "x"}, TEXT) == {"s": "<a:1>", "v": '"x"'}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"v": 1, "?v": 2}, "'v' is given twice"),
        ({"?v": 1, "v": 1}, "'v' is given twice"),
        ({"w": 1}, r"'w' is the name of no variable of the text, which has \?s, \?v\.$"),
        ({"p": 1}, r"no variable.*A parameter is a variable: write \?p for :p"),
        ({"v": None}, "is None"),
        ([1], "give parameters by name"),
    ],
)
def test_what_is_no_value_of_a_variable_is_refused(parameters: object, message: str) -> None:
    with pytest.raises(ProgrammingError, match=message):
        bound(parameters, TEXT)  # type: ignore[arg-type]
