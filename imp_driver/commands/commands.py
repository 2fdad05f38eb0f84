"""Runs the statements of the driver itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from imp_driver.advise.advisor import Advisor
from imp_driver.answer.answers import Answers
from imp_driver.answer.graphs.answers import GraphAnswers
from imp_driver.answer.graphs.views import SolutionViews
from imp_driver.answer.permitted import Permitted
from imp_driver.changes import NO_SKETCH, Changes
from imp_driver.commands.cluster import check_failure, cluster_statements
from imp_driver.commands.explain import explain
from imp_driver.commands.explain_why import explained_why
from imp_driver.commands.graph_updates import GraphUpdates
from imp_driver.commands.graphs import Graphs
from imp_driver.commands.materialized import MaterializedViews
from imp_driver.commands.permissions import Permissions
from imp_driver.commands.running import RunOne, without_rows
from imp_driver.commands.show import advised, questioned, shown
from imp_driver.commands.sparql_query import SparqlQueries
from imp_driver.commands.views import ViewCommands
from imp_driver.commands.what_if import WhatIfs
from imp_driver.errors import Error, ProgrammingError
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import means_of
from imp_driver.parse.commands import CommandKind
from imp_driver.parse.nearest import FORMS, nearest_form
from imp_driver.parse.statement import Statement, check_query, parse
from imp_driver.ports import Outcome, Session
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.versions import TRANSACTION_COMMANDS, ReadTransaction
from imp_driver.sparql.algebra import Source
from imp_driver.sparql.read import is_update
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.tables import ChangeSource

_HINTS = {
    "REFRESH INCREMENTAL": "An incremental view is up to date whenever it is read; REFRESH MATERIALIZED VIEW is for materialized ones.",
    "ALTER INCREMENTAL": "ALTER VIEW, as Spark has it, changes an incremental view.",
    "ALTER MATERIALIZED": "CREATE OR REPLACE MATERIALIZED VIEW makes one anew; ALTER TABLE changes its table.",
}


class Commands:
    """The commands of one connection; none tells of tables that its session may not read.

    ``requests`` says what a query would ask of the sketches, ``run_one`` runs another statement on behalf of a command.
    """

    def __init__(
        self,
        session: Session,
        sketches: Sketches,
        advisor: Advisor,
        transaction: ReadTransaction,
        changes: Changes,
        requests: Callable[[Statement, Execution], list[Request]],
        answers: Answers,
        reader: Reader,
        source: ChangeSource,
        run_one: RunOne,
        options: Options,
    ) -> None:
        self._session = session
        self._sketches = sketches
        self._advisor = advisor
        self._transaction = transaction
        self._changes = changes
        self._requests = requests
        self._answers = answers
        self._run_one = run_one
        graphs = GraphAnswers(session, source, transaction, sketches, Permitted(session, options), options)
        self._sparql = SparqlQueries(graphs, options, run_one)
        self.solutions = SolutionViews(graphs)
        self.views = ViewCommands(session, sketches, answers.named, run_one, self._sparql.in_sql, self.solutions)
        self._what_ifs = WhatIfs(session, source, answers, reader)
        self._graphs = Graphs(session, changes, run_one)
        self._updates = GraphUpdates(session, changes, self._sparql.solutions)
        self._default = None if options.graph is None else Source(options.graph)
        self._materialized = MaterializedViews(
            session, changes, self.views.check_followed, run_one, sketches.relations.views.schedule, self._sparql.in_sql
        )

    def run(self, statement: Statement, execution: Execution) -> Outcome:
        """Run a command. Raises ProgrammingError or NotSupportedError for what there is not."""
        command = statement.command
        assert command is not None
        if command.kind in TRANSACTION_COMMANDS:
            self._transaction.run(command.kind)
            return Outcome(None, -1, NO_SKETCH)
        match command.kind:
            case CommandKind.UNKNOWN:
                words = " ".join(command.argument.upper().split())
                hint = next((hint for beginning, hint in _HINTS.items() if words.startswith(beginning)), None) or _meant(words)
                raise ProgrammingError(f"{command.argument[:200]!r} is no statement of the driver. {hint}")
            case CommandKind.ADVISE:
                return Outcome(advised(self._advisor.advise(execution)), -1, NO_SKETCH)
            case CommandKind.ADVISE_ANSWERS:
                return Outcome(questioned(self._advisor.questions()), -1, NO_SKETCH)
            case CommandKind.CLUSTER:
                return self._rewrite_table(cluster_statements(command.argument, self._session, execution), execution)
            case CommandKind.CREATE_VIEW:
                self.views.create(command.argument, execution)
                return Outcome(None, -1, NO_SKETCH)
            case CommandKind.DROP_VIEW:
                self.views.drop(command.argument, execution)
                return Outcome(None, -1, NO_SKETCH)
            case CommandKind.SHOW_VIEWS:
                return Outcome(self.views.shown(execution), -1, NO_SKETCH)
            case CommandKind.EXPLAIN_VIEW:
                return Outcome(self.views.explained(command.argument, execution), -1, NO_SKETCH)
            case CommandKind.EXPLAIN_WHY:
                return Outcome(
                    explained_why(command.argument, self._answers, execution, means_of(self._session, execution), self.views.describe),
                    -1,
                    NO_SKETCH,
                )
            case CommandKind.CREATE_TABLE:
                return self._materialized.create(command.argument, execution)
            case CommandKind.DROP_TABLE:
                self._materialized.drop(command.argument, execution)
                return Outcome(None, -1, NO_SKETCH)
            case CommandKind.SHOW_TABLES:
                return Outcome(self._materialized.shown(execution), -1, NO_SKETCH)
            case CommandKind.REFRESH:
                return self._materialized.refresh(command.argument, execution)
            case CommandKind.WHAT_IF:
                return self._what_ifs.run(command.argument, execution)
            case CommandKind.SPARQL:
                return self._run_sparql(command.argument, execution)
            case CommandKind.CREATE_GRAPH:
                return self._graphs.create(command.argument, execution)
            case CommandKind.DROP_GRAPH:
                return self._graphs.drop(command.argument, execution)
            case CommandKind.SHOW_GRAPHS:
                return self._graphs.shown(execution)
            case CommandKind.EXPLAIN_SPARQL:
                return self._sparql.explain(command.argument, execution)
            case CommandKind.EXPLAIN:
                check_query(command.argument, "What EXPLAIN SKETCH explains")
                explained = parse(command.argument)
                plan = explain(
                    explained,
                    lambda each: self._answers.told(each, execution),
                    lambda each: self._requests(each, execution),
                    lambda each: self.views.describe(each.text, execution),
                    self._sketches,
                )
                return Outcome(plan, -1, NO_SKETCH)
        self._sketches.restore()
        permissions = Permissions(self._session)
        relations = permissions.visible(self._sketches.relations.registry.relations())
        graphs = permissions.visible_graphs(self._sketches.relations.graphs.all())
        if command.kind is CommandKind.SHOW:
            return Outcome(shown(relations, graphs, self._sketches), -1, NO_SKETCH)
        is_all = command.argument.upper() == "ALL"
        dropped = self._sketches.relations.drop(each for each in relations if is_all or each.identifier == command.argument)
        dropped += self._sketches.relations.graphs.drop([each for each in graphs if is_all or each.identifier == command.argument])
        if dropped == 0 and not is_all:
            raise ProgrammingError(f"There is no sketch {command.argument!r}. SHOW STATES lists them; DROP STATE ALL drops every one.")
        return Outcome(None, dropped, NO_SKETCH)

    def _run_sparql(self, text: str, execution: Execution) -> Outcome:
        if is_update(text):
            return self._updates.run_text(text, self._default, execution)
        return self._sparql.run(text, execution)

    def _rewrite_table(self, texts: Sequence[str], execution: Execution) -> Outcome:
        """Run the statements of a rewrite one after the other; return the last one's outcome, the rewrite's."""
        try:
            for text in texts:
                outcome = without_rows(self._run_one, text, execution)
        except Error as error:
            check_failure(error)
            raise
        target = self._changes.target(parse(texts[-1]))
        if target is not None:
            self._sketches.relations.forget(target.location)
        return replace(outcome, stream=None)


def _meant(words: str) -> str:
    """Say which statement was meant, or which ones there are."""
    form = nearest_form(words)
    return f"These are {', '.join(FORMS)}." if form is None else f"Did you mean {form}?"
