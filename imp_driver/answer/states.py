"""Which maintained groups a block is answered from: its own, finer ones of the same rows, or those that are to be captured."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import TypeAlias

from imp_driver.answer.ahead import Ahead, Work
from imp_driver.answer.bounds import bounded
from imp_driver.answer.keys import text
from imp_driver.answer.lifting import MEMORY_SHARE, Lifted, changing_of, grains_of, shape_of, told, why_too_large, why_too_many, with_lifted
from imp_driver.answer.matching import Asked, Match, Miss, own_match
from imp_driver.answer.pairs import Pairs
from imp_driver.answer.wider import Wide, Wider
from imp_driver.maintain.identity import lifted, source_of, state_key
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.plan.bind import BoundBlock, all_groups
from imp_driver.plan.written import block_of
from imp_driver.ports import Session
from imp_driver.reasons import Reason
from imp_driver.safety.verdict import readable
from imp_driver.snapshot.vector import vector_of
from imp_driver.state.constants import Seen
from imp_driver.state.maintained import Maintained
from imp_driver.state.values import CaptureFailure
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.refusal import Refused

MOST_CANDIDATES = 64
"""States of the same rows that are asked about, the newest first: each takes some tenth of a millisecond."""

GROUPS_OF_A_STEP = 100_000
"""A step by one commit takes at least as long as so many groups are read."""
_STEPS_OF_A_CAPTURE = 100
_FEW_STEPS = 4

_MOST_SHAPES = 500
_TIMES_OF_LAST = 16
MOST_TOLD = 3
"""Other states of which EXPLAIN SKETCH says why not, the nearest."""

WhyNot: TypeAlias = Callable[[Request, int, int, int], str]
"""Says of a request's groups, rows and memory why they are not captured; empty where they are."""
FINER = "from finer groups"
"""What the report says of groups that others follow from."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The request about a state, and how the groups that are asked for follow from its groups.

    ``wide`` says what must hold for that of a state over more tables.
    """

    request: Request
    found: Match
    wide: Wide | None = None


class States:
    """Finds states for the answers of a warehouse."""

    def __init__(self, sketches: Sketches, session: Session, ahead: Ahead) -> None:
        self._ahead = ahead
        self.wider = Wider(sketches.relations, session, ahead)
        self._sketches = sketches
        self._relations = sketches.relations
        self._matches: Pairs[Match | Miss] = Pairs()
        self._last: BoundedCache[tuple[str, int], _Last] = BoundedCache(_MOST_SHAPES)
        self._unreadable: BoundedCache[Hashable, bool] = BoundedCache(_MOST_SHAPES)

    def source(self, request: Request, *, is_told: bool = False) -> Source:
        """Return where the groups of a request come from.

        Args:
            is_told: nothing is restored or counted.
        """
        if is_told:
            return self._at_hand(request) or _own(request)
        return self._there(request) or self._lifted(request) or self._from(request, self._relations.wide(request)) or _own(request)

    def among(self, request: Request, others: Sequence[Request]) -> Source:
        """Return where the groups of a request come from: from those of another one that are finer, or from a state of their own."""
        for other in others:
            if source_of(other) == source_of(request) and state_key(other) != state_key(request):
                found = self._from(request, other)
                if found is not None:
                    return found
        return _own(request)

    def kept(self, request: Request) -> Source:
        """Return where the different rows of a part of a query come from.

        Raises Refused where they are not there: the first time nothing is done about it, then they are captured in the background.
        """
        found = self._there(request)
        if found is not None:
            return found
        if request.is_pinned:
            raise Refused(Reason.ROWS_WITHOUT_GROUPS)
        every = iter((request,)) if request.keeps_conditions else self._wanted(request)
        for wanted in every:
            self._ask(wanted, Reason.ROWS_NEEDED, "", why_too_many)
            failure = self._failure(wanted)
        raise Refused(Reason.ROWS_WITHOUT_GROUPS, "" if failure is None else failure.detail)

    def _wanted(self, request: Request) -> Iterator[Request]:
        """Yield what is to be kept for a request about rows, the best first. Raises Refused the first time, when that is not worth it."""
        seen = self._seen(request)
        wide = with_lifted(request, seen.places, seen.grains)
        if seen.is_new:
            raise Refused(
                Reason.ROWS_WITHOUT_GROUPS, "they are kept once they are asked for again, with the same constants in joins and subqueries"
            )
        if wide is None or self._from(request, wide.request) is None:
            yield request
        else:
            yield from (each.request for each in self._from_most(request, wide, seen))

    def _from_most(self, request: Request, wide: Lifted, seen: Seen) -> Iterator[Lifted]:
        """Yield the request for all constants, then for those that lie within bounds of what was asked for, of fewer groups."""
        yield wide
        within = bounded(request, wide, seen, self._relations.hulls)
        if within is not None and self._from(request, within.request) is not None:
            yield within

    def _there(self, request: Request) -> Source | None:
        """Return a state that is at hand, or that the store has."""
        found = self._at_hand(request)
        return self._at_hand(request) if found is None and self._sketches.restore(is_missed=True) else found

    def _seen(self, request: Request) -> Seen:
        """Note the constants of a request. Raises Refused where they lie within granules that are held, for the first times."""
        seen = self._relations.constants.note(shape_of(request), tuple(map(text, changing_of(request.block))), grains_of(request))
        if seen.is_beside:
            types = request.analysis.columns
            raise Refused(Reason.OFF_GRANULE, ", ".join(readable(told(name, seen.grains, types.get(name))) for name in seen.grains))
        return seen

    def _lifted(self, request: Request) -> Source | None:
        """Return the state in which the columns of conditions with changing constants are keys, where a former process has left it.

        Raises Refused where it is captured in the background, and where constants lie within its granules for the first times.
        """
        seen = self._seen(request)
        wide = None if request.is_pinned else with_lifted(request, seen.places, seen.grains)
        own = lifted(request)
        if wide is None or (own is not None and state_key(own) == state_key(wide.request)):
            # All groups of its keys are captured while the query waits: they are the query's own.
            return None
        if self._from(request, wide.request) is None:
            return None
        self._relations.constants.hold(seen)
        for each in self._from_most(request, wide, seen):
            known = self._relations.registry.find(state_key(each.request))
            if known is not None and known.is_held:
                known.described(each.request.block)
                return self._from(request, each.request)
            self._ask(each.request, Reason.LIFT_NEEDED, ", ".join(map(readable, each.columns)), why_too_large)
        return None

    def _ask(self, wanted: Request, reason: Reason, detail: str, why_not: WhyNot) -> None:
        """Have a state captured in the background. Raises Refused meanwhile; returns where that is hopeless."""
        failure = self._failure(wanted)
        is_hopeless = failure is not None and failure.stands(vector_of(wanted.tables), wanted.rows)
        if not is_hopeless and self._ahead.ask(state_key(wanted), self._capture(wanted, why_not)):
            raise Refused(reason, detail)

    def _failure(self, request: Request) -> CaptureFailure | None:
        known = self._relations.registry.find(state_key(request))
        return None if known is None else known.attempts.failure

    def _capture(self, request: Request, why_too_much: WhyNot) -> Work:
        memory = self._relations.registry.memory_budget

        def why_not(groups: int, rows: int) -> str:
            return why_too_much(request, groups, rows, memory)

        def capture(means: Means, tasks: int | None) -> None:
            self._relations.capture_ahead(replace(request, tasks=tasks), means, why_not, memory // MEMORY_SHARE)

        return capture

    def _at_hand(self, request: Request) -> Source | None:
        """Return the state that is there from which the answer is likely to be the quickest, the block's own before others."""
        found: list[tuple[int, Source]] = []
        for own in filter(None, (request, lifted(request))):
            relation = self._relations.registry.find(state_key(own))
            source = self._from(request, own) if relation is not None and relation.is_in_service and relation.bucketed is None else None
            if relation is not None and source is not None:
                found.append((_effort(relation, request), source))
        # Another that is as good is looked for where steps are due alone.
        asked = cache(lambda: _asked(request))
        if not any(effort < GROUPS_OF_A_STEP for effort, _ in found):
            # The first one is the best.
            found.extend(islice(self._finer(request, asked), 1))
        if not found:
            found.extend(islice(self._wider(request, asked), 1))
        return min(found, key=lambda each: each[0])[1] if found else None

    def told(self, request: Request, *, is_bag: bool) -> list[str]:
        """Say from which state a block would be answered, and for other states of the same rows why not from them."""
        source = self.source(request, is_told=True)
        used = source.request
        beside = sorted(".".join(name) for name in used.snapshots.keys() - request.snapshots.keys())
        lines = [self._line(used, state_key(used), is_bag=is_bag) + (f", over {', '.join(beside)} too" if beside else "")]
        others = [each for each in self._relations.registry.of_source(source_of(request)) if each.identity.key != state_key(used)]
        asked = _asked(request)
        compared = [(relation, relation.block, asked.match(relation.block)) for relation in others if relation.block is not None]
        # Those that would do come first, then those that lack least.
        compared.sort(key=lambda each: len(each[2].parts) if isinstance(each[2], Miss) else 0)
        for relation, block, found in compared[:MOST_TOLD]:
            why = f"{found.what} {', '.join(map(readable, found.parts))}" if isinstance(found, Miss) else _why_others(relation, request)
            lines.append(f"    state {relation.identifier} by {_keys(block)}: {why}")
        if len(others) > MOST_TOLD:
            lines.append(f"    and {len(others) - MOST_TOLD} other states of the same rows")
        return lines

    def _line(self, own: Request, key: str, *, is_bag: bool) -> str:
        relation = self._relations.registry.find(key)
        version = None if relation is None or not relation.is_ready else relation.version
        what = (
            f"different rows of {_keys(own.block)}" if is_bag else f"groups by {_keys(own.block)} of {len(own.block.aggregates)} aggregates"
        )
        if relation is not None and version is not None:
            return f"  {what}: held as {relation.identifier}, at version {version}"
        return f"  {what}: {'to be kept when they are asked for again' if is_bag else 'to be captured'}"

    def _wider(self, request: Request, asked: Callable[[], Asked]) -> Iterator[tuple[int, Source]]:
        """Yield states over more tables from which the groups follow, as ``_finer`` does."""
        every = [(_effort(relation, wide.request), wide) for relation, wide in self.wider.of(request, asked)]
        for effort, wide in sorted(every, key=lambda each: each[0]):
            yield effort, Source(wide.request, wide.found, wide)

    def _finer(self, request: Request, asked: Callable[[], Asked]) -> Iterator[tuple[int, Source]]:
        """Yield other states of the same rows from which the groups follow, with what the answer costs, in groups, the least first."""
        known = self._relations.registry.of_source(source_of(request))[-MOST_CANDIDATES:]
        last = self._last.get(request.shape)
        likely = last.key if last is not None and last.left > 0 else ""

        def place(relation: Maintained) -> tuple[bool, int]:
            effort = _effort(relation, request)
            return relation.identity.key != likely or effort >= _FEW_STEPS * GROUPS_OF_A_STEP, effort

        for relation in sorted((each for each in known if each.is_held and each.bucketed is None), key=place):
            block = relation.block or self._from_the_store(relation, request)
            found = None if block is None else self._match(request, block, asked)
            if block is not None and isinstance(found, Match):
                self._note(request, relation, last)
                yield _effort(relation, request), Source(replace(request, block=all_groups(block), lifted=None, reuse=FINER), found)

    def _from_the_store(self, relation: Maintained, request: Request) -> BoundBlock | None:
        """Return the block of groups of the same rows that a former process has saved; None where it is not certain which these are."""
        name = relation.identity.key, request.settings
        written = None if relation.stored is None or name in self._unreadable else relation.stored.record.block
        if written is None:
            return None
        block = block_of(written, request.block, request.analysis.columns)
        if block is None or state_key(replace(request, block=block)) != relation.identity.key:
            self._unreadable[name] = True
            return None
        relation.described(block)
        return relation.block

    def _note(self, request: Request, relation: Maintained, last: _Last | None) -> None:
        """Learn that a state serves the texts of a shape, so that it is asked about first, until others are looked at again."""
        if last is not None and last.key == relation.identity.key and last.left > 0:
            last.left -= 1
        else:
            self._last[request.shape] = _Last(relation.identity.key, _TIMES_OF_LAST)

    def _from(self, request: Request, own: Request) -> Source | None:
        """Return a request about other groups as where the block's own come from; None where they do not."""
        if own is request:
            return _own(request)
        found = self._match(request, own.block, lambda: _asked(request))
        return Source(own, found) if isinstance(found, Match) else None

    def _match(self, request: Request, block: BoundBlock, asked: Callable[[], Asked]) -> Match | Miss:
        """Return what ``Asked.match`` does, which is worked out once for a block that is asked for again."""
        return self._matches.get(request.block, block, lambda: asked().match(block), request.keeps_conditions)


@dataclass(slots=True, eq=False)
class _Last:
    """The state that texts of one shape were answered from, by its key, and how many more times it is asked about before better ones."""

    key: str
    left: int


def _effort(relation: Maintained, request: Request) -> int:
    """Return about what an answer costs, in groups that are read."""
    return (relation.groups or 0) + GROUPS_OF_A_STEP * (_behind(relation, request) if relation.is_held else _STEPS_OF_A_CAPTURE)


def _behind(relation: Maintained, request: Request) -> int:
    """Return how many commits of the request's tables a state does not stand for yet."""
    behind = sum(each.version - known.version for each in request.tables if (known := relation.vector.get(each.location)) is not None)
    return max(0, behind)


def _why_others(relation: Maintained, request: Request) -> str:
    """Say what is against a state that would serve a request."""
    behind = _behind(relation, request)
    if not relation.is_held:
        return "could be used, but is not in memory"
    return f"could be used, but is behind by {behind} commits" if behind else f"could be used, but has {relation.groups} groups"


def _keys(block: BoundBlock) -> str:
    return ", ".join(map(readable, block.keys_sql))


def _asked(request: Request) -> Asked:
    # Rows above a threshold that was learned anew are to be fewer ones, not those of the one before.
    names = {} if request.keeps_conditions else request.type_names
    return Asked(request.block, request.analysis.columns, names)


def _own(request: Request) -> Source:
    return Source(request, own_match(request.block))
