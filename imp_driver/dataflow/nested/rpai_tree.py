"""The RPAI tree of the RPAI paper (section 3): sums up to a key, and shifts of all keys above one, in logarithmic time.

A left-leaning red-black tree (Sedgewick 2008) whose nodes have their keys relative to their parents, so that a node moves with all below it
by one addition. Sums, least and greatest keys of subtrees are kept along.

Where keys move down they may meet others. No key meets one: the shift is the walk of algorithm 1. The least key that moves meets
the greatest that stays: their values become one (section 3.2.4). Keys pass each other: algorithm 2. Which it is, is found by the two keys
next to the place, and never assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from imp_driver.dataflow.nested.rpai_nodes import (
    Node,
    balanced,
    in_order,
    is_red,
    move_red_left,
    move_red_right,
    parents_first,
    problems,
    refresh,
    rotate_right,
    shift_subtree,
)

Number: TypeAlias = Any
"""Exact: whole numbers, fractions."""
_BYTES_OF_NODE = 104 + 4 * 32


class RpaiTree:
    """Values by key, in the order of keys. A key stays until it is deleted, whatever its value is.

    Attributes:
        repairs: how often a subtree was cut out and added again because keys had passed others (algorithm 2).
        merges: how often a shift made two keys one.
    """

    def __init__(self) -> None:
        self._root: Node | None = None
        self._size = 0
        self.repairs = 0
        self.merges = 0

    def __len__(self) -> int:
        return self._size

    def get(self, key: Number) -> Number:
        """Return the value of a key, 0 where it is not there."""
        node = self._root
        while node is not None:
            if key == node.key:
                return node.value
            key, node = key - node.key, node.left if key < node.key else node.right
        return 0

    def put(self, key: Number, value: Number) -> None:
        """Give a key a value."""
        self.add(key, value - self.get(key))

    def add(self, key: Number, value: Number) -> None:
        """Add to the value of a key, 0 where it is not there yet."""
        self._root = self._added(self._root, key, value)
        self._root.is_red = False

    def _added(self, node: Node | None, key: Number, value: Number) -> Node:
        if node is None:
            self._size += 1
            return Node(key, value)
        if key == node.key:
            node.value += value
            node.sum += value
            return node
        if key < node.key:
            node.left = self._added(node.left, key - node.key, value)
        else:
            node.right = self._added(node.right, key - node.key, value)
        return balanced(node)

    def delete(self, key: Number) -> Number:
        """Take a key out and return its value. Raises KeyError where it is not there."""
        if not self._has(key):
            raise KeyError(key)
        value, root = self.get(key), self._root
        assert root is not None
        if not is_red(root.left) and not is_red(root.right):
            root.is_red = True
        self._root = _deleted(root, key)
        if self._root is not None:
            self._root.is_red = False
        self._size -= 1
        return value

    def _has(self, key: Number) -> bool:
        node = self._root
        while node is not None and key != node.key:
            key, node = key - node.key, node.left if key < node.key else node.right
        return node is not None

    def get_sum(self, key: Number) -> Number:
        """Return the sum of the values of all keys up to one, with it."""
        node, total = self._root, 0
        while node is not None:
            below = key - node.key
            if below < 0:
                node = node.left
            else:
                total += node.value if node.left is None else node.value + node.left.sum
                node = node.right
            key = below
        return total

    def shift_keys(self, key: Number, distance: Number) -> None:
        """Move all keys above one by a distance; values whose keys meet are added."""
        self._shift(key, distance, is_inclusive=False)

    def shift_keys_inclusive(self, key: Number, distance: Number) -> None:
        """Move a key and all above it by a distance; values whose keys meet are added."""
        self._shift(key, distance, is_inclusive=True)

    def _shift(self, key: Number, distance: Number, *, is_inclusive: bool) -> None:
        if distance >= 0:
            _walk(self._root, key, distance, is_inclusive)
            return
        greatest_below, least_above = self._neighbours(key, is_inclusive)
        if least_above is None:
            return
        if greatest_below is None or least_above + distance > greatest_below:
            _walk(self._root, key, distance, is_inclusive)
        elif least_above + distance == greatest_below:
            self.merges += 1
            value = self.delete(least_above)
            _walk(self._root, key, distance, is_inclusive)
            self.add(greatest_below, value)
        else:
            self._shift_past(key, distance, is_inclusive)

    def _neighbours(self, key: Number, is_inclusive: bool) -> tuple[Number | None, Number | None]:
        """Return the greatest key that stays and the least key that moves."""
        node, base = self._root, 0
        below: Number | None = None
        above: Number | None = None
        while node is not None:
            base += node.key
            if key < base or (is_inclusive and key == base):
                above, node = base, node.left
            else:
                below, node = base, node.right
        return below, above

    def _shift_past(self, key: Number, distance: Number, is_inclusive: bool) -> None:
        """Algorithm 2. What it cuts out and adds again has no colours that fit, so the tree is made anew of what it leaves."""
        node = self._shifted_down(self._root, key, distance, is_inclusive)
        entries = list(parents_first(node))
        self._root, self._size = None, 0
        for each, value in entries:
            self.add(each, value)

    def _shifted_down(self, node: Node | None, key: Number, distance: Number, is_inclusive: bool) -> Node | None:
        if node is None:
            return None
        if key < node.key or (is_inclusive and key == node.key):
            node.left = self._shifted_down(node.left, key - node.key, distance, is_inclusive)
            node.key += distance
            shift_subtree(node.left, -distance)
            if node.left is not None and node.left.high >= 0:
                return self._fixed_from_left(node)
        else:
            node.right = self._shifted_down(node.right, key - node.key, distance, is_inclusive)
            if node.right is not None and node.right.low <= 0:
                return self._fixed_from_right(node)
        refresh(node)
        return node

    def _fixed_from_left(self, node: Node) -> Node:
        """Cut out a left subtree that has keys not below its parent's, and add its entries where they belong."""
        cut, node.left = node.left, None
        return self._again(node, cut)

    def _fixed_from_right(self, node: Node) -> Node:
        cut, node.right = node.right, None
        return self._again(node, cut)

    def _again(self, node: Node, cut: Node | None) -> Node:
        self.repairs += 1
        refresh(node)
        base = node.key
        for key, value in list(parents_first(cut)):
            _put_below(node, base + key, value)
        return node

    def items(self) -> Iterator[tuple[Number, Number]]:
        """Return keys in their order with their values."""
        return in_order(self._root)

    def problems(self) -> list[str]:
        """Return which invariants do not hold: order, sums, bounds, colours, and equal black heights. There must be none."""
        found = problems(self._root)
        number = sum(1 for _ in self.items())
        return found if number == self._size else [*found, f"{number} nodes, counted {self._size}"]

    @property
    def memory(self) -> int:
        """Bytes, of which those of numbers are estimated."""
        return _BYTES_OF_NODE * self._size


def _walk(node: Node | None, key: Number, distance: Number, is_inclusive: bool) -> None:
    """Algorithm 1: move keys that pass no others."""
    if node is None:
        return
    if key < node.key or (is_inclusive and key == node.key):
        # The left subtree is searched with the key that the node had; the right one moves with the node.
        _walk(node.left, key - node.key, distance, is_inclusive)
        node.key += distance
        shift_subtree(node.left, -distance)
    else:
        _walk(node.right, key - node.key, distance, is_inclusive)
    refresh(node)


def _put_below(node: Node, key: Number, value: Number) -> None:
    """Add to a subtree without balancing it."""
    below = key - node.key
    if below == 0:
        node.value += value
    elif below < 0:
        if node.left is None:
            node.left = Node(below, value)
        else:
            _put_below(node.left, below, value)
    elif node.right is None:
        node.right = Node(below, value)
    else:
        _put_below(node.right, below, value)
    refresh(node)


def _deleted(node: Node, key: Number) -> Node | None:
    if key < node.key:
        assert node.left is not None
        if not is_red(node.left) and not is_red(node.left.left):
            node = move_red_left(node)
        assert node.left is not None
        node.left = _deleted(node.left, key - node.key)
        return balanced(node)
    if is_red(node.left):
        node = rotate_right(node)
    if key == node.key and node.right is None:
        return None
    assert node.right is not None
    if not is_red(node.right) and not is_red(node.right.left):
        node = move_red_right(node)
    if key == node.key:
        _take_next(node)
    else:
        assert node.right is not None
        node.right = _deleted(node.right, key - node.key)
    return balanced(node)


def _take_next(node: Node) -> None:
    """Put the next key and its value in the place of a node's own."""
    least = node.right
    assert least is not None
    distance = least.low
    while least.left is not None:
        least = least.left
    value = least.value
    assert node.right is not None
    node.right = _without_least(node.right)
    node.key += distance
    node.value = value
    shift_subtree(node.left, -distance)
    shift_subtree(node.right, -distance)


def _without_least(node: Node) -> Node | None:
    if node.left is None:
        return None
    if not is_red(node.left) and not is_red(node.left.left):
        node = move_red_left(node)
    assert node.left is not None
    node.left = _without_least(node.left)
    return balanced(node)
