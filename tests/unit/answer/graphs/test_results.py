"""What solutions look like as rows, and what values of an application are as terms."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.answer.graphs.quads import load_text, quads
from imp_driver.answer.graphs.results import column
from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.reasons import Reason
from imp_driver.sparql.algebra import Bgp, EachNamed, Exists, Filter, Quad, Source, Triple, Variable
from imp_driver.sparql.given import Iri, bound, term_of
from imp_driver.sparql.parts import tables_of
from imp_driver.sparql.templates import rows_of
from imp_driver.sparql.terms import XSD, Term, literal, n_triples
from imp_driver.values.option_kinds import Terms
from imp_driver.values.refusal import Refused

ONE, TWO = literal("1", f"{XSD}integer"), literal("2.50", f"{XSD}decimal")
X, Y, NEW = Variable("x"), Variable("y"), Variable("_:n")


@pytest.mark.parametrize(
    ("terms", "kind", "values"),
    [
        ([ONE, None], pa.int64(), [1, None]),
        ([ONE, TWO], pa.decimal128(38, 2), [1, Decimal("2.50")]),
        ([literal("1e0", f"{XSD}double")], pa.float64(), [1.0]),
        ([literal("true", f"{XSD}boolean")], pa.bool_(), [True]),
        ([literal("2026-11-29", f"{XSD}date")], pa.date32(), [datetime.date(2026, 11, 29)]),
        ([literal("a"), literal("b", language="en")], pa.string(), ["a", "b"]),
        ([ONE, literal("a")], pa.string(), ["1", "a"]),
        ([literal("1" * 40, f"{XSD}integer")], pa.string(), ["1" * 40]),
        ([ONE, literal("1e0", f"{XSD}double")], pa.string(), ["1", "1e0"]),
        ([None], pa.string(), [None]),
    ],
)
def test_values_of_one_kind_have_its_type(terms: list[Term | None], kind: pa.DataType, values: list[object]) -> None:
    assert column(terms, Terms.TYPED) == (kind, values)


def test_times_have_a_type_where_all_or_none_have_a_zone() -> None:
    zoned, plain = literal("2026-11-29T01:00:00Z", f"{XSD}dateTime"), literal("2026-11-29T01:00:00", f"{XSD}dateTime")
    assert column([zoned], Terms.TYPED)[0] == pa.timestamp("us", "UTC")
    assert column([plain], Terms.TYPED)[0] == pa.timestamp("us")
    assert column([zoned, plain], Terms.TYPED) == (pa.string(), ["2026-11-29T01:00:00Z", "2026-11-29T01:00:00"])


def test_terms_are_what_people_read_or_n_triples() -> None:
    terms = ["<http://x/a>", "_:b", literal('say "hi"\n', language="EN"), None]
    assert column(terms, Terms.TEXT)[1] == ["http://x/a", "_:b", 'say "hi"\n', None]
    assert column(terms, Terms.N3)[1] == ["<http://x/a>", "_:b", '"say \\"hi\\"\\n"@en', None]
    assert n_triples(ONE) == '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ("a", '"a"'),
        (Iri("http://x/a"), "<http://x/a>"),
        (1, ONE),
        (True, literal("true", f"{XSD}boolean")),
        (Decimal("2.5"), literal("2.5", f"{XSD}decimal")),
        (datetime.date(2026, 11, 29), literal("2026-11-29", f"{XSD}date")),
        (datetime.datetime(2026, 11, 29, 1, tzinfo=datetime.UTC), literal("2026-11-29T01:00:00Z", f"{XSD}dateTime")),
    ],
)
def test_values_of_an_application_are_terms(value: object, term: Term) -> None:
    assert term_of(value) == term


@pytest.mark.parametrize("text", ["", "http://x/b> <y", "a b", "a\nb", "x{y}"])
def test_what_is_no_iri_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="is no IRI"):
        term_of(Iri(text))


def test_other_values_are_refused_by_name() -> None:
    with pytest.raises(NotSupportedError, match="type bytes is no term of RDF"):
        term_of(b"")


def test_blank_nodes_of_a_template_are_new_ones_for_each_solution_and_what_is_no_triple_is_left_out() -> None:
    template = (Triple(NEW, "<p>", X), Triple(X, "<q>", Y), Triple(X, Y, NEW))
    templates = [Quad(triple, Source("g")) for triple in template]
    found = rows_of(templates, (X, Y), [("<a>", "<b>"), ("<a>", "<b>"), ('"l"', None)], "made")["g"]
    blanks = {subject for subject, predicate, *_ in found if predicate == "<p>"}
    assert len(blanks) == 3
    assert [each for each in found if each[1] == "<q>"] == [("<a>", "<q>", "<b>", None)]
    assert sorted(each[0] for each in found if each[1] == "<b>") == ["<a>", "<a>"]


def test_only_triples_that_can_matter_are_loaded() -> None:
    assert load_text("g", [(None, "<p>", '"it\'s"'), ("<a>", None, None)]).endswith(
        "WHERE (`p` = '<p>' AND `o` = '\"it\\'s\"') OR (`s` = '<a>')"
    )
    assert load_text("g", [(None, "<p>", None), (None, None, None)]) == "SELECT `s`, `p`, `o`, `g` FROM g"
    assert load_text("g", []).endswith("WHERE false")


def _rows(*quads: tuple[str | None, str | None, str | None, str | None]) -> pa.Table:
    return pa.table({name: pa.array([quad[place] for quad in quads], pa.string()) for place, name in enumerate("spog")})


def test_rows_are_counted_and_weighed_and_other_predicates_left_out() -> None:
    rows = _rows(("<a>", "<p>", "<o>", None), ("<a>", "<p>", "<o>", None), ("<a>", "<q>", "<o>", None))
    assert quads(rows, [(None, "<p>", None)]) == {("<a>", "<p>", "<o>", None): 2}
    assert quads(rows, [(None, None, None)], pa.array([1, -1, 1]).to_numpy()) == {("<a>", "<q>", "<o>", None): 1}


TERM = '"a\n""@en'


@pytest.mark.parametrize(
    ("quad", "told"),
    [
        (("a", "<p>", TERM, None), "'a' in the column s"),
        (('"a"', "<p>", TERM, None), "'\"a\"' in the column s"),
        (("<a>", "_:p", TERM, None), "'_:p' in the column p"),
        (("<a>", "<p>", "", None), "'' in the column o"),
        (("<a>", "<p>", '"a', None), "'\"a' in the column o"),
        (("<a>", "<p>", '"a"^^x', None), "in the column o"),
        (("<a>", "<p>", None, None), "None in the column o"),
        (("<a>", "<p>", TERM, "g"), "'g' in the column g"),
    ],
)
def test_what_is_no_term_is_named(quad: tuple[str | None, str | None, str | None, str | None], told: str) -> None:
    well = ("<a>", "<p>", TERM, "_:g")
    every: list[tuple[Term | None, Term | None, Term | None]] = [(None, None, None)]
    assert len(quads(_rows(well, ("_:b", "<p>", '"5"^^<http://x/i>', None)), every)) == 2
    with pytest.raises(Refused) as raised:
        quads(_rows(well, quad), every)
    assert raised.value.reason is Reason.MALFORMED_TERM
    assert told in raised.value.grounds.detail
    # What was there only between two versions does no harm.
    assert quads(_rows(well, quad, quad), every, np.array([1, 1, -1])) == {well: 1}


def test_tables_are_found_in_patterns_places_and_expressions() -> None:
    inner = Bgp((Triple(X, "<p>", Y),), (Source("b"), Source("c", "<n>")))
    named = Bgp((Triple(X, "<p>", Y),), EachNamed(Variable("g"), ("a",), (("<n>", Source("d")),)))
    assert tables_of(Filter(named, Exists(inner))) == ("a", "d", "b", "c")


def test_parameters_are_of_variables_that_the_text_has() -> None:
    text = "SELECT ?s { ?s <p> ?o . BIND (1 AS ?n) FILTER EXISTS { ?o <q> ?r } }"
    assert bound({"?r": 1, "n": "a"}, text) == {"r": ONE, "n": '"a"'}
    assert bound(None, text) == {}
    for given, told in [
        ({"x": 1}, r"no variable of the text, which has \?n, \?o, \?r, \?s"),
        ({"s": None}, "is None"),
        ([1], "no markers"),
    ]:
        with pytest.raises(ProgrammingError, match=told):
            bound(given, text)  # type: ignore[arg-type]
