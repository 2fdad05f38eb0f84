"""Views in SPARQL whose translation is not followed as SQL: their rows are the solutions, which are followed as those of any query are.

Spark runs a view's translation, with aggregates over terms, arithmetic and expressions of its own that no operator of the relational path
has. What was translated is in the catalog beside it (``values/view_policy.py``). A query over such views, and over no table, is computed
here from the solutions; the operators that stand above groups stand above these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.finish import Finish
from imp_driver.answer.graphs.answers import Graph, GraphAnswers, TableVersions
from imp_driver.answer.graphs.results import column
from imp_driver.answer.graphs.told import report_of_solutions
from imp_driver.answer.shape import ShapedRows
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.mappings.circuit import Circuit, Row
from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.settings import check_settings
from imp_driver.parse.sparql import read_sparql
from imp_driver.parse.statement import Statement, table_name, tables_in
from imp_driver.parse.template import typed_text
from imp_driver.parse.time_travel import time_travel
from imp_driver.plan.attributes import reference
from imp_driver.plan.bind import with_values
from imp_driver.plan.check import checked_tree
from imp_driver.plan.context import Definition, TableDefinition, ViewDefinition
from imp_driver.plan.nodes import Aggregate, OneRow, Plan, Scan, children, scans
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.resolve import resolve
from imp_driver.plan.zones import Times, types_in, zone_of
from imp_driver.ports import RelationKind, ResultShape, View
from imp_driver.reasons import Decision, Reason
from imp_driver.rewrite.comparison import Served
from imp_driver.sparql.algebra import Form, Query
from imp_driver.sparql.functions.volatile import is_volatile
from imp_driver.sparql.read import read_query
from imp_driver.sparql.sql.translate import Result, translated
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Floats, Terms
from imp_driver.values.refusal import Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import SchemaColumn
from imp_driver.values.view_policy import SPARQL
from imp_driver.values.zones import UTC

MOST = 500
"""Views, and texts over them, of which one connection remembers what it has found."""
_TYPES = {"string": ("string", pa.string()), "bigint": ("long", pa.int64())}
"""Of columns, as the catalog and Delta call them. Others are what a cast of Spark's makes of a term."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A view, and what its solutions are of; ``graphs`` says which graphs of SQL those of the query were when it was translated."""

    view: View
    query: Query
    text: str
    graphs: Mapping[str, str]

    def column(self, name: str, rows: Sequence[Row]) -> pa.Array:
        """Return the values of a column of the view."""
        [own] = [each for each in self.view.columns if each.name == name]
        place = [each.name.lower() for each in self.query.columns].index(own.source.lower())
        shown = column([row[place] for row in rows], Terms.TEXT)[1]
        kind = _TYPES[own.type_name][1]
        return pa.array([None if each is None else int(str(each)) for each in shown] if kind == pa.int64() else shown, kind)


@dataclass(frozen=True, slots=True)
class _Other:
    """A view that is none in SPARQL."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solutions:
    """The solutions of a view at some versions."""

    rows: Sequence[Row]
    upkeep: Upkeep
    versions: TableVersions
    identifier: str


@dataclass(slots=True, eq=False)
class _Names:
    """What the names of one query stand for: views in SPARQL as tables, others looked through. A Tables."""

    views: SolutionViews
    found: dict[tuple[str, ...], _Asked] = field(default_factory=dict)
    graphs: dict[tuple[str, ...], Mapping[str, Graph]] = field(default_factory=dict)

    def find(self, name: tuple[str, ...]) -> Definition:
        relation = self.views.graphs.session.resolve(name)
        if relation is None or relation.kind is not RelationKind.VIEW or relation.view is None:
            raise Refused(Reason.VIEW, f"{'.'.join(name)} is no view in SPARQL; beside one whose translation is not followed it is Spark's")
        if not self.views.graphs.session.may_read(relation.name):
            raise Refused(Reason.NOT_PERMITTED, ".".join(name))
        asked = self.views.asked(relation.name, relation.view)
        if asked is None:
            return ViewDefinition(relation.name, relation.view)
        graphs = self.views.graphs.graphs(asked.query.pattern)
        if _texts(graphs) != asked.graphs:
            raise Refused(Reason.VIEW, f"{'.'.join(name)}: a graph that it names is another one in the current schema")
        self.found[relation.name], self.graphs[relation.name] = asked, graphs
        schema = tuple(SchemaColumn(each.name, _TYPES[each.type_name][0], True) for each in asked.view.columns)
        return TableDefinition(relation.name, schema)


class SolutionViews:
    """The views in SPARQL of one connection."""

    def __init__(self, graphs: GraphAnswers) -> None:
        self.graphs = graphs
        self._known: BoundedCache[Hashable, _Asked | _Other] = BoundedCache(MOST)
        self._shapes: BoundedCache[Hashable, ResultShape] = BoundedCache(MOST)

    def serve(self, statement: Statement, execution: Execution, means: Means) -> Served:
        """Return the rows of a query over such views alone.

        Raises:
            Refused: it reads something else, or its rows are not known for certain; VIEW without a detail where it reads no such view.
            Error: the engine failed.
        """
        names = _Names(self)
        try:
            return self._served(statement, names, execution, means)
        except Refused:
            if names.found or (statement.tree is not None and self._reads_one(statement.tree)):
                raise
            # What other queries are left to Spark for is known already.
            raise Refused(Reason.VIEW) from None

    def _served(self, statement: Statement, names: _Names, execution: Execution, means: Means) -> Served:
        session, options = self.graphs.session, self.graphs.options
        if options.is_compared or not self.graphs.versions.reads_views or time_travel(statement) is not None:
            raise Refused(Reason.VIEW, "rows that are compared, or of an old version, are not taken from solutions")
        check_settings(session.settings())
        plan = resolve(checked_tree(statement), names, keeps_order=True)
        if not names.found:
            raise Refused(Reason.VIEW)
        zone = zone_of(dict(session.settings()))
        plan = with_values(plan, execution.parameters, Times.of(types_in(plan), zone if zone == UTC else "").read)
        solutions = {name: self._solutions(each.query, each.text, names.graphs[name], means) for name, each in names.found.items()}
        definitions = tuple(each.view.definition for each in names.found.values())
        key = typed_text(statement, execution.parameters), definitions, session.settings()
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = session.describe(execution)
        with execution.watch.stage("answer"):
            try:
                rows = _finished(plan, names.found, solutions, may_round=options.floats is Floats.ROUNDED)
                shaped = ShapedRows(rows, shape)
            except NotEvaluable as error:
                raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        return Served(shaped, _told(list(solutions.values()), execution))

    def may_serve(self, statement: Statement) -> bool:
        """Say whether a query is over such views alone."""
        names = _Names(self)
        try:
            resolve(checked_tree(statement), names, keeps_order=True)
        except Refused:
            return False
        return bool(names.found)

    def follow(self, text: str, types: Iterable[str], means: Means) -> None:
        """Have the solutions of a query in SPARQL followed from now on, as those of a view with columns of some types.

        Raises Refused where they cannot be, ProgrammingError, Error.
        """
        found = self._read(text)
        if found is None or not all(each in _TYPES for each in types):
            raise Refused(Reason.VIEW, "a view in SPARQL of a form whose solutions are not kept")
        self._solutions(found, text, self.graphs.graphs(found.pattern), means)

    def asked(self, name: tuple[str, ...], view: View) -> _Asked | None:
        """Return what a view is the solutions of; None where it is none in SPARQL, or was changed since it was made."""
        key = name, view.definition
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._asked(name, view) or _Other()
        return known if isinstance(known, _Asked) else None

    def _reads_one(self, tree: exp.Expr) -> bool:
        """Say whether a query names a view in SPARQL."""
        names = (table_name(each) for each in tables_in(tree) if isinstance(each.this, exp.Identifier))
        found = filter(None, map(self.graphs.session.resolve, names))
        return any(each.view is not None and self.asked(each.name, each.view) is not None for each in found)

    def _asked(self, name: tuple[str, ...], view: View) -> _Asked | None:
        if view.policy is None or view.problem or view.is_recursive or not all(each.type_name in _TYPES for each in view.columns):
            return None
        definition = self.graphs.session.definition(name)
        text = "" if definition is None else definition.properties.get(SPARQL, "")
        with suppress(ProgrammingError, NotSupportedError):
            query = self._read(text)
            if query is not None and self._is_translation(view.text, query):
                return _Asked(view, query, text, _texts(self.graphs.graphs(query.pattern)))
        return None

    def _read(self, text: str) -> Query | None:
        """Return a statement in SPARQL whose solutions are rows with names. Raises ProgrammingError."""
        statement = read_sparql(text)
        query = None if statement is None else read_query(statement.text, self.graphs.default)
        if query is None or query.form is not Form.SELECT or is_volatile(query.pattern):
            return None
        names = [each.name.lower() for each in query.columns]
        return query if names and len({*names}) == len(names) else None

    def _is_translation(self, text: str, query: Query) -> bool:
        """Say whether the text of a view is that of a query still, over the graphs that the query means in this session."""
        made = (translated(query, lambda name: self.graphs.graph(name).text, result=each) for each in (Result.SHOWN, Result.TYPED))
        return text in made

    def _solutions(self, query: Query, text: str, graphs: Mapping[str, Graph], means: Means) -> _Solutions:
        identifier, upkeep, versions, rows = self.graphs.read(query.pattern, graphs, means, Circuit.ordered, text)
        return _Solutions(rows, upkeep, versions, identifier)


def _texts(graphs: Mapping[str, Graph]) -> Mapping[str, str]:
    """Return what the graphs of a query are in SQL, by the names that it has for them."""
    return {name: graph.text for name, graph in graphs.items()}


def _finished(
    plan: Plan, views: Mapping[tuple[str, ...], _Asked], solutions: Mapping[tuple[str, ...], _Solutions], *, may_round: bool
) -> pa.Table:
    """Return the rows of a query over views. Raises NotEvaluable, Refused."""
    _check_one_moment(list(solutions.values()))
    groups: dict[str, pa.Table] = {}
    for scan in scans(plan):
        asked, rows = views[scan.table], solutions[scan.table].rows
        groups[scan.output[0].identifier] = pa.table({each.identifier: asked.column(each.name, rows) for each in scan.output})
    return Finish(groups, may_round=may_round).answer(_over_given(plan))


def _over_given(plan: Plan) -> Plan:
    """Return a plan with rows that are given in the place of those of its tables."""
    if isinstance(plan, Scan):
        return Aggregate(OneRow(), plan.output, tuple(map(reference, plan.output)), (), ())
    return with_inputs(plan, tuple(map(_over_given, children(plan))))


def _check_one_moment(solutions: Sequence[_Solutions]) -> None:
    """Raise Refused where two views have one table at two versions: it was changed between their readings."""
    seen: dict[tuple[str, ...], int] = {}
    for each in solutions:
        for name, version in each.versions.items():
            if seen.setdefault(name, version) != version:
                raise Refused(Reason.TABLE_CHANGED_MEANWHILE)


def _told(solutions: Sequence[_Solutions], execution: Execution) -> SketchReport:
    """Return the report of an answer: what was done for the view for which most was done, the versions of all."""
    most = next((each for each in solutions if each.upkeep.decision is not Decision.FRESH), solutions[0])
    versions = {name: version for each in solutions for name, version in each.versions.items()}
    return report_of_solutions(most.upkeep, versions, execution.watch.times, most.identifier)
