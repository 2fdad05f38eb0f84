"""One run of a statement: all that belongs to it on its way, in one value."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from imp_driver.values.cancel import CancellationToken
from imp_driver.values.stopwatch import Stopwatch

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any] | None
"""By position, by name, or none."""


def _new_tag() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """What is to be run, and what everything that runs on its behalf shares.

    Attributes:
        text: SQL; ``parameters`` are the values for its markers.
        tag: identifier of the run, the same as ``Cursor.query_id``; Spark's jobs bear it.
        watch: is told the stages.
        token: says whether the run was cancelled.
    """

    text: str
    parameters: Parameters = None
    tag: str = field(default_factory=_new_tag)
    watch: Stopwatch = field(default_factory=Stopwatch)
    token: CancellationToken = field(default_factory=CancellationToken)

    def __post_init__(self) -> None:
        self.token.query_id = self.tag

    def of(self, text: str, parameters: Parameters = None) -> Execution:
        """Return another statement on behalf of the same run."""
        return replace(self, text=text, parameters=parameters)

    def with_text(self, text: str) -> Execution:
        """Return the same statement in other words, with its parameters."""
        return replace(self, text=text)

    def watched_by(self, watch: Stopwatch) -> Execution:
        """Return the same run with another watch."""
        return replace(self, watch=watch)
