"""The theorems on K-sets of the counting algorithm for SPARQL as properties, and the tables of its text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.mappings.bgp import BgpOperator
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.dataflow.mappings.evaluate import evaluate
from imp_driver.dataflow.mappings.graphs import Graphs, QuadRow
from imp_driver.dataflow.mappings.ksets import ONE, KSet, diff, join, minus, select, union
from imp_driver.sparql.algebra import Bgp, Source, Triple, Variable
from imp_driver.sparql.read import read_query
from tests.operators.mappings_graphs import EXAMPLE, TABLE, ScannedTriples, name
from tests.operators.mappings_ksets import X, Y, Z, ksets, negative, solutions

PLACE = (Source(TABLE),)


@given(ksets((X, Y)), ksets((Y, Z)))
def test_theorem_3_1_filter_distributes_over_union(one: KSet, other: KSet) -> None:
    total = union(one, other)
    spread = total.variables

    def holds(row: Sequence[str | None]) -> bool:
        return row[spread.index(Y)] in (None, "<a>")

    assert solutions(select(total, holds)) == solutions(union(select(one.over(spread), holds), select(other.over(spread), holds)))


@given(ksets(), ksets(), ksets())
def test_theorem_3_1_join_distributes_over_union(one: KSet, other: KSet, third: KSet) -> None:
    assert solutions(join(union(one, other), third)) == solutions(union(join(one, third), join(other, third)))


@given(ksets(), ksets(), st.sets(st.sampled_from((X, Y, Z))))
def test_theorem_3_1_projection_distributes_over_union(one: KSet, other: KSet, kept: set[Variable]) -> None:
    shown = sorted(kept)
    assert solutions(union(one, other).over(shown)) == solutions(union(one.over(shown), other.over(shown)))


@given(ksets(), ksets(), ksets())
def test_join_and_union_are_commutative_and_associative(one: KSet, other: KSet, third: KSet) -> None:
    for combine in (join, union):
        assert solutions(combine(one, other)) == solutions(combine(other, one))
        assert solutions(combine(combine(one, other), third)) == solutions(combine(one, combine(other, third)))
    assert solutions(join(one, ONE)) == solutions(one)


NODES = st.sampled_from(["<a>", "<b>", "<c>"])
TRIPLES = st.sets(st.tuples(NODES, st.sampled_from(["<p>", "<q>"]), NODES), max_size=8)
PATTERNS = st.lists(
    st.builds(Triple, st.sampled_from([X, Y, Z, "<a>"]), st.sampled_from([Y, "<p>", "<p>", "<q>"]), st.sampled_from([X, Y, Z, "<b>"])),
    min_size=1,
    max_size=4,
)


def matched(triple: Triple, triples: set[tuple[str, str, str]]) -> KSet:
    return evaluate(Bgp((triple,), PLACE), ScannedTriples({TABLE: {(*each, None): 1 for each in triples}}))


def terms(before: Sequence[KSet], deltas: Sequence[KSet]) -> KSet:
    """Return the sum of one term for each part: those before it as they are, those after it as they were."""
    after = [union(kset, delta) for kset, delta in zip(before, deltas, strict=True)]
    return reduce(union, [reduce(join, [*after[:place], delta, *before[place + 1 :]]) for place, delta in enumerate(deltas)])


@given(PATTERNS, TRIPLES, TRIPLES)
def test_theorem_4_3_delta_of_a_basic_graph_pattern(
    patterns: list[Triple], before: set[tuple[str, str, str]], after: set[tuple[str, str, str]]
) -> None:
    deltas = [union(matched(each, after - before), negative(matched(each, before - after))) for each in patterns]
    delta = terms([matched(each, before) for each in patterns], deltas)
    old, new = (reduce(join, [matched(each, triples) for each in patterns]) for triples in (before, after))
    assert solutions(new) == solutions(union(old, delta))

    graphs = Graphs()
    operator = BgpOperator([Bgp(tuple(patterns), PLACE)], graphs)
    graphs.step({TABLE: {(*triple, None): 1 for triple in before}})
    assert solutions(KSet(operator.variables, operator.step([]))) == solutions(
        reduce(join, [matched(each, before) for each in set(patterns)])
    )
    change: dict[QuadRow, int] = {(*triple, None): 1 for triple in after - before}
    change.update({(*triple, None): -1 for triple in before - after})
    graphs.step({TABLE: change})
    assert solutions(KSet(operator.variables, operator.step([]))) == solutions(delta)


@given(st.lists(st.tuples(ksets(least=1), ksets()), min_size=2, max_size=3))
def test_theorem_4_5_delta_of_a_join(parts: list[tuple[KSet, KSet]]) -> None:
    before, deltas = [old for old, _ in parts], [delta for _, delta in parts]
    new = reduce(join, [union(old, delta) for old, delta in parts])
    assert solutions(new) == solutions(union(reduce(join, before), terms(before, deltas)))


def flipped(before: KSet, delta: KSet) -> KSet:
    """Return F12 of the theorem: 1 for what goes, -1 for what comes."""
    found: dict[tuple[str | None, ...], int] = {}
    for row, count in delta.rows.items():
        if count == -before.rows.get(row, 0):
            found[row] = 1
        elif row not in before.rows:
            found[row] = -1
    return KSet(delta.variables, found)


@given(ksets((X, Y), is_relation=True), ksets((Y,), is_relation=True), ksets((Y,), is_relation=True))
def test_theorem_4_6_diff_with_a_sum(one: KSet, first: KSet, second: KSet) -> None:
    expected = diff(one, union(first, second))
    assert solutions(expected) == solutions(union(diff(one, first), join(one, flipped(first, second))))


@given(ksets(least=1), ksets(least=1))
def test_section_4_5_3_diff_and_minus_by_schemas(one: KSet, other: KSet) -> None:
    for operation, skips_disjoint in ((diff, False), (minus, True)):
        total = KSet(one.variables)
        for schema in schemas(one):
            left = of_schema(one, schema)
            for its in schemas(other):
                both = sorted(schema & its)
                if both or not skips_disjoint:
                    left = diff(left, of_schema(other, its).over(both))
            total = union(total, left)
        assert solutions(operation(one, other)) == solutions(total)


def schemas(kset: KSet) -> set[frozenset[Variable]]:
    return {frozenset(variable for variable, term in zip(kset.variables, row, strict=True) if term is not None) for row in kset.rows}


def of_schema(kset: KSet, schema: frozenset[Variable]) -> KSet:
    return select(kset, lambda row: frozenset(name for name, term in zip(kset.variables, row, strict=True) if term is not None) == schema)


def quads(text: str) -> dict[QuadRow, int]:
    rows: dict[QuadRow, int] = {}
    for line in text.split(" . "):
        subject, predicate, object_ = line.split(" ", 2)
        rows[name(subject), name(predicate), object_ if object_[0] == '"' else name(object_), None] = 1
    return rows


PATIENTS = quads(
    'alice hasDiagnosis diabetes . bob hasDiagnosis hypertension . alice treatedBy carol . carol name "Dr. Carol" . '
    'hyde name "Dr. Hyde" . carol type doctor . hyde type doctor'
)
FIRST = "?patient :hasDiagnosis ?diagnosis OPTIONAL { ?patient :treatedBy ?physician . ?physician :name ?physicianName }"
SECOND = (
    "?physician :type :doctor . ?physician :name ?physicianName "
    "OPTIONAL { ?patient :treatedBy ?physician . ?patient :hasDiagnosis ?diagnosis }"
)
ALICE, BOB, DIABETES, HYPERTENSION = map(name, ("alice", "bob", "diabetes", "hypertension"))
CAROL, HYDE = '"Dr. Carol"', '"Dr. Hyde"'


@pytest.mark.parametrize(
    ("columns", "body", "expected"),
    [
        ("?patient ?diagnosis ?physicianName", FIRST, {(ALICE, DIABETES, CAROL), (BOB, HYPERTENSION, None)}),
        ("?physicianName ?patient ?diagnosis", SECOND, {(CAROL, ALICE, DIABETES), (HYDE, None, None)}),
        (
            "?patient ?diagnosis ?physicianName",
            f"{{ SELECT ?patient ?diagnosis ?physicianName WHERE {{ {FIRST} }} }} "
            f"{{ SELECT ?physicianName ?patient ?diagnosis WHERE {{ {SECOND} }} }}",
            {(ALICE, DIABETES, CAROL), (BOB, HYPERTENSION, HYDE)},
        ),
    ],
    ids=["table 1", "table 2", "table 3"],
)
def test_tables_of_patients_and_physicians(columns: str, body: str, expected: set[tuple[str | None, ...]]) -> None:
    circuit = Circuit(read_query(f"PREFIX : <{EXAMPLE}> SELECT {columns} WHERE {{ {body} }}", PLACE).pattern)
    for quad in PATIENTS:
        circuit.step({TABLE: {quad: 1}})
    assert circuit.rows == dict.fromkeys(expected, 1)


def test_table_4_hop() -> None:
    query = read_query(f"PREFIX : <{EXAMPLE}> SELECT ?x ?y WHERE {{ ?x :link ?z . ?z :link ?y }}", PLACE)
    circuit = Circuit(query.pattern)
    a, b, c, link = map(name, ("a", "b", "c", "link"))
    assert circuit.step({TABLE: {(a, link, b, None): 1, (b, link, c, None): 1}}) == {(a, c): 1}
    assert circuit.step({TABLE: {(a, link, b, None): -1, (c, link, b, None): 1}}) == {(a, c): -1, (c, c): 1, (b, b): 1}
    assert circuit.rows == {(b, b): 1, (c, c): 1}
