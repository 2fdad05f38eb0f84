"""SQL of SPARQL, run by Spark as it is: its bags of rows are those of rdflib and of oxigraph."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.errors import DatabaseError
from imp_driver.sparql import translate
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import read_query
from imp_driver.sparql.sql.translate import Result, translated
from imp_driver.sparql.terms import XSD, iri, literal, n_triples
from tests.seeds import of_today
from tests.spark.sparql_judges import Judge, Quad, Row, by_oxigraph, by_rdflib, plain
from tests.spark.sparql_queries import NAMED, ORDERED, OXIGRAPH_ALONE, PREFIXES, QUERIES, RDFLIB_ALONE, TRIPLES

QUADS: list[Quad] = [*((*triple, None) for triple in TRIPLES), *NAMED]
TWICE = [*QUADS, *QUADS[::5]]
"""Whoever writes a row twice has the same graph."""


@pytest.fixture(scope="module", autouse=True)
def _graph(spark: SparkSession) -> Iterator[None]:
    _make(spark, "sparql_graph", TWICE)
    yield
    spark.sql("UNCACHE TABLE sparql_graph")


def _make(spark: SparkSession, name: str, quads: Sequence[Quad]) -> None:
    spark.createDataFrame(list(quads), "s STRING, p STRING, o STRING, g STRING").coalesce(1).createOrReplaceTempView(name)
    spark.sql(f"CACHE TABLE {name}")


@pytest.fixture(scope="module")
def judges() -> dict[str, Judge]:
    return {"rdflib": by_rdflib(QUADS), "oxigraph": by_oxigraph(QUADS)}


def _sql(text: str, table: str = "sparql_graph", *, result: Result = Result.TERMS, is_set: bool = False) -> str:
    return translated(read_query(PREFIXES + text, (Source(table),)), lambda name: name, result=result, is_set=is_set)


def _rows(spark: SparkSession, sql: str) -> tuple[list[Row], list[str]]:
    found = spark.sql(sql)
    return [tuple(map(plain, row)) for row in found.collect()], found.columns


@pytest.mark.parametrize("name", of_today([*QUERIES, *ORDERED], 4))
def test_rows_are_those_of_others(name: str, spark: SparkSession, judges: dict[str, Judge]) -> None:
    text = (QUERIES | ORDERED)[name]
    found, columns = _rows(spark, _sql(text))
    left_out = {"oxigraph"} if name in RDFLIB_ALONE else {"rdflib"} if name in OXIGRAPH_ALONE else set()
    for judge in judges.keys() - left_out:
        others = judges[judge](PREFIXES + text, columns)
        if name in ORDERED:
            assert found == others, judge
        assert Counter(found) == Counter(others), judge
    assert found or "none" in name or "disjoint" in name or "groups of nothing" in name


def test_what_the_recommendation_alone_decides(spark: SparkSession) -> None:
    """Oxigraph has no effective value of texts with a language, nor of what is ill typed."""
    found, _ = _rows(spark, _sql("SELECT ?x {?x :v ?v FILTER(?v && ?x IN (:v15, :v8, :v16, :v5))}"))
    assert found == [("<http://e/v15>",)]
    found, _ = _rows(spark, _sql("SELECT ?x {?x :v ?v FILTER(!?v && ?x IN (:v15, :v8))}"))
    assert found == [("<http://e/v8>",)]
    found, _ = _rows(spark, _sql("SELECT ?x ?y {?x :v ?v . ?y :v ?w FILTER(?v < ?w && ?x IN (:v9, :v10))}"))
    assert found == [("<http://e/v10>", "<http://e/v9>")]


def test_numbers_are_exact_or_unknown(spark: SparkSession) -> None:
    integer, decimal = f"{XSD}integer", f"{XSD}decimal"
    values = {
        "0.1 + 0.2": literal("0.3", decimal),
        "9007199254740993 + 0": literal("9007199254740993", integer),
        "3037000500 * 3037000500": literal("9223372037000250000", integer),
        "12345678901 * 98765432109": None,
        "0.000000001 * 0.000000001": literal("0.000000000000000001", decimal),
        "0.0000000000000000001 + 0": None,
        "12345678901234567890 + 1": None,
        "12345678901234567890 = 12345678901234567891": None,
        "9007199254740993 > 9007199254740992": literal("true", f"{XSD}boolean"),
        "1 / 3": literal("0.333333333333333333", decimal),
        "1e0 / 3": literal("3.333333333333333E-1", f"{XSD}double"),
        "-150e0 * 1": literal("-1.5E2", f"{XSD}double"),
        "12345678e0 * 1": literal("1.2345678E7", f"{XSD}double"),
        "0e0 * -1": literal("-0.0E0", f"{XSD}double"),
        "2.50 + 0.50": literal("3.0", decimal),
        "2.0 * 1": literal("2.0", decimal),
        "-10.50 - 0.50": literal("-11.0", decimal),
        "0.0 + 0": literal("0.0", decimal),
        "ABS(-2.0)": literal("2.0", decimal),
        "ROUND(2.4)": literal("2.0", decimal),
        "4 / 2": literal("2.0", decimal),
        "xsd:decimal(7)": literal("7.0", decimal),
        "xsd:string(2.0 + 0.0)": literal("2"),
        "STR(1.50 + 0.50)": literal("2.0"),
        "2 + 3": literal("5", integer),
    }
    selected = " ".join(f"(({text}) AS ?v{place})" for place, text in enumerate(values))
    (row,) = spark.sql(_sql(f"SELECT {selected} {{}}")).collect()
    assert dict(zip(values, row, strict=True)) == values


def test_texts_have_any_character(spark: SparkSession) -> None:
    odd = 'it\'s "q" \\ ${x} \n\t é \U0001f600 %_'
    _make(spark, "sparql_odd", [(iri("http://e/s"), iri("http://e/p"), literal(odd), None)])
    written = odd.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    for text in (f'SELECT ?s {{?s :p "{written}"}}', f'SELECT ?s {{?s :p ?o FILTER(?o = "{written}" && STRLEN(?o) = {len(odd)})}}'):
        assert _rows(spark, _sql(text, "sparql_odd"))[0] == [("<http://e/s>",)]
    assert spark.sql(_sql("SELECT ?o {?s ?p ?o}", "sparql_odd", result=Result.SHOWN)).collect() == [(odd,)]
    assert spark.sql(_sql("SELECT ?o {?s ?p ?o}", "sparql_odd", result=Result.N_TRIPLES)).collect() == [(n_triples(literal(odd)),)]


def test_values_are_shown_as_people_read_them(spark: SparkSession) -> None:
    found = spark.sql(_sql("SELECT ?v {VALUES ?x {:v1 :v15 :v17 :v18 :v16} ?x :v ?v}", result=Result.SHOWN)).collect()
    assert sorted(found) == [("",), ("5",), ("_:x",), ("http://e/a",), ("plain",)]


def test_forms(spark: SparkSession) -> None:
    assert spark.sql(_sql("ASK {?x a :Robot}")).collect() == [(True,)]
    assert spark.sql(_sql("ASK {?x a :Nothing}")).collect() == [(False,)]
    built = spark.sql(_sql("CONSTRUCT {?x :is ?t . ?e :of ?x} {?x a ?t OPTIONAL {?x :knows ?e}}", result=Result.SHOWN))
    assert built.columns == ["subject", "predicate", "object"]
    rows = {tuple(each.removeprefix("http://e/") for each in row) for row in built.collect()}
    assert rows == {
        *(("a", "is", "Person"), ("b", "is", "Person"), ("c", "is", "Person"), ("d", "is", "Robot")),
        *(("b", "of", "a"), ("d", "of", "a"), ("c", "of", "b"), ("a", "of", "c")),
    }
    # A literal is no subject.
    assert spark.sql(_sql("CONSTRUCT {?e :of ?x} {?x :email ?e}")).collect() == []
    assert spark.sql(_sql("CONSTRUCT {:x ?p :y} {:a :knows ?p}")).count() == 2


def test_sets_need_no_distinct(spark: SparkSession, judges: dict[str, Judge]) -> None:
    _make(spark, "sparql_set", QUADS)
    for name in ("bgp", "optional nested", "minus", "exists", "union join", "sums", "graph each"):
        found, columns = _rows(spark, _sql(QUERIES[name], "sparql_set", is_set=True))
        assert Counter(found) == Counter(judges["oxigraph"](PREFIXES + QUERIES[name], columns)), name


def _random_pattern(rng: random.Random, depth: int) -> str:
    def node(names: str) -> str:
        return rng.choice([*(f"?{name}" for name in "xyz"), *(f":{name}" for name in names)])

    triples = " . ".join(f"{node('ab')} :{rng.choice('pqr')} {node('abc')}" for _ in range(rng.randint(1, 2)))
    if depth == 0:
        return triples
    inner, other = (_random_pattern(rng, depth - 1) for _ in range(2))
    forms = [
        "{{ {0} }} OPTIONAL {{ {1} }}",
        "{{ {0} }} UNION {{ {1} }}",
        "{{ {0} }} MINUS {{ {1} }}",
        "{{ {0} }} {{ {1} }}",
        "{{ {0} }} FILTER(?x != ?y || BOUND(?z))",
        "{{ {0} }} FILTER NOT EXISTS {{ {2} }}",
        "{{ {0} }} OPTIONAL {{ {2} FILTER(?x = ?y) }}",
    ]
    return rng.choice(forms).format(inner, other, triples)


def test_random_queries(spark: SparkSession) -> None:
    rng = random.Random(20)
    quads: list[Quad] = []
    for _ in range(14):
        names = (rng.choice("abc"), rng.choice("pqr"), rng.choice("abcd"))
        quads.append((*(iri(f"http://e/{name}") for name in names), None))  # type: ignore[arg-type]
    _make(spark, "sparql_random", quads)
    judge = by_oxigraph(quads)
    several = 0
    for _ in range(25):
        text = f"SELECT ?x ?y ?z {{ {_random_pattern(rng, 2)} }}"
        found, columns = _rows(spark, _sql(text, "sparql_random"))
        assert Counter(found) == Counter(judge(PREFIXES + text, columns)), text
        several += len(found) > 1
    assert several > 5


PATHS = (
    "SELECT * {:e1 :link+ ?x}",
    "SELECT * {?x (:link|:knows)* ?y . ?x :link ?z}",
    "SELECT * {GRAPH ?g {?x (:knows/:age)+ ?y}}",
)


def test_paths_are_recursive_tables_of_this_driver(warehouse: Path, judges: dict[str, Judge], spark: SparkSession) -> None:
    spark.sql("CREATE TABLE sparql_links USING DELTA AS SELECT DISTINCT * FROM sparql_graph")
    with imp_driver.connect(warehouse=str(warehouse), recursion="process") as connection:
        for text in PATHS:
            cursor = connection.cursor().execute(_sql(text, "sparql_links"))
            columns = [str(column[0]) for column in cursor.description or ()]
            found = [tuple(map(plain, row)) for row in cursor.fetchall()]
            assert Counter(found) == Counter(judges["rdflib"](PREFIXES + text, columns)), text
            assert found
    with pytest.raises(Exception, match=r"PARSE_SYNTAX_ERROR|RECURSI") as error:
        spark.sql(_sql(PATHS[0], "sparql_links")).collect()
    assert not isinstance(error.value, DatabaseError)


def test_the_text_is_that_of_a_view(engine: imp_driver.Connection) -> None:
    engine.cursor().execute("CREATE TABLE sparql_view_graph (s STRING, p STRING, o STRING, g STRING)")
    engine.cursor().executemany("INSERT INTO sparql_view_graph VALUES (?, ?, ?, ?)", QUADS[:20])
    text = translate(f"{PREFIXES} SELECT ?s ?n {{?s a :Person . ?s :name ?n}}", "sparql_view_graph")
    engine.cursor().execute(f"CREATE VIEW sparql_people AS {text}")
    rows = engine.cursor().execute("SELECT n FROM sparql_people WHERE s = 'http://e/b'").fetchall()
    assert [tuple(row) for row in rows] == [("Bob",)]
