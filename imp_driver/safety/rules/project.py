"""Projection: bounds go through the expressions; what determines a sketched attribute is kept where it is kept as a plain column."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.nodes import Project
from imp_driver.safety.intervals import UNKNOWN, interval_of
from imp_driver.safety.levels import Bound, Derived, Level, closure
from imp_driver.safety.predicates import Row, bound_of
from imp_driver.safety.setting import Setting


def derive_project(plan: Project, child: Derived, setting: Setting) -> Derived:
    pairs = list(zip(plan.output, plan.expressions, strict=True))
    copies: dict[str, set[str]] = {}
    for attribute, expression in pairs:
        name = plain_identifier(expression)
        if name is not None:
            copies.setdefault(name, set()).add(attribute.identifier)

    def kept(attributes: frozenset[str]) -> frozenset[str]:
        return frozenset().union(*(copies.get(name, set()) for name in attributes))

    row = Row.of(child, plan.child.output, setting)
    bounds = {attribute.identifier: bound_of(expression, row) for attribute, expression in pairs}
    intervals = {attribute.identifier: interval_of(expression, child.intervals) for attribute, expression in pairs}
    constant = {a.identifier for a, e in pairs if identifiers(e) <= child.constant}
    inexact = {name: bound for name, bound in bounds.items() if bound is not Bound.EQUAL}
    level = Level.SUBSET if child.level is Level.BOUNDED and not inexact else child.level
    return replace(
        child,
        level=level,
        bounds=inexact,
        determined={occurrence: kept(closure(names, child.equal)) for occurrence, names in child.determined.items()},
        equal=tuple(each for each in (kept(names) for names in child.equal) if len(each) > 1)
        + tuple(frozenset(names) for names in copies.values() if len(names) > 1),
        constant=frozenset(constant),
        intervals={name: interval for name, interval in intervals.items() if interval != UNKNOWN},
        unique=tuple(kept(names) for names in child.unique if all(name in copies for name in names)),
        note=f"select {', '.join(attribute.name or expression.sql(dialect='spark') for attribute, expression in pairs)}",
    )
