"""Where relations are found, and which leave when memory is short; neither looks at all of them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from imp_driver.state.maintained import Maintained
from imp_driver.state.registry import SMALL, Registry
from imp_driver.state.values import Identity
from imp_driver.values.view_policy import ViewPolicy


class _Weighed(Maintained):
    """A relation of a given size that counts how often it is asked for that."""

    def __init__(self, name: str, size: int = 0, family: str = "f", prefix: str = "p", parked: int = 0) -> None:
        super().__init__(Identity(name, "t", "SELECT", "t", "/t", family, prefix, ""))
        self.size = size
        self.asked = 0
        self._frees = parked

    @property
    def memory(self) -> int:
        self.asked += 1
        return self.size

    def parked(self) -> int:
        freed, self._frees = self._frees, 0
        self.size -= freed
        return freed


def _registry(budget: int, relations: Iterable[_Weighed]) -> Registry:
    """Return a registry in which the first relation was used first."""
    registry = Registry(budget)
    for relation in relations:
        registry.get_or_add(relation.identity.key, lambda relation=relation: relation)  # type: ignore[misc]
        registry.weigh(relation)
    return registry


def _names(relations: Iterable[Maintained]) -> list[str]:
    return [relation.identity.key for relation in relations]


def test_what_has_not_changed_is_not_weighed_again() -> None:
    relations = [_Weighed(str(number), 10) for number in range(1_000)]
    registry = _registry(10_000, relations)
    assert (registry.total, registry.evict()) == (10_000, ())
    relations[3].size = 11
    registry.weigh(relations[3])
    assert registry.total == 10_001
    assert _names(registry.evict()) == ["0"]
    assert (registry.total, registry.weight(relations[3])) == (9_991, 11)
    assert [relation.asked for relation in relations] == [1] * 3 + [2] + [1] * 996


def test_those_of_views_stay_until_they_are_named_no_longer() -> None:
    relations = [_Weighed("view", 2 * SMALL, parked=SMALL), _Weighed("old", 2 * SMALL), _Weighed("new", 2 * SMALL)]
    relations[0].named(("v",), ViewPolicy.AUTO)
    registry = _registry(SMALL, relations)
    assert _names(registry.evict()) == ["old"]
    relations[0].named(("v",), None)
    assert _names(registry.evict()) == ["view"]


def test_the_least_recently_used_leave_first_and_small_ones_last() -> None:
    relations = [_Weighed("small", 10), _Weighed("old", 2 * SMALL), _Weighed("used", 2 * SMALL), _Weighed("new", 2 * SMALL)]
    registry = _registry(5 * SMALL, relations)
    registry.get_or_add("old", lambda: pytest.fail("it is there"))
    assert _names(registry.evict()) == ["used"]
    registry.memory_budget = 1
    assert _names(registry.evict()) == ["new", "small"]
    assert _names(registry.relations()) == ["old"]


def test_of_the_older_half_those_leave_first_that_saved_nothing() -> None:
    relations = [_Weighed(name, 2 * SMALL) for name in ("useful", "vain", "young", "used", "newest")]
    for each in (relations[0], relations[3]):
        each.costs.note_query(1.0, 0.5)
    registry = _registry(8 * SMALL, relations)
    assert _names(registry.evict()) == ["vain"]
    registry.memory_budget = 6 * SMALL
    assert _names(registry.evict()) == ["useful"]
    registry.memory_budget = 4 * SMALL
    assert _names(registry.evict()) == ["young"]


def test_what_can_be_parked_stays() -> None:
    relations = [_Weighed("first", 10, parked=9), _Weighed("second", 10, parked=9), _Weighed("third", 10)]
    registry = _registry(21, relations)
    assert registry.evict() == ()
    assert (registry.total, registry.weight(relations[0]), registry.weight(relations[1])) == (21, 1, 10)


def test_relations_are_found_by_what_they_have_in_common_the_most_recently_used_last() -> None:
    registry = _registry(0, [_Weighed("a", family="f"), _Weighed("b", family="g"), _Weighed("c", family="f", prefix="")])
    assert _names(registry.of_family("f")) == ["a", "c"]
    registry.get_or_add("a", lambda: pytest.fail("it is there"))
    assert _names(registry.of_family("f")) == ["c", "a"]
    assert _names(registry.of_prefix("p")) == ["b", "a"]
    assert _names(registry.of_prefix("")) == []
    found = registry.find("b")
    assert found is not None
    registry.serve(found, "template")
    assert _names(registry.of_template("template")) == ["b"]
    registry.discard(found)
    assert (registry.of_template("template"), registry.of_family("g"), registry.find("b")) == ((), (), None)


def test_a_relation_that_was_replaced_is_not_discarded_for_another() -> None:
    first, second = _Weighed("a", 5), _Weighed("a", 7)
    registry = _registry(100, [first])
    registry.discard(first)
    assert registry.add(second)
    assert not registry.add(first)
    registry.discard(first)
    registry.weigh(first)
    assert (registry.find("a"), registry.total) == (second, 7)
