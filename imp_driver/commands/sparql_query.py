"""SPARQL queries: answered from the solutions that follow their graphs; where these cannot be followed, by Spark, in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from imp_driver.answer.graphs.answers import Graph, GraphAnswers
from imp_driver.answer.graphs.results import Column, column
from imp_driver.answer.graphs.told import report_of_solutions
from imp_driver.changes import NO_SKETCH
from imp_driver.commands.local import LocalStream
from imp_driver.commands.running import RunOne, rows_of_stream
from imp_driver.dataflow.mappings.circuit import Circuit, NotMaintained, Row
from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.maintain.upkeep import means_of
from imp_driver.parse.sparql import read_sparql
from imp_driver.ports import Outcome, ResultStream
from imp_driver.sparql.algebra import Form, Pattern, Project, Quad, Query, Source, variables
from imp_driver.sparql.functions.volatile import at_one_moment, is_volatile
from imp_driver.sparql.given import bound
from imp_driver.sparql.read import is_update, read_query
from imp_driver.sparql.sql.translate import Result, translated
from imp_driver.sparql.templates import rows_of
from imp_driver.sparql.terms import Term
from imp_driver.state.graph_states import GraphState
from imp_driver.values.attempt import tried
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Terms
from imp_driver.values.options import Options
from imp_driver.values.refusal import Grounds, Refused

_NOWHERE = Source("")
"""Where the triples of CONSTRUCT are."""


class SparqlQueries:
    """The SPARQL queries of one connection. ``run_one`` runs a statement of SQL on behalf of one."""

    def __init__(self, graphs: GraphAnswers, options: Options, run_one: RunOne) -> None:
        self._graphs = graphs
        self._options = options
        self._run_one = run_one

    def run(self, text: str, execution: Execution) -> Outcome:
        """Run a query.

        Raises:
            ProgrammingError: it cannot be read, or reads what is no graph.
            NotSupportedError: it can neither be followed nor be told in SQL.
            Error: Spark failed.
        """
        with execution.watch.stage("parse"):
            query = self._read(text, execution)
            is_kept = not is_volatile(query.pattern)
            query = query if is_kept else at_one_moment(query)
        tables = self._graphs.graphs(query.pattern)
        served = tried(lambda: self._served(query, text, tables, execution, is_kept=is_kept), execution.token)
        return self._by_spark(query, tables, execution, served) if isinstance(served, Grounds) else served

    def _read(self, text: str, execution: Execution) -> Query:
        return read_query(text, self._graphs.default, bound(execution.parameters, text))

    def in_sql(self, text: str) -> str:
        """Return a statement that begins with SPARQL as a query of SQL, whose columns have types by the option ``terms``.

        Raises ProgrammingError and NotSupportedError.
        """
        found = read_sparql(text)
        assert found is not None
        query = read_query(found.text, self._graphs.default)
        return translated(
            query, lambda name: self._graphs.graph(name).text, result=Result.TYPED if self._options.terms is Terms.TYPED else Result.SHOWN
        )

    def explain(self, text: str, execution: Execution) -> Outcome:
        """Say how a query is answered, and what Spark would run otherwise. Raises as ``run``."""
        if is_update(text):
            raise ProgrammingError("EXPLAIN SPARQL explains queries; an update is one MERGE, or one DELETE, of its graph's table.")
        query = self._read(text, execution)
        tables = self._graphs.graphs(query.pattern)
        try:
            circuit = Circuit(query.pattern)
            lines = [f"Answered from solutions that follow the graphs: {', '.join(tables) or 'none'}."]
            lines += [*_state(self._graphs.kept(query.pattern, tables, circuit.wanted)), *_kept(circuit)]
        except NotMaintained as error:
            lines = [f"Not followed in process: {error}."]
        except Refused as refused:
            lines = [f"Not followed in process: {refused.grounds.told}."]
        try:
            lines.append(f"Spark alone would run: {translated(query, lambda name: tables[name].text)}")
        except NotSupportedError as error:
            lines.append(f"Spark alone cannot run it: {error}")
        return Outcome(LocalStream({"plan": (pa.string(), lines)}), -1, NO_SKETCH)

    def solutions(self, pattern: Pattern, execution: Execution) -> list[Row]:
        """Return the solutions of a pattern now, each as often as it counts, over ``variables(pattern)``. Raises as ``run``."""
        columns = variables(pattern)
        query = Query(Form.SELECT, at_one_moment(Project(pattern, columns)), columns)
        tables = self._graphs.graphs(pattern)
        means = means_of(self._graphs.session, execution)
        found = tried(lambda: self._graphs.once(query.pattern, tables, means, Circuit.ordered)[2], execution.token)
        if not isinstance(found, Grounds):
            return found
        rows = self._graphs.session.read(self._sql(query, tables, found, Result.TERMS), execution)
        return list(zip(*(rows.column(place).to_pylist() for place in range(len(columns))), strict=True)) if columns else [()] * len(rows)

    def _served(self, query: Query, text: str, tables: Mapping[str, Graph], execution: Execution, *, is_kept: bool) -> Outcome:
        means = means_of(self._graphs.session, execution)
        reader: Callable[[Circuit], list[Row]] = lambda circuit: _result(query, circuit)  # noqa: E731
        identifier = None
        if is_kept:
            identifier, upkeep, versions, rows = self._graphs.read(query.pattern, tables, means, reader, text)
        else:
            upkeep, versions, rows = self._graphs.once(query.pattern, tables, means, reader)
        if query.form is Form.ASK:
            columns: dict[str, Column] = {"ask": (pa.bool_(), [bool(rows)])}
        else:
            names = [each.name for each in query.columns]
            columns = {name: column(terms, self._options.terms) for name, terms in zip(names, _columns(rows, len(names)), strict=True)}
        return Outcome(LocalStream(columns), -1, report_of_solutions(upkeep, versions, execution.watch.times, identifier))

    def _by_spark(self, query: Query, tables: Mapping[str, Graph], execution: Execution, why: Grounds) -> Outcome:
        is_typed = self._options.terms is Terms.TYPED and query.form is not Form.ASK
        forms = {Terms.N3: Result.N_TRIPLES, Terms.TYPED: Result.TERMS if is_typed else Result.SHOWN}
        outcome = self._run_one(execution.of(self._sql(query, tables, why, forms.get(self._options.terms, Result.SHOWN))))
        stream = _typed(outcome.stream) if is_typed and outcome.stream is not None else outcome.stream
        # Why the translation is not answered as SQL says nothing of what was asked.
        return replace(outcome, stream=stream, report=replace(outcome.report, not_answered=why))

    def _sql(self, query: Query, tables: Mapping[str, Graph], why: Grounds, result: Result) -> str:
        try:
            return translated(query, lambda name: tables[name].text, result=result)
        except NotSupportedError as error:
            raise NotSupportedError(f"This query is not answered in process ({why.told}), and Spark cannot run it: {error}") from None


def _result(query: Query, circuit: Circuit) -> list[Row]:
    if query.form is Form.ASK:
        return list(circuit.rows)[:1]
    solutions = circuit.ordered()
    if query.form is not Form.CONSTRUCT:
        return solutions
    made = rows_of([Quad(triple, _NOWHERE) for triple in query.template], circuit.variables, solutions, "made")
    return [row[:3] for row in made.get(_NOWHERE.table, ())]


def _typed(stream: ResultStream) -> LocalStream:
    """Return terms as values of types, which all values of a column decide."""
    rows = rows_of_stream(stream)
    return LocalStream({name: column(each.to_pylist(), Terms.TYPED) for name, each in zip(rows.column_names, rows.columns, strict=True)})


def _columns(rows: Sequence[Row], count: int) -> Sequence[Sequence[Term | None]]:
    return [*zip(*rows, strict=True)] if rows else [()] * count


def _state(state: GraphState | None) -> list[str]:
    """Say by which state a query is answered, as SHOW STATES has it."""
    if state is None:
        return ["State: to be captured."]
    if state.problem:
        return [f"State {state.identifier}: {state.problem}."]
    versions = ", ".join(f"{'.'.join(name)} at version {version}" for name, version in state.versions.items())
    return [f"State {state.identifier}: {state.solutions} solutions, {state.bytes} bytes; {versions}."]


def _kept(circuit: Circuit) -> list[str]:
    """Say which triples a pattern can match, and so are kept."""
    every = ((table, constants) for table, read in circuit.wanted.items() for constants in dict.fromkeys(read))
    return [f"Kept of {table}: {' '.join(term or '?' for term in constants)}" for table, constants in every]
