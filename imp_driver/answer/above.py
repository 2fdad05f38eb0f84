"""What stands above groups that are given: which rows those are, and which columns come from some of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import Aggregate, Plan, Project, UnionAll

GivenRows: TypeAlias = Mapping[str, pa.Table]
"""Rows of aggregations, by the identifier of the first attribute of each."""


def given(plan: Plan, groups: GivenRows) -> pa.Table | None:
    """Return the rows of an aggregation that is given."""
    return groups.get(plan.name) if isinstance(plan, Aggregate) and plan.output else None


def passed_on(plan: Plan, below: frozenset[str]) -> frozenset[str]:
    """Return the columns that an operator gives of some columns of its inputs: made of them, or the same ones."""
    if isinstance(plan, Project):
        return frozenset(each.identifier for each, node in zip(plan.output, plan.expressions, strict=True) if identifiers(node) & below)
    if isinstance(plan, UnionAll):
        pairs = (pair for branch in plan.branches for pair in zip(plan.output, branch.output, strict=True))
        return frozenset(each.identifier for each, own in pairs if own.identifier in below)
    return below
