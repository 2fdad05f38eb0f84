"""The types of a recursion's columns are those of the branch that begins it, in each other branch too: a value of a set has one type."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.plan.nodes import Attribute


def told_types(output: Sequence[Attribute], begun: Sequence[str], other: Sequence[str]) -> str:
    """Say which columns of a relation have which SQL types where it begins, and others in another branch."""
    differing = [
        f"{attribute.name} is {first} where it begins and {second} in another branch"
        for attribute, first, second in zip(output, begun, other, strict=True)
        if first != second
    ]
    return f"the branches of a recursion have columns of different types: {', '.join(differing)}; CAST them there"
