"""Nodes of an RPAI tree, and the steps that keep it balanced: all of them leave actual keys as they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, TypeAlias

Number: TypeAlias = Any


class Node:
    """A key relative to that of the parent, of the root as it is, and a value.

    Attributes:
        sum: of the values of the subtree.
        low, high: the least and the greatest key of the subtree, relative to the parent as ``key`` is.
        is_red: the colour of the link from the parent.
    """

    __slots__ = ("high", "is_red", "key", "left", "low", "right", "sum", "value")

    def __init__(self, key: Number, value: Number) -> None:
        self.key = self.low = self.high = key
        self.value = self.sum = value
        self.left: Node | None = None
        self.right: Node | None = None
        self.is_red = True


def is_red(node: Node | None) -> bool:
    return node is not None and node.is_red


def shift_subtree(node: Node | None, distance: Number) -> None:
    """Move a node with all below it."""
    if node is not None:
        node.key += distance
        node.low += distance
        node.high += distance


def refresh(node: Node) -> None:
    """Compute sum and bounds of a node from those of its children."""
    left, right, key = node.left, node.right, node.key
    total = node.value
    if left is None:
        node.low = key
    else:
        total += left.sum
        node.low = left.low + key
    if right is None:
        node.high = key
    else:
        total += right.sum
        node.high = right.high + key
    node.sum = total


def rotate_left(node: Node) -> Node:
    """Put a right child in the place of its parent."""
    child = node.right
    assert child is not None
    distance = child.key
    node.right = child.left
    shift_subtree(node.right, distance)
    child.left = node
    child.key += node.key
    node.key = -distance
    return _taken_over(node, child)


def rotate_right(node: Node) -> Node:
    """Put a left child in the place of its parent."""
    child = node.left
    assert child is not None
    distance = child.key
    node.left = child.right
    shift_subtree(node.left, distance)
    child.right = node
    child.key += node.key
    node.key = -distance
    return _taken_over(node, child)


def _taken_over(node: Node, child: Node) -> Node:
    child.is_red, node.is_red = node.is_red, True
    refresh(node)
    refresh(child)
    return child


def _flip(node: Node) -> None:
    node.is_red = not node.is_red
    for child in (node.left, node.right):
        assert child is not None
        child.is_red = not child.is_red


def balanced(node: Node) -> Node:
    """Return the top of a subtree below which one node was added or taken out, with its invariants again."""
    if is_red(node.right) and not is_red(node.left):
        node = rotate_left(node)
    if node.left is not None and node.left.is_red and is_red(node.left.left):
        node = rotate_right(node)
    if is_red(node.left) and is_red(node.right):
        _flip(node)
    refresh(node)
    return node


def move_red_left(node: Node) -> Node:
    """Make the left child or one of its children red, so that a node can be taken out there."""
    _flip(node)
    if node.right is not None and is_red(node.right.left):
        node.right = rotate_right(node.right)
        node = rotate_left(node)
        _flip(node)
    return node


def move_red_right(node: Node) -> Node:
    """Make the right child or one of its children red, so that a node can be taken out there."""
    _flip(node)
    if node.left is not None and is_red(node.left.left):
        node = rotate_right(node)
        _flip(node)
    return node


def in_order(node: Node | None, base: Number = 0) -> Iterator[tuple[Number, Number]]:
    """Return actual keys in their order with their values."""
    if node is not None:
        key = base + node.key
        yield from in_order(node.left, key)
        yield key, node.value
        yield from in_order(node.right, key)


def parents_first(node: Node | None, base: Number = 0) -> Iterator[tuple[Number, Number]]:
    """Return keys with their values, each node before those below it: added in this order they make no chain of a balanced tree."""
    if node is not None:
        key = base + node.key
        yield key, node.value
        yield from parents_first(node.left, key)
        yield from parents_first(node.right, key)


def problems(root: Node | None) -> list[str]:
    """Return which invariants do not hold."""
    found: list[str] = []
    if is_red(root):
        found.append("the root is red")
    keys = [key for key, _ in in_order(root)]
    if any(one >= two for one, two in itertools.pairwise(keys)):
        found.append(f"keys are not in order: {keys}")
    _black_height(root, found)
    return found


def _black_height(node: Node | None, found: list[str]) -> int:
    if node is None:
        return 0
    heights = [_black_height(child, found) for child in (node.left, node.right)]
    if heights[0] != heights[1]:
        found.append(f"black heights {heights}")
    if is_red(node.right) or (node.is_red and is_red(node.left)):
        found.append(f"red links at {node.key}")
    kept = (node.sum, node.low, node.high)
    refresh(node)
    if kept != (node.sum, node.low, node.high):
        found.append(f"sum and bounds {kept}, they are {(node.sum, node.low, node.high)}")
    return heights[0] + (not node.is_red)
