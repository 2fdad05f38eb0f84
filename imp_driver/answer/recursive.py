"""Queries over recursive relations: the rows of their tables are kept from the first time on, what follows from these is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imp_driver.answer.held import Held
from imp_driver.answer.named import NamedAnswers, views_of
from imp_driver.answer.permitted import Permitted
from imp_driver.answer.recursion.recursions import Recursions, names_of
from imp_driver.answer.summary import check_one_moment
from imp_driver.answer.why import Support, Why
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.statement import with_named
from imp_driver.reasons import Reason
from imp_driver.snapshot.reading import Reading
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Refused
from imp_driver.values.view_policy import ViewPolicy, strictest


class RecursiveAnswers:
    """What the recursive queries of one connection are finished from."""

    def __init__(self, sketches: Sketches, named: NamedAnswers, permitted: Permitted) -> None:
        self._sketches = sketches
        self._named = named
        self._permitted = permitted

    def held(self, reading: Reading, execution: Execution, means: Means) -> Held:
        """Return the rows of a query's tables, brought up to date. Raises Refused, NotEvaluable and Error."""
        rows = reading.text.with_rows() or reading.text.grouped()
        self._permitted.check(rows)
        held = self._named.parts(self.policy(reading)).of(rows, reading, reading.parameters(execution.parameters), means)
        self._sketches.relations.evict()
        check_one_moment(held.parts)
        return held

    def policy(self, reading: Reading) -> ViewPolicy:
        """Return how the rows of a query's tables are kept; without a view nothing is put off, as nobody else has the rows as quickly."""
        return strictest(view.policy for view in views_of(reading).values() if view.policy is not None) or ViewPolicy.INCREMENTAL

    def followed(self, held: Held, reading: Reading, execution: Execution) -> Recursions:
        """Return what follows the recursions of a query from one reading to the next."""
        given = with_named(execution.parameters, reading.constants) or ()
        values = tuple((name, repr(value)) for name, value in (given.items() if isinstance(given, Mapping) else enumerate(given)))
        return Recursions(self._sketches.relations.recursions, reading.settings, names_of(held.grouped.plan, held.plan, values))

    def why(self, reading: Reading, execution: Execution, means: Means, most: int, *, may_round: bool) -> Iterator[tuple[Support, ...]]:
        """Say by which base rows the rows of a query over a recursive view are there, ``most`` sets of these for each row.

        Raises:
            Refused: it is not kept, or the rows are not known for certain.
            Error: Spark failed.
        """
        if not reading.text.has_recursion:
            # Raises where that is not known.
            reading.text.whole()
            raise Refused(Reason.RECURSION, "the query reads no recursive view")
        try:
            held = self.held(reading, execution, means)
            return Why(held, self.followed(held, reading, execution), may_round=may_round).supports(most)
        except NotEvaluable as error:
            raise Refused(Reason.RECURSION, str(error)) from error
