"""Which blocks of TPC-H's and SSB's queries are groups that could be maintained, and why the others are not, query by query.

The table is what is true today, so that progress is a change of it. It says nothing of the sizes of the states nor of lifted constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random

import pytest

from benchmarks import ssb_texts, tpch_texts
from benchmarks.templates import Template
from imp_driver.answer.groups import check_maintained
from imp_driver.parse.statement import parse, with_named
from imp_driver.plan.bind import bind
from imp_driver.plan.context import TableDefinition, Tables
from imp_driver.plan.groupings import groupings
from imp_driver.plan.nodes import Aggregate, Plan, children
from imp_driver.safety.analysis import Analysis, analysed_groups
from imp_driver.snapshot.text import Grouped, Text, known_text
from imp_driver.values.execution import Parameters
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.tables import SchemaColumn
from tests.soundness.published import Catalog

_SSB = {
    "lineorder": "lo_orderkey long, lo_linenumber integer, lo_custkey long, lo_partkey long, lo_suppkey long, lo_orderdate integer, "
    "lo_orderpriority string, lo_quantity integer, lo_extendedprice long, lo_ordtotalprice long, lo_discount integer, lo_revenue long, "
    "lo_supplycost long, lo_tax integer, lo_shipmode string",
    "dates": "d_datekey integer, d_date date, d_year integer, d_month string, d_yearmonthnum integer, d_yearmonth string, "
    "d_weeknuminyear integer",
    "customer": "c_custkey long, c_name string, c_city string, c_nation string, c_region string, c_mktsegment string",
    "supplier": "s_suppkey long, s_name string, s_city string, s_nation string, s_region string",
    "part": "p_partkey long, p_name string, p_mfgr string, p_category string, p_brand1 string, p_type string, p_size integer, "
    "p_container string",
}


class Stars:
    """The tables of SSB; every column is nullable."""

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        columns = (column.split(" ") for column in _SSB[name[-1]].split(", "))
        return TableDefinition(name, tuple(SchemaColumn(column, kind, nullable=True) for column, kind in columns))


TPCH: Mapping[str, str] = {
    "Q1": "l_returnflag, l_linestatus: 8",
    "Q2": "ps_partkey: 1",
    "Q3": "l_orderkey, o_orderdate, o_shippriority: 1",
    "Q4": "o_orderpriority: 1",
    "Q5": "n_name: 1",
    "Q6": "TRUE: 1",
    "Q7": "n_name, n_name, EXTRACT(YEAR FROM l_shipdate): 1",
    "Q8": "EXTRACT(YEAR FROM o_orderdate): 2",
    "Q9": "n_name, EXTRACT(YEAR FROM o_orderdate): 1",
    "Q10": "c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment: 1",
    "Q11": "ps_partkey: 1; TRUE: 1",
    "Q12": "l_shipmode: 2",
    "Q13": "c_custkey: 1",
    "Q14": "TRUE: 2",
    "Q15": "l_suppkey: 1; l_suppkey: 1",
    "Q16": "p_brand, p_type, p_size: 1",
    "Q17": "TRUE: 1",
    "Q18": "c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice: 1",
    "Q19": "TRUE: 1",
    "Q20": "l_partkey, l_suppkey: 1",
    "Q21": "s_name: 1",
    "Q22": "TRUE: 1; SUBSTRING(c_phone, 1, 2): 2",
}
SSB: Mapping[str, str] = {
    "Q1.1": "TRUE: 1",
    "Q1.2": "TRUE: 1",
    "Q1.3": "TRUE: 1",
    "Q2.1": "d_year, p_brand1: 1",
    "Q2.2": "d_year, p_brand1: 1",
    "Q2.3": "d_year, p_brand1: 1",
    "Q3.1": "c_nation, s_nation, d_year: 1",
    "Q3.2": "c_city, s_city, d_year: 1",
    "Q3.3": "c_city, s_city, d_year: 1",
    "Q3.4": "c_city, s_city, d_year: 1",
    "Q4.1": "d_year, c_nation: 1",
    "Q4.2": "d_year, s_nation, p_category: 1",
    "Q4.3": "d_year, s_city, p_brand1: 1",
}
"""For each query the keys of its blocks and the number of their aggregates, or the reason why its rows do not come from
groups alone, with its blocks in brackets."""
OTHER_TEMPLATES = ("TPC-H Q8", "TPC-H Q13")
"""Queries whose instances are templates of their own, since a constant of theirs stands where it is no parameter."""
CASES = [
    *(pytest.param("TPC-H", each, Catalog(), TPCH, id=f"TPC-H {each.name}") for each in tpch_texts.TEMPLATES),
    *(pytest.param("SSB", each, Stars(), SSB, id=f"SSB {each.name}") for each in ssb_texts.TEMPLATES),
]


def resolved(template: Template, tables: Tables, seed: int) -> Text:
    """Resolve one instance; that it can be parsed is asserted."""
    statement = parse(template.instance(Random(seed), 1.0))
    assert statement.tree is not None
    return known_text(statement, tables, {})


def told(text: Text) -> str:
    """Say which groups a query's rows come from, or why they do not and which of its blocks could be maintained all the same."""
    try:
        return "; ".join(_parts(text.grouped()))
    except Refused as refused:
        assert not isinstance(text.plan, Grounds)
        blocks = [_told_alone(aggregate) for aggregate in _lowest(text.plan)]
        return _why(refused) if blocks == [_why(refused)] else f"{_why(refused)} [{'; '.join(blocks)}]"


def _parts(grouped: Grouped) -> Iterator[str]:
    """Yield the blocks of a query, those of its constants first."""
    for _, each in grouped.constants:
        yield from _parts(each)
    values = with_named(None, dict.fromkeys((marker for marker, _ in grouped.constants), 1))
    yield from (_block(analysis, values) for _, analysis in grouped.parts)


def _told_alone(aggregate: Aggregate) -> str:
    try:
        return "; ".join(_block(analysed_groups(each.block)) for each in groupings(aggregate))
    except Refused as refused:
        return _why(refused)


def _block(analysis: Analysis, values: Parameters = ()) -> str:
    block = bind(analysis.block, values, analysis.columns)
    check_maintained(block)
    return f"{_readable(', '.join(block.keys_sql))}: {len(block.aggregates)}"


def _lowest(plan: Plan) -> Iterator[Aggregate]:
    below = [found for child in children(plan) for found in _lowest(child)]
    yield from below or ([plan] if isinstance(plan, Aggregate) else [])


def _why(refused: Refused) -> str:
    return f"{refused.grounds.reason.name} {_readable(refused.grounds.detail)}".strip()


def _readable(text: str) -> str:
    return re.sub(r"`(\w+)(#t?\d+)?`", r"\1", text)


@pytest.mark.parametrize(("benchmark_name", "template", "tables", "expected"), CASES)
def test_which_groups_give_a_querys_rows(benchmark_name: str, template: Template, tables: Tables, expected: Mapping[str, str]) -> None:
    one, two = (resolved(template, tables, seed) for seed in (1, 2))
    assert told(one) == told(two) == expected[template.name]
    is_same = f"{benchmark_name} {template.name}" not in OTHER_TEMPLATES
    assert (one.template_text == two.template_text) is is_same


@pytest.mark.parametrize(("templates", "number"), [(tpch_texts.TEMPLATES, 22), (ssb_texts.TEMPLATES, 13)], ids=["TPC-H", "SSB"])
def test_all_queries_are_there_and_their_constants_are_drawn_anew(templates: tuple[Template, ...], number: int) -> None:
    assert len({template.name for template in templates}) == len(templates) == number
    for template in templates:
        texts = {template.instance(Random(seed), 1.0) for seed in range(20)}
        assert len(texts) > 1, template.name
        assert not any("{" in text for text in texts)
        assert template.instance(Random(7), 1.0) == template.instance(Random(7), 1.0)
