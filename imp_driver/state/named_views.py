"""The incremental views that this process has met: which relations hold their rows, and what was done for them last."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from imp_driver.ports import View
from imp_driver.reasons import Decision
from imp_driver.state.maintained import Maintained
from imp_driver.values.refusal import Grounds


@dataclass(frozen=True, slots=True)
class LastAction:
    """What the last reading of a view took: ``rows`` are signed rows that were read; milliseconds of the whole statement."""

    decision: Decision
    rows: int
    milliseconds: float
    reason: str = ""


Below: TypeAlias = frozenset[tuple[tuple[str, ...], tuple[object, ...]]]
"""The views that a view reads, through others too: their names and definitions."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedView:
    """``view`` and ``below`` are the definitions that the relations stand for; ``refused`` says why there are none.

    ``has_constants``: which rows they group depends on values of scalar subqueries, with which they may be others.
    """

    name: tuple[str, ...]
    view: View
    below: Below = frozenset()
    relations: tuple[Maintained, ...] = ()
    refused: Grounds | None = None
    last: LastAction | None = None
    has_constants: bool = False

    def is_of(self, view: View, below: Below) -> bool:
        """Say whether it is about these definitions."""
        return self.view.definition == view.definition and self.below == below

    @property
    def is_held(self) -> bool:
        """Say whether there is nothing to do before the view is read; what was refused may be possible another time."""
        return bool(self.relations) and not self.has_constants and not any(each.is_dropped for each in self.relations)


class Schedule:
    """What connections tell each other of the materialized views that are refreshed by themselves.

    Attributes:
        changes: how often one was made or dropped in this process.
        problems: why the last refresh of one failed, by its name.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.problems: dict[tuple[str, ...], str] = {}


class NamedViews:
    """Thread-safe. Relations know the views whose rows they hold, and stay for them."""

    def __init__(self) -> None:
        self.schedule = Schedule()
        self._views: dict[tuple[str, ...], NamedView] = {}
        self._lock = threading.Lock()

    def find(self, name: tuple[str, ...]) -> NamedView | None:
        return self._views.get(name)

    def put(self, named: NamedView) -> None:
        """Have a view's rows held by relations, in the place of those that held them before."""
        assert named.view.policy is not None
        with self._lock:
            self._release(self._views.get(named.name), but=named.relations)
            for relation in named.relations:
                relation.named(named.name, named.view.policy)
            self._views[named.name] = named

    def renew(self, name: tuple[str, ...]) -> None:
        """Let the rows of a view be captured again that could not be followed; it was asked for."""
        known = self._views.get(name)
        for relation in () if known is None else known.relations:
            with relation.ownership.held():
                if relation.cause is not None and not relation.is_ready:
                    relation.invalidated()

    def note(self, name: tuple[str, ...], action: LastAction) -> None:
        with self._lock:
            known = self._views.get(name)
            if known is not None:
                self._views[name] = replace(known, last=action)

    def forget(self, name: tuple[str, ...]) -> None:
        """Let go of a view that is no more."""
        with self._lock:
            self._release(self._views.pop(name, None))

    def names(self) -> tuple[tuple[str, ...], ...]:
        with self._lock:
            return tuple(self._views)

    def _release(self, known: NamedView | None, but: Iterable[Maintained] = ()) -> None:
        kept = set(map(id, but))
        for relation in () if known is None else known.relations:
            if id(relation) not in kept and known is not None:
                relation.named(known.name, None)
