"""Why a statement is not sketched: it is refused with a reason, and runs unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from imp_driver.reasons import Reason

ItemT = TypeVar("ItemT")
FoundT = TypeVar("FoundT")


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why a statement is not sketched, to be remembered: the exception's traceback would keep sessions, snapshots and parameters alive."""

    reason: Reason
    detail: str = ""

    @property
    def told(self) -> str:
        """The code and what it means here, to stand inside a sentence."""
        return f"{self.reason.name}: {(self.detail or self.reason.value).rstrip('.')}"


class Refused(Exception):
    """The statement is not sketched. Never reaches the application: the query runs unchanged and the report says why."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason.name)
        self.reason = reason
        self.detail = detail

    @property
    def grounds(self) -> Grounds:
        return Grounds(self.reason, self.detail)

    @classmethod
    def on(cls, grounds: Grounds) -> Refused:
        """Return the refusal that was remembered."""
        return cls(grounds.reason, grounds.detail)


def accepted(
    attempt: Callable[[ItemT], FoundT], items: Iterable[ItemT], is_needed: Callable[[ItemT], bool] = lambda item: False
) -> list[FoundT]:
    """Return what an attempt finds for each item; one that is refused is left out.

    Raises:
        Refused: one that is needed is refused, or all are; the reason is that of the first.
    """
    found: list[FoundT] = []
    refusals: list[Refused] = []
    for item in items:
        try:
            found.append(attempt(item))
        except Refused as refused:
            if is_needed(item):
                raise
            refusals.append(refused)
    if refusals and not found:
        raise refusals[0]
    return found
