"""The statements of incremental views: made, dropped, shown, and explained."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from uuid import uuid4

import pyarrow as pa

from imp_driver.answer.graphs.views import SolutionViews
from imp_driver.answer.named import Asked, NamedAnswers, NotAnswered
from imp_driver.commands.followed import BY_SPARK, CAPTURED, IN_PROCESS, Followed, followed, why_captured_again
from imp_driver.commands.local import LocalStream
from imp_driver.commands.placed import placed
from imp_driver.commands.running import RunOne, without_rows
from imp_driver.commands.typed_views import typed_view
from imp_driver.errors import Error, NotSupportedError, ProgrammingError
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import means_of
from imp_driver.parse.statement import check_query, parse
from imp_driver.parse.views import NewView, read_dropped, read_new_view
from imp_driver.plan.recursive_form import is_recursive, unrolled
from imp_driver.plan.traceable import traceable
from imp_driver.ports import Relation, RelationKind, Session, View
from imp_driver.reasons import Reason, ServedBy
from imp_driver.safety.verdict import readable
from imp_driver.state.named_views import NamedView
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.view_policy import PROPERTY, SPARQL, TRIED, ViewPolicy

_CATALOG = "spark_catalog"
_POLICY = re.compile(rf"""['"`]?{re.escape(PROPERTY)}['"`]?\s*=?\s*['"]([^'"]*)['"]""", re.IGNORECASE)


class ViewCommands:
    """The views of one connection; ``run_one`` runs another statement on behalf of a command, ``in_sql`` translates SPARQL."""

    def __init__(
        self,
        session: Session,
        sketches: Sketches,
        named: NamedAnswers,
        run_one: RunOne,
        in_sql: Callable[[str], str],
        solutions: SolutionViews,
    ) -> None:
        self.in_sql = in_sql
        self._solutions = solutions
        self._session = session
        self._sketches = sketches
        self._named = named
        self._run_one = run_one

    def create(self, text: str, execution: Execution) -> None:
        """Make a view in the catalog, and have its rows held. Where that raises, a view that was there stays.

        Raises:
            NotSupportedError: its policy asks for changes to be followed that could only be captured again.
            ProgrammingError: the statement or its query cannot be read.
        """
        wanted = typed_view(read_new_view(text), self._session, execution, self.in_sql)
        there = self._session.resolve(wanted.name)
        if wanted.may_exist and there is not None:
            return
        if there is not None and there.kind is not RelationKind.VIEW:
            raise ProgrammingError(f"No incremental view can be made. {self._what_it_is(wanted.name, there)}")
        is_tried = wanted.policy.is_followed
        # Of a recursive one Spark is asked about another text.
        with placed("" if wanted.typed else wanted.query, execution.text):
            if is_tried:
                is_tried = not self._is_of_solutions(wanted, execution)
            elif wanted.typed:
                # Nobody else would compute it either.
                self._asked(wanted.query, execution, f"{qualified(wanted.name)} is not made")
            elif self._named.reads_recursion(wanted.query):
                self._asked(wanted.query, execution, f"{qualified(wanted.name)} is not made", _OVER_RECURSION)
            else:
                # What Spark says of the statement that the catalog has would be about a text that nobody wrote.
                self.describe(wanted.query, execution)
        if wanted.has_provenance:
            self._check_traced(wanted, execution)
        if there is not None:
            self._sketches.relations.views.renew(there.name)
        with self._tried(wanted, execution) if is_tried else nullcontext():
            self._make(wanted, execution)

    def _is_of_solutions(self, wanted: NewView, execution: Execution) -> bool:
        """Say whether a view is followed by its solutions in SPARQL alone, which they are from then on. Raises as ``check_followed``."""
        try:
            self.check_followed(wanted, execution)
        except NotSupportedError:
            if wanted.sparql and not wanted.typed and self._named.is_used:
                with suppress(Refused):
                    columns = self._session.describe(execution.with_text(wanted.query)).columns
                    self._solutions.follow(wanted.sparql, [each.type_name for each in columns], means_of(self._session, execution))
                    return True
            raise
        return False

    def _check_traced(self, wanted: NewView, execution: Execution) -> None:
        """Raise NotSupportedError where it could not be said by which base rows the rows of a view are there."""
        begin = f"{qualified(wanted.name)} is not made"
        try:
            traceable(self._asked(wanted.query, execution, begin).plan)
        except Refused as refused:
            raise NotSupportedError(f"{begin}: it could not be said why its rows are there: {refused.grounds.detail}.") from None

    @contextmanager
    def _tried(self, wanted: NewView, execution: Execution) -> Iterator[None]:
        """Have the rows of a view held by another one meanwhile. Raises NotSupportedError where they cannot be, and nothing changed."""
        other = replace(wanted, name=(*wanted.name[:-1], f"{TRIED}{uuid4().hex}"), replaces=False, may_exist=False)
        try:
            held = self._make(other, execution)
        except Error as error:
            error.args = tuple(str(each).replace(other.name[-1], wanted.name[-1]) for each in error.args)
            raise
        try:
            why = self._why_not_followed(held, execution)
            if why:
                told = why.replace(other.name[-1], wanted.name[-1])
                otherwise = "" if wanted.typed else " POLICY AUTO leaves its rows to Spark."
                raise NotSupportedError(f"{qualified(wanted.name)} is not made: {told}.{otherwise}")
            yield
        finally:
            self._drop(other.name if held is None else held.name, execution)

    def _make(self, wanted: NewView, execution: Execution) -> NamedView | None:
        """Make a view; return what holds its rows, None where this session cannot look into it."""
        without_rows(self._run_one, wanted.text, execution)
        found = self._view(wanted.name)
        if found is None or found[1].policy is None:
            # Another client dropped it just now, or (Spark Connect) the catalog does not tell enough of it.
            return None
        return self._named.establish(*found, execution, means_of(self._session, execution))

    def _why_not_followed(self, held: NamedView | None, execution: Execution) -> str:
        if held is None:
            return "this connection cannot look into views"
        return held.refused.told if held.refused is not None else self._why_by_spark(held, execution)

    def _why_by_spark(self, made: NamedView, execution: Execution) -> str:
        """Read a view once; say why its rows do not come from what is held alone, empty where they do."""
        try:
            outcome = without_rows(self._run_one, f"SELECT * FROM {qualified(made.name)}", execution)
        except NotAnswered as error:
            return error.grounds.told
        if outcome.report.served_by is ServedBy.STATE:
            return ""
        return "what stands above the rows that are held is computed by Spark at each reading"

    def check_followed(self, wanted: NewView, execution: Execution) -> None:
        """Raise NotSupportedError where some change of the tables below a query could only be captured again."""
        begin = f"{qualified(wanted.name)} is not made"
        if not self._named.is_used:
            raise NotSupportedError(f"{begin}: this connection answers nothing from states (options answers and sketch).")
        asked = self._asked(wanted.query, execution, begin)
        whys = (why_captured_again(request.block) for request, _ in asked.requests)
        why = _CONSTANTS if asked.has_constants else next(filter(None, whys), "")
        if why:
            raise NotSupportedError(f"{begin}: changes of {why} cannot be followed. POLICY AUTO or FULL captures it again.")

    def _asked(self, query: str, execution: Execution, otherwise: str, hint: str = "") -> Asked:
        """Return what the rows of a query are held by.

        Raises NotSupportedError, which begins with ``otherwise``, or what Spark says of the query.
        """
        try:
            return self._named.asked(query, execution)
        except Refused as refused:
            self.describe(query, execution)
            raise NotSupportedError(f"{otherwise}: {refused.grounds.told}.{hint}") from None

    def describe(self, query: str, execution: Execution) -> None:
        """Raise what Spark says of a query."""
        own = execution.with_text(query)
        with suppress(Refused):
            self._session.describe(unrolled(own) if is_recursive(parse(query).tree) else own)

    def check_properties(self, text: str) -> None:
        """Raise ProgrammingError for a statement that gives a view a policy which there is not."""
        found = _POLICY.search(text)
        if found is not None and found[1].strip().upper() not in ViewPolicy.__members__:
            raise ProgrammingError(f"There is no policy {found[1]}. These are {', '.join(ViewPolicy.__members__)}.")

    def drop(self, argument: str, execution: Execution) -> None:
        """Drop an incremental view. Raises ProgrammingError where there is none of this name."""
        name, may_miss = read_dropped(argument)
        relation = self._session.resolve(name)
        if relation is None and may_miss:
            return
        if relation is None or relation.view is None or relation.view.policy is None:
            raise ProgrammingError(f"There is no incremental view {qualified(name)}. {self._what_it_is(name, relation)}")
        self._drop(relation.name, execution)

    def _what_it_is(self, name: tuple[str, ...], relation: Relation | None) -> str:
        if relation is None:
            return "There is nothing of this name. SHOW INCREMENTAL VIEWS lists them."
        definition = self._session.definition(relation.name) if relation.kind is RelationKind.DELTA_TABLE else None
        if definition is not None and PROPERTY in definition.properties:
            return f"{qualified(name)} is a materialized view, which DROP MATERIALIZED VIEW drops."
        return f"{qualified(name)} is a {relation.kind.value}, which DROP {'VIEW' if 'view' in relation.kind.value else 'TABLE'} drops."

    def _drop(self, name: tuple[str, ...], execution: Execution) -> None:
        without_rows(self._run_one, f"DROP VIEW {qualified(name)}", execution)
        self._sketches.relations.views.forget(name)

    def check_known(self) -> None:
        """Let go of views that are no more, or are others now."""
        views = self._sketches.relations.views
        for name in views.names():
            known, found = views.find(name), self._view(name)
            if known is not None and (found is None or found[1].definition != known.view.definition):
                views.forget(name)

    def shown(self, execution: Execution) -> LocalStream:
        """Return a row for each incremental view of the catalog that the session may read."""
        every = sorted(self._every(execution), key=lambda each: each.name)
        text, number = pa.string(), pa.int64()
        registry = self._sketches.relations.registry
        return LocalStream(
            {
                "view_name": (text, [".".join(each.name) for each in every]),
                "policy": (text, [None if each.view.policy is None else each.view.policy.name for each in every]),
                "rows": (number, [sum(relation.groups or 0 for relation in each.relations) for each in every]),
                "bytes": (number, [sum(map(registry.weight, each.relations)) for each in every]),
                "versions": (text, [_versions(each) for each in every]),
                "states": (text, [", ".join(relation.identifier for relation in each.relations) or None for each in every]),
                "last_action": (text, [None if each.last is None else each.last.decision.name for each in every]),
                "last_rows": (number, [None if each.last is None else each.last.rows for each in every]),
                "last_ms": (pa.float64(), [None if each.last is None else round(each.last.milliseconds, 1) for each in every]),
                "reason": (text, [self._reason(each) for each in every]),
                "statement": (text, [self._written(each) for each in every]),
            }
        )

    def _reason(self, each: NamedView) -> str | None:
        is_of_solutions = each.refused is not None and self._solutions.asked(each.name, each.view) is not None
        return _OF_SOLUTIONS if is_of_solutions else _reason(each)

    def _written(self, each: NamedView) -> str | None:
        """Return the query of a view as it was written."""
        definition = self._session.definition(each.name) if each.view.text else None
        return (None if definition is None else definition.properties.get(SPARQL)) or each.view.text or None

    def _every(self, execution: Execution) -> Iterator[NamedView]:
        self.check_known()
        for (schema,) in _rows(self._session.read(f"SHOW SCHEMAS IN {_CATALOG}", execution), "namespace"):
            for name, is_temporary in _rows(self._session.read(f"SHOW VIEWS IN {qualified((_CATALOG, schema))}", execution), *_NAMED):
                found = None if is_temporary else self._view((_CATALOG, schema, name))
                if found is not None and found[1].policy is not None:
                    yield self._shown(*found)

    def _shown(self, name: tuple[str, ...], view: View) -> NamedView:
        """Return what is told of a view: of one that cannot be read no more than its name, which SHOW VIEWS tells too."""
        if not self._session.may_read(name):
            return NamedView(name, replace(view, text=""), refused=Grounds(Reason.NOT_PERMITTED, _UNREADABLE))
        return self._sketches.relations.views.find(name) or NamedView(name, view, refused=_NOT_MET)

    def _view(self, name: tuple[str, ...]) -> tuple[tuple[str, ...], View] | None:
        relation = self._session.resolve(name)
        if relation is None or relation.kind is not RelationKind.VIEW or relation.view is None:
            return None
        return relation.name, relation.view

    def explained(self, query: str, execution: Execution) -> LocalStream:
        """Return a row for each operator that the rows of a query would be followed by; one that says why where they are not held."""
        check_query(query, "What EXPLAIN INCREMENTAL explains")
        registry = self._sketches.relations.registry
        rows: list[tuple[int, Followed]] = []
        try:
            asked = self._named.asked(query, execution)
        except Refused as refused:
            self.describe(query, execution)
            is_answered = self._solutions.may_serve(parse(query))
            own = Followed("query", IN_PROCESS, reason="from the solutions of its views in SPARQL, which are followed: SHOW STATES")
            rows.append((0, own if is_answered else Followed("query", BY_SPARK, reason=readable(refused.grounds.told))))
        else:
            # The same rows may be read several times.
            every = dict.fromkeys(tuple(followed(request, registry, is_bag=is_bag)) for request, is_bag in asked.requests)
            rows.extend((block, row) for block, each in enumerate(every) for row in each)
            others = [Followed(_CONSTANTS, CAPTURED)] * asked.has_constants
            others += [Followed(each.operator, IN_PROCESS, reason=each.reason) for each in asked.above]
            rows.extend((block, row) for block, row in enumerate(others, len(every)))
        text = pa.string()
        return LocalStream(
            {
                "block": (pa.int64(), [block for block, _ in rows]),
                "operator": (text, [row.operator for _, row in rows]),
                "followed": (text, [row.how for _, row in rows]),
                "state": (text, [row.state or None for _, row in rows]),
                "reason": (text, [row.reason or None for _, row in rows]),
            }
        )


_OVER_RECURSION = (
    " It reads a recursive view, whose rows Spark does not have; a materialized view of these (CREATE MATERIALIZED VIEW) "
    "is a table, over which Spark computes anything."
)
_OF_SOLUTIONS = "its rows are the solutions of its SPARQL, which are followed as those of queries are: SHOW STATES"
_CONSTANTS = "the value of a scalar subquery that decides which rows are grouped"
_NAMED = ("viewName", "isTemporary")
_UNREADABLE = "it cannot be read: a table or column below it is gone, or this connection may not read it"
_NOT_MET = Grounds(Reason.CAPTURE_DEFERRED)
"""Of a view that no query of this process has had held: it was not read, or only by queries that were left to Spark as they are."""
_HELD_WHEN = "no query of this process has had its rows held yet; SELECT * FROM the view does, or its report (not_answered) says why not"


def _rows(table: pa.Table, *names: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


def _versions(named: NamedView) -> str | None:
    versions = {location: table.version for relation in named.relations for location, table in relation.vector.items()}
    return json.dumps(versions, sort_keys=True) if versions else None


def _reason(named: NamedView) -> str | None:
    if named.refused is _NOT_MET:
        return _HELD_WHEN
    if named.refused is not None:
        return readable(named.refused.told)
    lost = next((relation.cause for relation in named.relations if relation.cause is not None and not relation.is_ready), None)
    if lost is not None:
        return f"{lost.reason.name}: {lost.detail or lost.reason.value}"
    return None if named.last is None else named.last.reason or None
