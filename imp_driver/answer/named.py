"""Incremental views: the relations that hold all of their rows are made when a view is, or is met for the first time in a process.

Source: the rules for named views (docs/views.md). A query over a view then finds these relations as it finds any others.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.answer.nested.told import told_nested
from imp_driver.answer.parts import Parts
from imp_driver.answer.patience import Patience
from imp_driver.answer.recursion.told import Told, told_recursions
from imp_driver.answer.summary import Groups
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.errors import OperationalError
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.statement import Statement, parse, table_name, tables_in
from imp_driver.plan.nodes import Plan, scans
from imp_driver.plan.views import DEEPEST
from imp_driver.ports import Session, View
from imp_driver.reasons import Decision, Reason
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Grouped
from imp_driver.snapshot.versions import of_recursion
from imp_driver.state.named_views import Below, LastAction, NamedView
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.report import SketchReport
from imp_driver.values.view_policy import ViewPolicy


def views_of(reading: Reading) -> Mapping[tuple[str, ...], View]:
    """Return the incremental views that a query reads, those below others too."""
    return {each.name: each.view for scan in reading.text.scans for each in scan.views if each.view.policy is not None}


def _below(reading: Reading, name: tuple[str, ...]) -> Below:
    """Return the views below one of those that a query reads."""
    chains = [list(scan.views) for scan in reading.text.scans if any(each.name == name for each in scan.views)]
    return frozenset(
        (each.name, each.view.definition)
        for chain in chains
        for each in chain[next(place for place, each in enumerate(chain) if each.name == name) + 1 :]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What the rows of a query are to be held by.

    Attributes:
        requests: each with whether it is for different rows.
        has_constants: whether values of scalar subqueries below the groups decide which rows these are.
        above: the recursions and correlated subqueries that stand above them.
        plan: of the rows.
    """

    requests: tuple[tuple[Request, bool], ...]
    has_constants: bool
    above: tuple[Told, ...]
    plan: Plan


class NamedAnswers:
    """The incremental views of one connection."""

    def __init__(self, session: Session, sketches: Sketches, options: Options, reader: Reader) -> None:
        self._session = session
        self._reader = reader
        self._views = sketches.relations.views
        self._sketches = sketches
        self._patience = Patience()
        self.is_used = options.answers and options.sketch is not SketchMode.OFF
        self._parts = {policy: Parts(session, sketches, options, policy) for policy in ViewPolicy}

    def parts(self, policy: ViewPolicy) -> Parts:
        """Return what finds the rows that a view of a policy would have."""
        return self._parts[policy]

    def ensure(self, reading: Reading, execution: Execution, means: Means) -> None:
        """Have the rows of each view of a query held, unless an old version of them is asked for. Raises Error."""
        for name, view in () if reading.is_pinned else views_of(reading).items():
            known = self._views.find(name)
            is_same = known is not None and known.is_of(view, _below(reading, name))
            if known is None or not is_same or not (known.is_held or self._patience.why_not(qualified(name))):
                self.establish(name, view, execution, means)

    def establish(self, name: tuple[str, ...], view: View, execution: Execution, means: Means) -> NamedView:
        """Have the rows of a view held from now on; what is returned says why that cannot be. Raises Error."""
        begin = time.perf_counter()
        below: Below = frozenset()
        try:
            reading = self._read(name, execution)
            below, has_constants = _below(reading, name), bool(_grouped(reading).constants)
            parts = self._held(view, reading, means)
        except Refused as refused:
            self._patience.in_vain(qualified(name), refused.grounds)
            found = NamedView(name, view, below, refused=refused.grounds)
        else:
            self._patience.succeeded(qualified(name))
            # The first that is not as it was says what was done.
            decision = next((part.upkeep.decision for part in parts if part.upkeep.decision is not Decision.FRESH), Decision.FRESH)
            last = LastAction(decision, sum(part.upkeep.delta_rows for part in parts), 1000 * (time.perf_counter() - begin))
            relations = tuple(dict.fromkeys(part.relation for part in parts))
            found = NamedView(name, view, below, relations, last=last, has_constants=has_constants)
        self._views.put(found)
        return found

    def _read(self, name: tuple[str, ...], execution: Execution) -> Reading:
        text = f"SELECT * FROM {qualified(name)}"
        reading = self._reader.read(parse(text), execution.of(text))
        if reading.is_pinned:
            raise Refused(Reason.OLD_VERSION)
        return reading

    def _held(self, view: View, reading: Reading, means: Means) -> tuple[Groups, ...]:
        try:
            assert view.policy is not None
            held = self._parts[view.policy].of(_grouped(reading), reading, reading.parameters(None), means)
        except NotEvaluable as error:
            raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        self._sketches.relations.evict()
        return held.parts

    def asked(self, text: str, execution: Execution) -> Asked:
        """Return what the rows of a query are to be held by. Raises Refused."""
        reading = self._reader.read(parse(text), execution.of(text), is_told=True)
        grouped = _grouped(reading)
        requests = tuple(self._parts[ViewPolicy.INCREMENTAL].requests(grouped, reading, reading.parameters(None)))
        above = (*told_recursions(grouped.plan), *map(Told, told_nested(grouped.plan)))
        return Asked(requests, bool(grouped.constants), above, grouped.plan)

    def note(self, reading: Reading, report: SketchReport) -> None:
        """Remember what was done for the views of a query, unless nothing was to be done."""
        if report.decision is Decision.FRESH:
            return
        reason = "" if report.recapture_reason is None else report.recapture_reason.name
        for name in views_of(reading):
            self._views.note(name, LastAction(report.decision, report.delta_rows, sum(report.times.values()), reason))

    def check(self, statement: Statement, grounds: Grounds, execution: Execution) -> None:
        """Refuse a query over a view that Spark may not compute; ``grounds`` say why the query is not answered.

        Raises:
            NotAnswered: there is such a view.
            Error: the query cannot run at all.
        """
        found = None if statement.tree is None else self._not_for_spark(statement.tree, (), DEEPEST)
        if found is not None:
            name, view = found
            self._session.describe(execution.with_text(statement.text))
            why = self._why_lost(name) or (of_recursion(grounds) if view.is_recursive else grounds)
            raise NotAnswered(name, why, is_recursive=view.is_recursive)

    def reads_recursion(self, query: str) -> bool:
        """Say whether a query reads a recursive view, through other views too."""
        tree = parse(query).tree
        found = None if tree is None else self._not_for_spark(tree, (), DEEPEST)
        return found is not None and found[1].is_recursive

    def _why_lost(self, name: tuple[str, ...]) -> Grounds | None:
        """Return why the rows of a view are held no longer; None where they are, or never were."""
        known = self._views.find(name)
        causes = [] if known is None else [each.cause for each in known.relations if not each.is_ready]
        cause = next(filter(None, causes), None)
        return None if cause is None else Grounds(Reason.NOT_FOLLOWED, f"{cause.reason.name}: {cause.detail or cause.reason.value}")

    def _not_for_spark(self, tree: exp.Expr, namespace: tuple[str, ...], depth: int) -> tuple[tuple[str, ...], View] | None:
        """Return a recursive view, or one with POLICY STRICT, that a query reads, through other views too."""
        common = {each.alias.lower() for each in tree.find_all(exp.CTE)}
        for table in tables_in(tree):
            if len(table.parts) == 1 and table.name.lower() in common:
                continue
            name = table_name(table) if isinstance(table.this, exp.Identifier) else ()
            relation = self._session.resolve((*namespace, *name) if len(name) == 1 else name) if name else None
            view = None if relation is None else relation.view
            if relation is None or view is None:
                continue
            if view.is_recursive or view.policy is ViewPolicy.STRICT:
                return relation.name, view
            below = parse(view.text).tree if depth else None
            found = None if below is None else self._not_for_spark(below, view.namespace, depth - 1)
            if found is not None:
                return found
        return None


class NotAnswered(OperationalError):
    """A query over a view that Spark would have to compute and may not, or cannot; ``grounds`` say why it is not answered.

    Commands know it by its class; the application gets an OperationalError.
    """

    def __init__(self, name: Iterable[str], grounds: Grounds, *, is_recursive: bool = False) -> None:
        renew = " CREATE OR REPLACE INCREMENTAL VIEW captures its rows again." if grounds.reason is Reason.NOT_FOLLOWED else ""
        what = "is recursive, so that this driver alone computes it" if is_recursive else "has POLICY STRICT"
        otherwise = "" if is_recursive else " With POLICY AUTO Spark computes it."
        super().__init__(
            f"{qualified(tuple(name))} {what}, and the query is not answered from what is maintained ({grounds.told}).{renew}{otherwise}"
        )
        self.grounds = grounds


FEW_ROWS = 50_000
"""Of tables that groups are joined with: what stands above both is evaluated at each reading, from groups that views have in common."""


def over_views(reading: Reading) -> Grouped | None:
    """Return a query over incremental views as what stands above their groups and few rows of other tables; None where it is not that."""
    inner = reading.text.inner() if views_of(reading) else None
    if inner is None:
        return None
    counts = [reading.tables[scan.table].snapshot.row_count for bag in inner.bags for scan in scans(bag)]
    return inner if all(count is not None and count <= FEW_ROWS for count in counts) else None


def _grouped(reading: Reading) -> Grouped:
    return over_views(reading) or reading.text.with_rows() or reading.text.grouped()
