"""Graphs that are made of tables follow these: the driver over tables in memory whose rows a mapping reads."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from imp_driver.answer.graphs.answers import GraphAnswers
from imp_driver.answer.permitted import Permitted
from imp_driver.commands.sparql_query import SparqlQueries
from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.ports import Relation, RelationKind, TableDefinition, View
from imp_driver.reasons import Decision, DeltaSource, Reason
from imp_driver.snapshot.versions import Newest
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.graph_table import MAPPING, MAPPING_TEXT, PROPERTY
from imp_driver.sparql.mapping import read_mapping
from imp_driver.sparql.mapping_sql import query_text
from imp_driver.sparql.read import read_query
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused
from imp_driver.values.stopwatch import Stopwatch
from imp_driver.values.tables import ChangePlan, SchemaColumn, TableSnapshot, ZSet
from tests.soundness.engine import DuckSession, Warehouse, drained
from tests.unit.answer.graphs.test_followed import NoFiles

PREFIXES = "@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix e: <http://e/> ."
MAPPED = f"""{PREFIXES}
<#p> rr:logicalTable [ rr:tableName "person" ] ; rr:subjectMap [ rr:template "http://e/{{id}}" ; rr:class e:Person ] ;
  rr:predicateObjectMap [ rr:predicate e:name ; rr:objectMap [ rr:column "name" ] ] .
<#k> rr:logicalTable [ rr:tableName "knows" ] ; rr:subjectMap [ rr:template "http://e/{{id}}" ] ;
  rr:predicateObjectMap [ rr:predicate e:knows ; rr:objectMap [ rr:template "http://e/{{other}}" ] ] ."""
COLUMNS = {"person": ("id", "name"), "knows": ("id", "other")}
KINDS = {
    "id": ("integer", pa.int32()),
    "name": ("string", pa.string()),
    "other": ("integer", pa.int32()),
    "weight": ("double", pa.float64()),
}
QUERY = "PREFIX e: <http://e/> SELECT ?n ?m { ?x e:name ?n OPTIONAL { ?x e:knows ?y . ?y e:name ?m } }"
Rows = list[tuple[Any, ...]]


@dataclass
class Lake:
    """Two tables with their versions, as source of changes and as engine."""

    versions: dict[str, list[Rows]] = field(default_factory=lambda: {"person": [[]], "knows": [[]]})
    columns: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(COLUMNS))
    loads: list[str] = field(default_factory=list)

    def commit(self, table: str, rows: Rows) -> None:
        self.versions[table].append(rows)

    def snapshot(self, location: str) -> TableSnapshot:
        table = location[1:]
        schema = tuple(SchemaColumn(name, KINDS[name][0], True) for name in self.columns[table])
        return TableSnapshot(location, table, len(self.versions[table]) - 1, schema, len(self.versions[table][-1]), NoFiles())

    def plan(self, location: str, table_id: str, from_version: int, to_version: int) -> ChangePlan:
        return ChangePlan(location, from_version, to_version, DeltaSource.CHANGE_FEED, None)

    def read(self, plan: ChangePlan, columns: tuple[str, ...]) -> ZSet:
        before, after = (Counter(self.versions[plan.location[1:]][version]) for version in (plan.from_version, plan.to_version))
        signed = [*(after - before).elements(), *(before - after).elements()]
        weights = np.array([1] * (after - before).total() + [-1] * (before - after).total(), dtype=np.int64)
        return ZSet(self._table(plan.location[1:], signed, columns), weights)

    def load(self, text: str, view: str | None = None, rows: pa.Table | None = None, most_bytes: int | None = None) -> pa.Table:
        self.loads.append(text)
        table = next(name for name in self.versions if f"`{name}` VERSION" in text)
        wanted = [name for name in self.columns[table] if f"`{name}`" in text.partition(" FROM ")[0]]
        return self._table(table, self.versions[table][int(text.rsplit(" ", 1)[1])], tuple(wanted))

    def _table(self, table: str, rows: Rows, columns: tuple[str, ...]) -> pa.Table:
        places = [self.columns[table].index(name) for name in columns]
        return pa.table({name: pa.array([row[place] for row in rows], KINDS[name][1]) for name, place in zip(columns, places, strict=True)})


@dataclass
class Catalog(DuckSession):
    """Has the view ``g`` of a mapping, and the tables."""

    lake: Lake = field(default_factory=Lake)
    mapping: str = MAPPED
    problem: str = ""
    hidden: frozenset[str] = frozenset()
    made_of: dict[str, str] = field(default_factory=lambda: {"id": "int", "name": "string", "other": "int", "weight": "double"})

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        if name[-1] in self.lake.versions:
            return Relation(RelationKind.DELTA_TABLE, (name[-1],), f"/{name[-1]}")
        text = query_text(read_mapping(self.mapping), lambda query: self.made_of)
        return Relation(RelationKind.VIEW, ("g",), None, View(text, ("c", "s"), (), True, self.problem)) if name[-1] == "g" else None

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        return TableDefinition("", (), {PROPERTY: MAPPING, MAPPING_TEXT: self.mapping}, None, "")

    def may_read(self, name: tuple[str, ...]) -> bool:
        return name[-1] not in self.hidden


class World:
    def __init__(self, catalog: Catalog | None = None) -> None:
        self.catalog = catalog or Catalog(Warehouse())
        self.lake = self.catalog.lake
        sketches, options = Sketches(Relations(self.lake, 1 << 24)), Options(memory=1 << 24)  # type: ignore[arg-type]
        self.answers = GraphAnswers(self.catalog, self.lake, Newest(), sketches, Permitted(self.catalog, options), options)  # type: ignore[arg-type]

    def ask(self, text: str = QUERY) -> tuple[Decision, Counter[tuple[object, ...]]]:
        pattern = read_query(text, (Source("g"),)).pattern
        means = Means(self.lake.load, Stopwatch())
        _, upkeep, self.versions, rows = self.answers.read(pattern, self.answers.graphs(pattern), means, Circuit.ordered, text)
        return upkeep.decision, Counter(rows)


def _expected(person: Rows, knows: Rows) -> Counter[tuple[object, ...]]:
    """Return the solutions of QUERY, of tables as sets of triples."""
    names = {(each, f'"{name}"') for each, name in person if each is not None and name is not None}
    pairs = {pair for pair in knows if None not in pair}
    found: Counter[tuple[object, ...]] = Counter()
    for each, name in names:
        others: list[tuple[object, ...]] = [(name, other) for a, b in pairs if a == each for c, other in names if c == b]
        found.update(others or [(name, None)])
    return found


def test_triples_follow_the_rows_that_make_them() -> None:
    chance, world = random.Random(7), World()
    person: Rows = []
    knows: Rows = []
    assert world.ask() == (Decision.CAPTURED, Counter())
    decisions = set()
    for _ in range(40):
        rows, table = (person, "person") if chance.random() < 0.5 else (knows, "knows")
        for _ in range(chance.randint(1, 4)):
            if rows and chance.random() < 0.4:
                rows.remove(chance.choice(rows))
            else:
                value: object = chance.choice(["a", "b", None]) if table == "person" else chance.choice([1, 2, 3, None])
                rows.append((chance.choice([1, 2, 3, None]), value))
        world.lake.commit(table, list(rows))
        decision, found = world.ask()
        decisions.add(decision)
        assert found == _expected(person, knows)
    assert decisions == {Decision.MAINTAINED}
    assert len(world.lake.loads) == 2
    assert sum(world.versions.values()) == 40


def test_tables_of_which_nothing_is_asked_are_not_read() -> None:
    world = World()
    world.lake.commit("person", [(1, "a")])
    text = "SELECT ?x { ?x a <http://e/Person> }"
    assert world.ask(text)[1] == Counter([("<http://e/1>",)])
    assert world.lake.loads == ["SELECT `id` FROM `person` VERSION AS OF 1"]
    world.lake.commit("knows", [(1, 2)])
    assert world.ask(text)[0] is Decision.FRESH


def test_another_mapping_is_another_state() -> None:
    world = World()
    world.lake.commit("person", [(1, "a")])
    assert world.ask()[1] == Counter([('"a"', None)])
    world.catalog.mapping = MAPPED.replace('[ rr:column "name" ]', '[ rr:column "name" ; rr:language "en" ]')
    assert world.ask() == (Decision.CAPTURED, Counter([('"a"@en', None)]))


@pytest.mark.parametrize(
    ("change", "reason", "told"),
    [
        ({"mapping": MAPPED.replace('tableName "knows"', 'sqlQuery "SELECT * FROM knows"')}, Reason.LEFT_TO_SPARK, "rr:sqlQuery"),
        (
            {"mapping": MAPPED.replace('tableName "knows"', 'tableName "g"')},
            Reason.NOT_A_DELTA_TABLE,
            "g, which the mapping",
        ),
        ({"mapping": MAPPED.replace('"http://e/{other}"', '"http://e/{weight}"')}, Reason.LEFT_TO_SPARK, "cannot be made of its"),
        ({"problem": "the session has temporary functions"}, Reason.VIEW, "temporary functions"),
        (
            {"made_of": {"id": "bigint", "name": "decimal(3,1)", "other": "int", "weight": "double"}},
            Reason.VIEW,
            "another one than its mapping",
        ),
        ({"hidden": frozenset({"knows"})}, Reason.NOT_PERMITTED, "knows"),
    ],
)
def test_what_cannot_be_followed_says_why(change: dict[str, Any], reason: Reason, told: str) -> None:
    with pytest.raises(Refused) as raised:
        World(replace(Catalog(Warehouse()), **change)).ask()
    assert (raised.value.reason, told in raised.value.grounds.detail) == (reason, True)


def test_a_column_of_a_type_with_a_text_of_the_engines_own_is_named() -> None:
    world = World(replace(Catalog(Warehouse()), mapping=MAPPED.replace("{other}", "{weight}")))
    world.lake.columns["knows"] = ("id", "weight")
    with pytest.raises(Refused) as raised:
        world.ask()
    assert raised.value.grounds.detail.startswith("triples of knows are not made here: the column weight is of type double")
    assert world.ask("SELECT ?x { ?x a <http://e/Person> }")[0] is Decision.CAPTURED


def _explained(world: World, text: str) -> list[str]:
    queries = SparqlQueries(world.answers, world.answers.options, lambda execution: pytest.fail("nothing is run"))
    return [str(row["plan"]) for row in drained(queries.explain(text, Execution(text)).stream)]


def test_what_is_explained_is_what_happens_to_a_column_of_such_a_type() -> None:
    world = World(replace(Catalog(Warehouse()), mapping=MAPPED.replace("{other}", "{weight}")))
    world.lake.columns["knows"] = ("id", "weight")
    lines = _explained(world, QUERY.replace("SELECT ?n ?m", "SELECT ?n ?m FROM <g>"))
    told = "LEFT_TO_SPARK: triples of knows are not made here: the column weight is of type double, whose text is the engine's"
    assert lines[0] == f"Not followed in process: {told}."
    assert [line.partition(":")[0] for line in lines[1:]] == ["Spark alone would run"]
    lines = _explained(world, "SELECT ?x FROM <g> { ?x a <http://e/Person> }")
    assert lines[:2] == ["Answered from solutions that follow the graphs: g.", "State: to be captured."]
