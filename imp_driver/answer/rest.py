"""The rest by Spark: what only Spark computes above groups, and joins of these with tables, over the groups as small local tables.

The groups stand in the place of their aggregations; the other tables are read at the versions that the groups stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.above import GivenRows, given, passed_on
from imp_driver.answer.rounding import is_smooth, rounded_in, without_spreads
from imp_driver.answer.zeros import unsigned
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.nodes import Distinct, Merge, Plan, Project, SetOperation, TopK, Window, children, every
from imp_driver.plan.overflow import OVERFLOWS
from imp_driver.plan.render import Renderer, read_identifiers
from imp_driver.ports import ResultShape, ResultStream, Session
from imp_driver.reasons import Reason
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import at_version

MOST_BYTES = 8 << 20
"""Of groups that are handed over: Spark takes longer to take more of them over than to compute them."""
MOST_BESIDE = 0.5
"""Share of what a query reads that may stand beside its groups."""
CHEAP = 0.3
"""Seconds below which the rest always pays: estimates are not better than that."""
DEAR = 0.8
PATIENCE = 3
_MOST_TEMPLATES = 2_000


def check_left(plan: Plan, groups: GivenRows, *, may_round: bool, may_tie: bool, why: str) -> None:
    """Raise Refused where Spark's rows over these groups may be others than over the tables.

    Args:
        may_round: sums of doubles may be the correctly rounded ones where nothing is decided by them.
        may_tie: of rows that tie any may come first.
        why: it is left to Spark at all.
    """
    if any(isinstance(each, Merge) for each in every(plan)):
        # Of finer groups the driver alone knows what aggregates are made of.
        raise Refused(Reason.LEFT_TO_SPARK, why)
    if any(OVERFLOWS in node.meta for each in every(plan) for expression in expressions_of(each) for node in expression.find_all(exp.Case)):
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; sums of pairs that may overflow")
    if any(map(rounded_in, groups.values())) and not may_round:
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; sums of doubles (option floats)")
    _rounded(plan, groups, why)
    unsigned(plan, groups, why)
    if not may_tie and _may_tie(plan, groups):
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; rows may tie, and are compared with Spark's own")
    size = sum(each.nbytes for each in groups.values())
    if size > MOST_BYTES:
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; {size >> 20} MB of groups are too many to hand over")


def check_share(beside: int, whole: int) -> None:
    """Raise Refused where most of the bytes that a query reads stand beside its groups."""
    if beside > MOST_BESIDE * whole:
        raise Refused(Reason.ROWS_WITHOUT_GROUPS, "most of what is read stands beside the groups")


def _rounded(plan: Plan, groups: GivenRows, why: str) -> frozenset[str]:
    """Return the columns of an operator that are rounded sums. Raises Refused where anything is decided by one."""
    rows = given(plan, groups)
    if rows is not None:
        return rounded_in(rows)
    below = frozenset().union(*(_rounded(child, groups, why) for child in children(plan)))
    read = [node for node in expressions_of(plan) if identifiers(node) & below]
    is_compared = isinstance(plan, (Distinct, SetOperation)) and bool(below)
    if is_compared or not all(map(is_smooth, read)) or (read and not isinstance(plan, Project)):
        raise Refused(Reason.LEFT_TO_SPARK, f"{why}; something is decided by a sum of doubles")
    return passed_on(plan, below)


def _may_tie(plan: Plan, groups: GivenRows) -> bool:
    """Say whether which rows come first may be Spark's choice."""
    if given(plan, groups) is not None:
        return False
    return isinstance(plan, (TopK, Window)) or any(_may_tie(child, groups) for child in children(plan))


class Rest:
    """A query over groups, as it is left to Spark."""

    def __init__(self, plan: Plan, groups: GivenRows, versions: Mapping[tuple[str, ...], int]) -> None:
        """Take a plan with values for its markers.

        Args:
            versions: of the tables that stand beside the groups.
        """
        names = {identifier: f"__imp_groups_{uuid4().hex}" for identifier in groups}
        self._views = {names[identifier]: without_spreads(rows) for identifier, rows in groups.items()}
        wanted = read_identifiers(plan) | {attribute.identifier for attribute in plan.output}
        renderer = Renderer(lambda scan: at_version(qualified(scan.table), versions[scan.table]), wanted, given=names)
        self.text = renderer.last_sql(plan)

    def stream(self, session: Session, shape: ResultShape, execution: Execution) -> ResultStream:
        """Run it. Raises Refused where Spark gives values of other types than the query has, Error where it fails."""
        return renamed(session.execute_with(execution.of(self.text), self._views), shape)


def renamed(found: ResultStream, shape: ResultShape) -> ResultStream:
    """Return rows under the names of a query. Raises Refused where their types are others."""
    if [each.type for each in found.schema] != [each.type for each in shape.schema]:
        found.close()
        raise Refused(Reason.LEFT_TO_SPARK, "over groups the columns have other types")
    return _Renamed(found, shape)


class Payoff:
    """Remembers where leaving the rest to Spark took about as long as all of it. Used by one connection."""

    def __init__(self) -> None:
        self._dear: BoundedCache[str, int] = BoundedCache(_MOST_TEMPLATES)

    def check(self, template: str) -> None:
        """Raise Refused where it did not pay before."""
        if (self._dear.get(template) or 0) >= PATIENCE:
            raise Refused(Reason.LEFT_TO_SPARK, "the rest of the query alone takes Spark about as long as all of it")

    def note(self, template: str, seconds: float, captured: float | None) -> None:
        """Learn what the rest of a query took, whose groups took ``captured`` seconds to compute."""
        is_dear = captured is not None and seconds > CHEAP and seconds > DEAR * captured
        self._dear[template] = (self._dear.get(template) or 0) + 1 if is_dear else 0


class _Renamed:
    """A stream under the names of a shape."""

    def __init__(self, stream: ResultStream, shape: ResultShape) -> None:
        self.columns, self.schema = shape.columns, shape.schema
        self._stream = stream

    def next_batch(self) -> pa.RecordBatch | None:
        batch = self._stream.next_batch()
        return None if batch is None else pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)

    def close(self) -> None:
        self._stream.close()
