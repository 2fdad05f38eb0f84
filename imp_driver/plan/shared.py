"""Groups of the same rows that a query asks for several times: one of them has what the others need, which follow from it.

A change is then followed once, and not for each aggregate of a subquery (answer/matching.py finds the finer groups).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from imp_driver.plan.attributes import column_named, plain_identifier, reference, substituted
from imp_driver.plan.below import unfold
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Aggregate, Attribute, Plan, Scan, children, every
from imp_driver.plan.rebuild import with_inputs


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Groups of one table, by the names of its columns: ``functions`` by their texts."""

    aggregate: Aggregate
    scan: Scan
    where: frozenset[str]
    keys: frozenset[str]
    functions: Mapping[str, exp.Expr]


def with_shared(plan: Plan) -> Plan:
    """Return a plan in which the finest groups of a table have the functions of coarser ones too."""
    asked: defaultdict[tuple[object, ...], list[_Asked]] = defaultdict(list)
    for each in every(plan):
        found = _asked(each) if isinstance(each, Aggregate) else None
        if found is not None:
            asked[found.scan.table, found.where].append(found)
    changed = {}
    for alike in asked.values():
        host = max((each for each in alike if each.aggregate.is_finer), key=lambda each: len(each.keys), default=None)
        others = [] if host is None else [each for each in alike if each is not host and each.keys <= host.keys]
        if host is not None and others:
            changed[id(host.aggregate)] = _with_functions(host, others)

    def change(node: Plan) -> Plan:
        if id(node) in changed:
            return changed[id(node)]
        return with_inputs(node, tuple(map(change, children(node))))

    return change(plan) if changed else plan


def _asked(aggregate: Aggregate) -> _Asked | None:
    below = unfold(aggregate.child)
    if not isinstance(below.source, Scan) or free_identifiers(aggregate) or (aggregate.keys and not aggregate.is_finer):
        return None
    names = {attribute.identifier: column_named(attribute.name) for attribute in below.source.output}

    def text(expression: exp.Expr) -> str:
        return str(substituted(expression, names).sql())

    keys = below.over_source(aggregate.keys)
    functions = {text(each): substituted(each, names) for each in below.over_source(aggregate.functions)}
    if not all(plain_identifier(each) for each in keys):
        return None
    return _Asked(aggregate, below.source, frozenset(map(text, below.where)), frozenset(map(text, keys)), functions)


def _with_functions(host: _Asked, others: list[_Asked]) -> Aggregate:
    lacking = {text: node for each in others for text, node in each.functions.items() if text not in host.functions}
    columns = {attribute.name: reference(attribute) for attribute in host.scan.output}
    made = [Attribute(f"more_{place}_{host.aggregate.name}", node.key) for place, node in enumerate(lacking.values())]
    functions = [substituted(node, columns) for node in lacking.values()]
    own = host.aggregate
    # The last function is what the groups are called by.
    return replace(
        own,
        function_attributes=(*own.function_attributes[:-1], *made, own.function_attributes[-1]),
        functions=(*own.functions[:-1], *functions, own.functions[-1]),
    )
