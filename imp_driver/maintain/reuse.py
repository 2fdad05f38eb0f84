"""Finds among the states of a template one that was captured for other row conditions and serves a block all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from imp_driver.maintain.request import Request
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.conditions import with_conditions
from imp_driver.reuse.states import Service, service
from imp_driver.reuse.union import covering
from imp_driver.state.maintained import Maintained
from imp_driver.values.bounded_cache import BoundedCache

FoundT = TypeVar("FoundT")

MOST_CANDIDATES = 8
"""States that are asked about, the most recently used first: each question costs about a millisecond the first time."""
_LARGEST_MEMORY = 10_000


@dataclass(frozen=True, slots=True)
class Reused:
    """The request about the state that was found. It is not exact when its groups may hold more rows than the block's."""

    request: Request
    is_exact: bool


class Reuse:
    """Remembers what was found out; safe to call from several threads."""

    def __init__(self) -> None:
        # In tuples of one: that nothing serves is remembered too.
        self._known: BoundedCache[tuple[str, ...], tuple[Service | None]] = BoundedCache(_LARGEST_MEMORY)
        self._unions: BoundedCache[tuple[str, ...], tuple[tuple[int, ...] | None]] = BoundedCache(_LARGEST_MEMORY)

    def find(self, request: Request, family: Sequence[Maintained]) -> Reused | None:
        """Return the request about the best relation of a family: exact ones first, then those of the fewest rows, then the newest."""
        found: list[tuple[bool, int, int, Reused]] = []
        for place, (relation, captured) in enumerate(reversed(_candidates(request, family))):
            reused = self._reused(request, relation.identity.key, captured)
            # Another thread may be about to capture it anew.
            state = relation.state
            rows = 0 if state is None else state.total_rows
            if reused is not None:
                found.append((not reused.is_exact, rows, place, reused))
        return min(found, key=lambda each: each[:3])[3] if found else None

    def find_union(self, request: Request, family: Sequence[Maintained]) -> tuple[Request, ...]:
        """Return requests about states that serve a block of rows together; none when they do not."""
        candidates = _candidates(request, family)
        blocks = [block for _, block in candidates]
        question = (
            "union",
            *(relation.identity.key for relation, _ in candidates),
            "",
            *(repr(each) for each in request.block.where_nodes),
        )
        found = _remembered(
            self._unions,
            question,
            lambda: covering(request.block.where_nodes, [block.where_nodes for block in blocks], request.type_names, with_solver=True),
        )
        note = f"served by {len(found or ())} states of other constants together"
        return tuple(replace(request, block=blocks[place], lifted=None, reuse=note) for place in found or ())

    def _reused(self, request: Request, key: str, captured: BoundBlock) -> Reused | None:
        asked = request.lifted or request.block
        found = self._service(request, asked, captured, key)
        if found is None or (asked.limit is not None and not found.has_same_groups):
            return None
        # Without any condition left the sketch would hold every group.
        if asked.having and not found.conditions:
            return None
        block = replace(
            captured,
            having_nodes=tuple(each for place, each in enumerate(asked.having_nodes) if place in found.conditions),
            having=tuple(each for place, each in enumerate(asked.having) if place in found.conditions),
            order=asked.order,
            limit=asked.limit,
            offset=asked.offset,
        )
        note = f"served by the state of other constants, shown by {'the solver' if found.is_by_solver else 'their order'}"
        return Reused(replace(request, block=block, lifted=None, reuse=note), found.is_exact)

    def _service(self, request: Request, asked: BoundBlock, captured: BoundBlock, key: str) -> Service | None:
        rows = request.block.where_nodes
        question = (key, *(repr(each) for each in rows), "", *(repr(each) for each in asked.having_nodes))
        keys = frozenset(each.unnest().name for each in request.analysis.block.keys)
        return _remembered(
            self._known,
            question,
            lambda: service(rows, asked.having_nodes, captured.where_nodes, keys, request.type_names, with_solver=True),
        )


def _remembered(memory: BoundedCache[tuple[str, ...], tuple[FoundT]], question: tuple[str, ...], answer: Callable[[], FoundT]) -> FoundT:
    known = memory.get(question)
    if known is None:
        # Not under the lock of the memory: the solver may take its time.
        known = memory[question] = (answer(),)
    return known[0]


def _candidates(request: Request, family: Sequence[Maintained]) -> list[tuple[Maintained, BoundBlock]]:
    """Return the relations of a family with their blocks that are asked about, the most recently used last."""
    held = [relation for relation in family if relation.is_held][-MOST_CANDIDATES:]
    return [(relation, block) for relation in held if (block := _block(relation, request)) is not None]


def _block(relation: Maintained, request: Request) -> BoundBlock | None:
    """Return the block of a relation; that of a former process is the request's with the row conditions of the relation."""
    stored = relation.stored
    if relation.block is None and stored is not None and stored.record.conditions is not None:
        relation.described(with_conditions(request.block, stored.record.conditions, request.analysis.columns))
    return relation.block
