"""The two indexes of the RPAI paper: its figures, and random operations against a plain dictionary."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.nested.pai_map import PaiMap
from imp_driver.dataflow.nested.rpai_tree import RpaiTree

Index: TypeAlias = PaiMap | RpaiTree


def filled(make: Callable[[], Index], entries: dict[int, int]) -> Index:
    index = make()
    for key, value in entries.items():
        index.put(key, value)
    return index


both = pytest.mark.parametrize("make", [PaiMap, RpaiTree])


@both
def test_figure_3_sums_up_to_a_key(make: Callable[[], Index]) -> None:
    """The values below the root make 12, the root and one more key up to 50 make 2 each; the figure's other keys are above."""
    index = filled(make, {40: 2, 20: 5, 60: 7, 10: 3, 30: 4, 50: 2, 70: 9})
    assert index.get_sum(50) == 12 + 2 + 2
    assert index.get_sum(9) == 0
    assert index.get_sum(70) == 32


@both
def test_figure_4_shifts_up(make: Callable[[], Index]) -> None:
    """``shift_keys(9, 10)`` moves 13 with all above it and what of its left is above 9, and nothing else."""
    index = filled(make, {7: 1, 13: 2, 3: 3, 9: 4, 11: 5, 15: 6, 18: 7})
    index.shift_keys(9, 10)
    assert list(index.items()) == [(3, 3), (7, 1), (9, 4), (21, 5), (23, 2), (25, 6), (28, 7)]


def test_figure_5_shifts_the_last_key_past_all_others_on_its_way() -> None:
    """``shift_keys(19, -15)``: the greatest key is repaired at each of its ancestors up to the root."""
    keys = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 19, 20]
    tree = RpaiTree()
    for key in keys:
        tree.add(key, key)
    tree.shift_keys(19, -15)
    assert tree.repairs == 3
    assert list(tree.items()) == [(key, 20 if key == 5 else key) for key in sorted({*keys[:-1], 5})]
    assert tree.problems() == []


def test_one_collision_is_merged_without_a_repair() -> None:
    tree = RpaiTree()
    for key in (10, 20, 30, 40):
        tree.add(key, key)
    tree.shift_keys(20, -10)
    assert list(tree.items()) == [(10, 10), (20, 20 + 30), (30, 40)]
    assert (tree.merges, tree.repairs, tree.problems()) == (1, 0, [])
    tree.shift_keys_inclusive(20, -9)
    assert list(tree.items()) == [(10, 10), (11, 50), (21, 40)]
    assert (tree.merges, tree.repairs) == (1, 0)


@both
def test_what_is_not_there(make: Callable[[], Index]) -> None:
    index = make()
    assert (index.get(1), index.get_sum(1), len(index), index.memory >= 0) == (0, 0, 0, True)
    index.shift_keys(0, -5)
    index.add(1, 0)
    # A value of 0 is one: keys leave only when they are deleted.
    assert list(index.items()) == [(1, 0)]
    assert index.delete(1) == 0
    with pytest.raises(KeyError):
        index.delete(1)


KEYS = st.integers(-5, 30)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["add", "put", "delete", "shift", "shift inclusive"]), KEYS, st.integers(-8, 8)), max_size=40
)


@both
@given(operations=OPERATIONS)
def test_random_operations(make: Callable[[], Index], operations: list[tuple[str, int, int]]) -> None:
    index, twin = make(), dict[int, int]()
    for name, key, number in operations:
        match name:
            case "add":
                index.add(key, number)
                twin[key] = twin.get(key, 0) + number
            case "put":
                index.put(key, number)
                twin[key] = number
            case "delete":
                if key in twin:
                    assert index.delete(key) == twin.pop(key)
            case _:
                is_inclusive = name == "shift inclusive"
                (index.shift_keys_inclusive if is_inclusive else index.shift_keys)(key, number)
                moved: dict[int, int] = {}
                for each, value in twin.items():
                    new = each + number if each > key or (is_inclusive and each == key) else each
                    moved[new] = moved.get(new, 0) + value
                twin = moved
        assert list(index.items()) == sorted(twin.items())
        assert len(index) == len(twin)
        assert index.get(key) == twin.get(key, 0)
        assert index.get_sum(key) == sum(value for each, value in twin.items() if each <= key)
        if isinstance(index, RpaiTree):
            assert index.problems() == []


def test_problems_are_found() -> None:
    tree = RpaiTree()
    for key in range(7):
        tree.add(key, 1)
    root = tree._root
    assert root is not None
    root.sum += 1
    assert any("sum and bounds" in each for each in tree.problems())
    root.is_red = True
    assert "the root is red" in tree.problems()
    root.is_red = False
    assert root.left is not None
    root.left.key += 9
    assert any("not in order" in each for each in tree.problems())


def test_a_long_ascending_load_stays_balanced() -> None:
    tree = RpaiTree()
    for key in range(2_000):
        tree.add(key, 1)

    def height(node: object) -> int:
        return 0 if node is None else 1 + max(height(getattr(node, "left")), height(getattr(node, "right")))  # noqa: B009

    assert height(tree._root) <= 22
    assert tree.problems() == []
