"""Where a recursion is computed: in process, or by Spark where it is too large for that, or not known there."""

from __future__ import annotations

from collections.abc import Callable

from imp_driver.answer.patience import Patience
from imp_driver.answer.recursion.rounds import EndlessRecursion, TooLarge
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.reasons import Reason
from imp_driver.values.option_kinds import RecursionPlace
from imp_driver.values.refusal import FoundT, Refused


class Places:
    """Decides for the recursions of one connection. One that was too large is tried in process ever more rarely."""

    def __init__(self, place: RecursionPlace) -> None:
        self._place = place
        self._large = Patience(tries=1)

    def in_process(self, template: str, compute: Callable[[], FoundT], *, is_strict: bool) -> FoundT:
        """Compute the rows of a query.

        Args:
            compute: raises Refused or NotEvaluable where that cannot be done in process.
            is_strict: rows of a view are to come from what is maintained, whatever the connection asks for.

        Raises:
            Refused: that cannot be done; with RECURSION_BY_SPARK Spark is to do it.
        """
        place = RecursionPlace.PROCESS if is_strict else self._place
        if place is RecursionPlace.SPARK:
            raise Refused(Reason.RECURSION_BY_SPARK, "as option recursion asks for")
        grounds = self._large.why_not(template) if place is RecursionPlace.AUTO else None
        if grounds is not None:
            raise Refused.on(grounds)
        try:
            return compute()
        except (Refused, NotEvaluable) as error:
            refused = error if isinstance(error, Refused) else Refused(Reason.RECURSION, str(error))
            if place is RecursionPlace.PROCESS or isinstance(refused, EndlessRecursion):
                raise refused from error
            left = Refused(Reason.RECURSION_BY_SPARK, refused.grounds.told)
            if isinstance(refused, TooLarge):
                self._large.in_vain(template, left.grounds)
            raise left from error
