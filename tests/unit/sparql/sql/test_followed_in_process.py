"""The SQL of filters and casts is computed in process, with the values that the circuits of SPARQL have: a view of it is followed there."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from imp_driver.dataflow.expression.evaluate import computed, truth
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.parse.statement import DIALECT, parse
from imp_driver.plan.check import check, checked_tree
from imp_driver.plan.convert import row_expression
from imp_driver.sparql.algebra import Query, Source
from imp_driver.sparql.read import read_query
from imp_driver.sparql.sql.translate import Result, translated
from imp_driver.sparql.terms import XSD

PREFIXES = f"PREFIX x: <http://x/> PREFIX xsd: <{XSD}> "
# What SQL has no exact value of (integers of 20 digits, dates with a zone) is not among them.
_LEXICAL = {
    "integer": ["30", "-7", "+031", "0", "922337203685477", "3.0", ""],
    "byte": ["30", "007"],
    "decimal": ["30.0", "30.", ".5", "-0.000000000000000001", "29.999999999999999999", "1e1"],
    "double": ["30", "3e1", "30.5", "-INF", "INF", "NaN", "1e-300", "+INF", "x"],
    "float": ["30", "0.5", "NaN", "-INF", "3.0e1"],
    "boolean": ["true", "false", "1", "0", "yes"],
    "date": ["2020-01-01", "2019-12-31"],
    "dateTime": ["2020-01-01T00:00:00Z", "2020-01-01T01:00:00.5+01:00", "2020-01-01T00:00:00", "2020-01-01T00:00:01.250000000"],
    "other": ["30"],
}
TERMS = [f'"{lexical}"^^<{XSD}{name}>' for name, every in _LEXICAL.items() for lexical in every]
TERMS += ['"30"', '"a"', '""', '"30"@en', "<http://x/30>", "_:b", '"say "30""']
ROWS = pa.table({"s": [f"<http://x/{place}>" for place in range(len(TERMS))], "p": ["<http://x/p>"] * len(TERMS), "o": TERMS})
FILTERS = [
    "?v > 30",
    "?v <= 30",
    "?v = 30",
    "?v != 30",
    "?v < 3e1",
    "?v >= 30.0",
    '?v = "30"^^xsd:float',
    "?v = 'a'",
    "?v > ''",
    "?v IN (30, 'a', true)",
    "isNumeric(?v)",
    "!(?v < 30)",
    "?v = true",
    "?v < '2020-01-01'^^xsd:date",
    "?v >= '2020-01-01T00:00:00Z'^^xsd:dateTime",
    "?v = '2020-01-01T00:00:00'^^xsd:dateTime",
    "?v = ?v",
    "?v + 1 > 30",
    "-?v < 0 || isIRI(?v)",
]


def _query(text: str) -> Query:
    return read_query(PREFIXES + text, (Source("t"),))


def _kept(query: Query) -> set[str]:
    """Return the subjects of the solutions that a circuit has."""
    circuit = Circuit(query.pattern)
    quads = zip(ROWS["s"].to_pylist(), ROWS["p"].to_pylist(), TERMS, strict=True)
    circuit.step({"t": {(*quad, None): 1 for quad in quads}})
    return {str(row[circuit.variables.index(query.columns[0])]) for row in circuit.rows}


def _selected(query: Query, result: Result = Result.TERMS) -> exp.Select:
    text = translated(query, lambda table: table, result=result, is_set=True)
    statement = parse(text)
    check(checked_tree(statement))
    found = sqlglot.parse_one(text, read=DIALECT)
    assert isinstance(found, exp.Select)
    return found


def _columns() -> dict[str, pa.DataType | None]:
    return {**dict.fromkeys("spo", pa.string()), "g": pa.string()}


@pytest.mark.parametrize("condition", FILTERS)
def test_filters_keep_what_circuits_keep(condition: str) -> None:
    query = _query(f"SELECT ?s ?v {{ ?s x:p ?v FILTER ({condition}) }}")
    where = _selected(query).args["where"].this
    rows = ROWS.append_column("g", pa.nulls(len(ROWS), pa.string()))
    kept = truth(rows, row_expression(where, _columns())).fill_null(False)
    assert set(ROWS["s"].filter(kept).to_pylist()) == _kept(query)


@pytest.mark.parametrize(
    ("selected", "where", "kind", "found"),
    [
        ("(xsd:double(?v) AS ?w)", "", pa.float64(), {'"30.5"^^double': 30.5, '"30."^^decimal': 30.0, '"30"': 30.0, '"a"': None}),
        ("(xsd:decimal(?v) AS ?w)", "", pa.decimal128(37, 18), {'".5"^^decimal': Decimal("0.5"), '"30"': 30, "<http://x/30>": None}),
        ("(xsd:integer(?v) AS ?w)", "", pa.decimal128(19, 0), {'"+031"^^integer': 31, '"30"': 30, '"30"@en': None}),
        ("(?v > 30 AS ?w)", "", pa.bool_(), {'"30.5"^^double': True, '"30"^^integer': False, '"30"': None}),
        ("?w", "BIND (?v AS ?w) FILTER (datatype(?v) = xsd:date)", None, {}),
        ("(?v AS ?w)", "FILTER (datatype(?v) = xsd:date)", None, {}),
    ],
)
def test_columns_have_types_where_all_values_are_of_one(
    selected: str, where: str, kind: pa.DataType | None, found: dict[str, object]
) -> None:
    tree = _selected(_query(f"SELECT ?s {selected} {{ ?s x:p ?v {where} }}"), result=Result.TYPED)
    if kind is None:
        assert isinstance(tree.expressions[1].this, exp.RegexpReplace)
        return
    # A double as a decimal is Spark's to compute.
    are_exact = pa.array(["#double" not in term and "#float" not in term for term in TERMS])
    rows = ROWS.filter(are_exact) if pa.types.is_decimal(kind) else ROWS
    values = computed(rows, row_expression(tree.expressions[1].this, _columns()))
    assert values.type == kind
    by_term = dict(zip(rows["o"].to_pylist(), values.to_pylist(), strict=True))
    for term, value in found.items():
        assert by_term[term.replace("^^", f"^^<{XSD}") + ">" if "^^" in term else term] == value


def test_a_variable_of_one_datatype_has_its_type() -> None:
    tree = _selected(_query("SELECT ?s ?v { ?s x:p ?v FILTER (datatype(?v) = xsd:date) }"), result=Result.TYPED)
    rows = ROWS.filter(pa.array([term.endswith("#date>") for term in TERMS]))
    values = computed(rows, row_expression(tree.expressions[1].this, _columns()))
    assert values.to_pylist()[:2] == [datetime.date(2020, 1, 1), datetime.date(2019, 12, 31)]


def test_counts_are_numbers_and_what_may_be_anything_is_text() -> None:
    text = translated(_query("SELECT ?v (COUNT(*) AS ?n) { ?s x:p ?v } GROUP BY ?v"), lambda table: table, result=Result.TYPED)
    assert "AS BIGINT) AS `n`" in text
    assert text.index("AS `v`") < text.index("AS `n`")
    assert "BIGINT" not in translated(_query("SELECT ?v { ?s x:p ?v FILTER (?v > 1) }"), lambda table: table, result=Result.TYPED)
