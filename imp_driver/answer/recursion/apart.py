"""A query over recursive relations with something that Spark alone computes: the relations are computed first, then Spark runs the query.

Every reference to such a relation has its rows in its place, those in its own definition too, which then recurs no more and is read by
nobody. All other characters of the caller's text stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.statement import Statement, named, table_name, tables_in
from imp_driver.plan.recursive_form import components, name_of, reads
from imp_driver.ports import Outcome, Session
from imp_driver.reasons import Reason, ServedBy
from imp_driver.rewrite.comparison import Served
from imp_driver.rewrite.splice import TableReference, find_reference, spliced, subquery
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import at_version

MOST_BYTES = 64 << 20
"""Of rows of recursive relations that are handed over to Spark."""
ABOVE = frozenset(
    {
        Reason.UNKNOWN_FUNCTION,
        Reason.NON_DETERMINISTIC,
        Reason.UNSUPPORTED_EXPRESSION,
        Reason.UNSUPPORTED_AGGREGATE,
        Reason.SUBQUERY,
        Reason.CORRELATED_SUBQUERY,
        Reason.GROUPING_SETS,
        Reason.SAMPLE,
        Reason.TABLE_FUNCTION,
        Reason.WINDOW_FUNCTION,
        Reason.LEFT_TO_SPARK,
        Reason.NOT_A_DELTA_TABLE,
    }
)
"""Why a query is not computed here though its recursions may be."""


@dataclass(frozen=True, slots=True, eq=False)
class _Recursive:
    """A relation of a query: the query of its rows, and where it stands."""

    query: Execution
    references: tuple[TableReference, ...]


class RecursionsApart:
    """Serves such queries of one connection; ``run`` runs a query as the connection does."""

    def __init__(self, session: Session, run: Callable[[Execution], Outcome]) -> None:
        self._session = session
        self._run = run

    def served(self, statement: Statement, execution: Execution, grounds: Grounds) -> Served | None:
        """Return the rows of a query that is not computed here for such grounds; None where that is no way to have them. Raises Error."""
        # What is left to Spark in rounds may be so for what stands above alone.
        is_above = grounds.reason is Reason.RECURSION_BY_SPARK and grounds.detail.startswith(Reason.LEFT_TO_SPARK.name)
        if not (is_above or grounds.reason in ABOVE) or statement.tree is None:
            return None
        try:
            relations = list(self._relations(statement, statement.tree, execution))
            return self._over(relations, statement, statement.tree, execution, grounds) if relations else None
        except Refused:
            return None

    def _relations(self, statement: Statement, tree: exp.Expr, execution: Execution) -> Iterator[_Recursive]:
        clause: exp.With = tree.args.get("with_") or exp.With(expressions=[])
        recursive = {name_of(each) for component in components(clause) for each in component}
        common = {name_of(each): each for other in tree.find_all(exp.With) for each in other.expressions}
        if any(components(other) for other in tree.find_all(exp.With) if other is not clause):
            return
        if recursive and len(common) < sum(len(other.expressions) for other in tree.find_all(exp.With)):
            # One name may be two relations.
            return
        places: dict[tuple[str, ...], list[exp.Table]] = {}
        for table in tables_in(tree):
            places.setdefault(tuple(part.lower() for part in table_name(table)), []).append(table)
        for name, tables in places.items():
            references = tuple(find_reference(statement, each) for each in tables)
            if len(name) == 1 and name[0] in recursive:
                yield _Recursive(_query(_rows_of(name[0], clause), execution), references)
            elif not (len(name) == 1 and name[0] in common):
                found = self._session.resolve(table_name(tables[0]))
                if found is not None and found.view is not None and found.view.is_recursive:
                    yield _Recursive(execution.of(f"SELECT * FROM {qualified(found.name)}"), references)

    def _over(
        self, relations: list[_Recursive], statement: Statement, tree: exp.Expr, execution: Execution, grounds: Grounds
    ) -> Served | None:
        is_itself = statement.text.strip() in {each.query.text for each in relations}
        sampled = any(table.args.get("sample") and not table.alias for table in tables_in(tree))
        if is_itself or sampled or any(column.args.get("db") for column in tree.find_all(exp.Column)):
            # A name in the place of a relation would stand before TABLESAMPLE, and has no schema.
            return None
        pieces: dict[TableReference, str] = {}
        views: dict[str, pa.Table] = {}
        reports: list[SketchReport] = []
        for each in relations:
            found = self._rows(each.query)
            if found is None:
                return None
            rows, report = found
            view = f"__imp_rows_{uuid4().hex}"
            views[view] = rows
            reports.append(report)
            pieces |= {place: subquery(place, "*", quoted_name(view)) for place in each.references}
        versions = {name: version for report in reports for name, version in report.tables.items()}
        if any(report.tables[name] != version for name, version in versions.items() for report in reports if name in report.tables):
            return None
        pieces = {**self._pinned(statement, tree, versions), **pieces}
        text = spliced(statement.text, pieces)
        with execution.watch.stage("execute"):
            stream = self._session.execute_with(execution.with_text(text), views)
        report = replace(reports[0], served_by=ServedBy.STATE_AND_SPARK, executed_sql=text, tables=versions, not_answered=grounds)
        return Served(stream, replace(report, times=execution.watch.times))

    def _rows(self, query: Execution) -> tuple[pa.Table, SketchReport] | None:
        """Return the rows of a relation; None where they are too many. Raises Error where they are not to be had."""
        outcome = self._run(query)
        assert outcome.stream is not None
        batches, size = [], 0
        try:
            while (batch := outcome.stream.next_batch()) is not None:
                batches.append(batch)
                size += batch.nbytes
                if size > MOST_BYTES:
                    return None
        finally:
            outcome.stream.close()
        return pa.Table.from_batches(batches, outcome.stream.schema), outcome.report

    def _pinned(self, statement: Statement, tree: exp.Expr, versions: Mapping[str, int]) -> dict[TableReference, str]:
        """Have tables that the recursions read too read at the versions that these stand for. Raises Refused where that is not possible."""
        common = {name_of(each) for clause in tree.find_all(exp.With) for each in clause.expressions}
        pieces = {}
        for table in tables_in(tree):
            if len(table.parts) == 1 and table.name.lower() in common:
                continue
            found = self._session.resolve(table_name(table))
            view = None if found is None else found.view
            if table.args.get("version") or table.args.get("when") or (view is not None and not view.is_recursive):
                raise Refused(Reason.VIEW)
            version = None if found is None else versions.get(".".join(found.name))
            if found is not None and version is not None:
                place = find_reference(statement, table)
                pieces[place] = subquery(place, "*", at_version(qualified(found.name), version))
        return pieces


def _rows_of(name: str, clause: exp.With) -> exp.Expr:
    """Return the query of the rows of a recursive table of a WITH: with what it reads there, and nothing else."""
    every, wanted = {name_of(each): each for each in clause.expressions}, {name}
    for _ in every:
        wanted |= {other for other in every if any(reads(every[each].this, {other}) for each in wanted)}
    kept = [each.copy() for own, each in every.items() if own in wanted]
    rows = exp.select("*").from_(exp.to_identifier(name, quoted=True))
    rows.set("with_", exp.With(expressions=kept, recursive=True))
    return rows


def _query(tree: exp.Expr, execution: Execution) -> Execution:
    used = {each.name for each in tree.find_all(exp.Placeholder)}
    values = {name: value for name, value in named(execution.parameters).items() if name in used}
    return execution.of(tree.sql(dialect=SparkText), values or None)
