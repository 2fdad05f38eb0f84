"""What was asked of a warehouse in this process, and where the rows came from: per text without constants. Shared by all connections."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from imp_driver.reasons import ServedBy
from imp_driver.values.refusal import Grounds

MOST_QUESTIONS = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """Queries that differ in constants.

    Attributes:
        names: of the tables and views, as they are written.
        runs, answered: executions, and those whose rows came from groups, alone or with Spark.
        milliseconds: of all executions, until the first rows were there.
        served_by, not_answered: of the last.
    """

    text: str
    names: tuple[tuple[str, ...], ...]
    runs: int = 0
    answered: int = 0
    milliseconds: float = 0.0
    served_by: ServedBy = ServedBy.SPARK
    not_answered: Grounds | None = None


class Questions:
    """Safe to use from several threads; the least recently asked are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Question] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, question: Question, served_by: ServedBy, milliseconds: float, not_answered: Grounds | None) -> None:
        """Add one execution."""
        with self._lock:
            known = self._known.pop(question.text, question)
            self._known[question.text] = replace(
                known,
                runs=known.runs + 1,
                answered=known.answered + (served_by in (ServedBy.STATE, ServedBy.STATE_AND_SPARK)),
                milliseconds=known.milliseconds + milliseconds,
                served_by=served_by,
                not_answered=not_answered,
            )
            if len(self._known) > MOST_QUESTIONS:
                self._known.popitem(last=False)

    def every(self) -> tuple[Question, ...]:
        """Return all, those that took longest first."""
        with self._lock:
            return tuple(sorted(self._known.values(), key=lambda each: -each.milliseconds))
