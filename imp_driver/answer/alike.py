"""A query like earlier ones but for constants of its conditions: answered by what is known of them all, without a parse of its own."""

from __future__ import annotations

from imp_driver.answer.answers import Answers
from imp_driver.answer.patience import Patience
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.statement import Statement
from imp_driver.reasons import BESIDE_GROUPS
from imp_driver.rewrite.comparison import Served
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.versions import ReadTransaction
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from imp_driver.values.refusal import Grounds, Refused


class Alike:
    """Answers the queries of one connection that are like earlier ones.

    With markers a query may have no answer where it has one with its constants; it is then read as it is written.
    """

    def __init__(self, answers: Answers, reader: Reader, options: Options, transaction: ReadTransaction) -> None:
        self._answers = answers
        self._reader = reader
        self._transaction = transaction
        self._is_used = options.answers and not options.is_compared
        self._patience = Patience()

    def serve(self, statement: Statement, execution: Execution, means: Means) -> Served | Grounds | None:
        """Return the rows of a query, or why it is to run unchanged; None where it is to be read as it is written.

        Raises Error: Spark failed.
        """
        instance = statement.instance
        # The clauses of versions go to places in the query's own text.
        if instance is None or not self._is_used or self._transaction.is_open:
            return None
        name = instance.pattern.made.text
        if self._patience.why_not(name) is not None:
            return None
        try:
            served = self._answers.serve(self._reader.read_alike(instance, execution), execution, means)
        except Refused as refused:
            if refused.reason in BESIDE_GROUPS:
                return refused.grounds
            self._patience.in_vain(name, refused.grounds)
            return None
        self._patience.succeeded(name)
        return served
