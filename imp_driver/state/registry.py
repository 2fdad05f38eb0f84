"""Where maintained relations are found: by key, template, family, prefix and source; and which of them leave when memory is short.

What a relation weighs is asked when it was changed, so that neither a look-up nor an eviction looks at all of them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

from imp_driver.state.maintained import Maintained

SMALL = 1 << 20
"""Bytes of a relation below which it is dropped last."""

_Group = tuple[str, str]
"""What some relations have in common, and its value."""


class Registry:
    """Relations, the least recently used first. All methods are safe to call from several threads."""

    def __init__(self, memory: int) -> None:
        self.memory_budget = memory
        self._relations: OrderedDict[str, Maintained] = OrderedDict()
        self._groups: dict[_Group, dict[str, None]] = {}
        self._weights: dict[str, int] = {}
        self._total = 0
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """Bytes of all relations."""
        return self._total

    def weight(self, relation: Maintained) -> int:
        """Return the bytes of a relation when it was changed last."""
        return self._weights.get(relation.identity.key, 0)

    def get_or_add(self, key: str, make: Callable[[], Maintained]) -> Maintained:
        """Return the relation of a key, made when there is none, as the most recently used."""
        with self._lock:
            relation = self._relations.get(key)
            if relation is None:
                relation = self._relations[key] = make()
            self._relations.move_to_end(key)
            self._join(relation)
            return relation

    def find(self, key: str) -> Maintained | None:
        """Return the relation of a key without counting it as used."""
        with self._lock:
            return self._relations.get(key)

    def use(self, relation: Maintained, template: str) -> None:
        """Note that a relation serves a template, as the most recently used one."""
        key = relation.identity.key
        with self._lock:
            relation.usage.note_template(template)
            if self._relations.get(key) is relation:
                self._relations.move_to_end(key)
                # It may serve very many templates, of which the others did not use it.
                self._join_groups(key, (*_lasting_groups(relation), ("template", template)))

    def relations(self) -> tuple[Maintained, ...]:
        with self._lock:
            return tuple(self._relations.values())

    def of_template(self, template: str) -> tuple[Maintained, ...]:
        """Return the relations that serve a template, the least recently used first."""
        return self._of(("template", template))

    def of_family(self, family: str) -> tuple[Maintained, ...]:
        """Return the relations that differ in nothing but their row conditions."""
        return self._of(("family", family))

    def of_prefix(self, prefix: str) -> tuple[Maintained, ...]:
        """Return the relations of the same groups, whatever aggregates they have; none for the empty prefix."""
        return self._of(("prefix", prefix)) if prefix else ()

    def of_source(self, source: str) -> tuple[Maintained, ...]:
        """Return the relations of groups of the same rows, whatever keys they have and rows they leave out; none for the empty source."""
        return self._of(("source", source)) if source else ()

    def _of(self, group: _Group) -> tuple[Maintained, ...]:
        with self._lock:
            return tuple(self._relations[key] for key in self._groups.get(group, ()))

    def serve(self, relation: Maintained, template: str) -> None:
        """Note that a relation serves a template."""
        if template not in relation.usage.templates:
            with self._lock:
                relation.usage.note_template(template)
                if self._relations.get(relation.identity.key) is relation:
                    self._join(relation)

    def add(self, relation: Maintained) -> bool:
        """Add a relation as the least recently used; False when its key has one already."""
        key = relation.identity.key
        with self._lock:
            if key in self._relations:
                return False
            self._relations[key] = relation
            self._relations.move_to_end(key, last=False)
            self._join(relation)
            self._weigh(key, relation.memory)
            return True

    def discard(self, relation: Maintained) -> None:
        """Drop one relation unless another has taken its place."""
        with self._lock:
            if self._relations.get(relation.identity.key) is relation:
                self._remove(relation)

    def weigh(self, relation: Maintained) -> None:
        """Take over what a relation weighs now; the caller holds it."""
        key, weight = relation.identity.key, relation.memory
        with self._lock:
            if self._relations.get(key) is relation:
                self._weigh(key, weight)

    def evict(self) -> tuple[Maintained, ...]:
        """Lighten, then park, then drop relations until the budget holds: those that saved nothing first. Return the dropped ones.

        The newest stays, if need be without columns, and so do those of incremental views.
        """
        evicted: list[Maintained] = []
        with self._lock:
            if self._total <= self.memory_budget:
                return ()
            every = list(self._relations.values())
            for relation in every:
                if self._total <= self.memory_budget:
                    break
                self._weigh(relation.identity.key, self.weight(relation) - _lightened(relation))
            # Of groups in buckets there is next to nothing in memory, and they cost much to capture.
            oldest = _as_they_leave([each for each in every[:-1] if not each.is_named and not self._is_light(each)])
            for relation in oldest:
                if self._total <= self.memory_budget:
                    break
                self._weigh(relation.identity.key, self.weight(relation) - relation.parked())
            # What only has sketches would make little room.
            for relation in sorted(oldest, key=lambda each: self.weight(each) < SMALL):
                if self._total <= self.memory_budget:
                    break
                with relation.ownership.held_if_free() as is_free:
                    # One that is in use would go on without being found.
                    if is_free:
                        self._remove(relation)
                        evicted.append(relation)
        return tuple(evicted)

    def _is_light(self, relation: Maintained) -> bool:
        return relation.bucketed is not None and self.weight(relation) < SMALL

    def _weigh(self, key: str, weight: int) -> None:
        self._total += weight - self._weights.get(key, 0)
        self._weights[key] = weight

    def _remove(self, relation: Maintained) -> None:
        key = relation.identity.key
        del self._relations[key]
        self._total -= self._weights.pop(key, 0)
        for group in _groups_of(relation):
            members = self._groups.get(group, {})
            members.pop(key, None)
            if not members:
                self._groups.pop(group, None)

    def _join(self, relation: Maintained) -> None:
        """Make a relation the most recently used of its groups."""
        self._join_groups(relation.identity.key, _groups_of(relation))

    def _join_groups(self, key: str, groups: Iterable[_Group]) -> None:
        for group in groups:
            members = self._groups.setdefault(group, {})
            members.pop(key, None)
            members[key] = None


def _as_they_leave(relations: Sequence[Maintained]) -> list[Maintained]:
    """Put relations, the least recently used first, in the order in which they leave.

    Of the older half those come first that have saved no query anything; a younger one may not have had the time to.
    """
    older, younger = relations[: len(relations) // 2], relations[len(relations) // 2 :]
    return [*sorted(older, key=lambda each: each.costs.all_saved > 0), *younger]


def _lightened(relation: Maintained) -> int:
    """Give up what is quickly made anew of the groups, unless they are in use; return the bytes that this saves."""
    with relation.ownership.held_if_free() as is_held:
        saved = relation.columns.memory if is_held else 0
        if is_held:
            relation.columns.clear()
        return saved


def _lasting_groups(relation: Maintained) -> Iterator[_Group]:
    yield "family", relation.identity.family
    yield "prefix", relation.identity.prefix
    yield "source", relation.identity.source


def _groups_of(relation: Maintained) -> Iterator[_Group]:
    yield from _lasting_groups(relation)
    for template in relation.usage.templates:
        yield "template", template
