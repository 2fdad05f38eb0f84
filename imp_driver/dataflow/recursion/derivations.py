"""All derivations of the rows that recursive relations have, at one moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from imp_driver.dataflow.recursion.facts import Facts, Row
from imp_driver.dataflow.recursion.frontier import Fact
from imp_driver.dataflow.recursion.rules import Rule


def derivations(rules: Sequence[Rule], rows: Mapping[int, Collection[Row]]) -> dict[Fact, list[tuple[Fact, ...]]]:
    """Return for each row of a recursive relation the bodies that it follows from.

    Args:
        rows: of each relation. What rules make of them beside is left away: rows that are not best.
    """
    facts = [Facts(rows.get(number, ())) for number in range(1 + max(max(rule.head, *rule.reads) for rule in rules))]
    found: dict[Fact, list[tuple[Fact, ...]]] = {}
    for rule in rules:
        bodies = [body for row in facts[rule.reads[0]] for body in rule.bodies(facts, 0, row)]
        for body, head in zip(bodies, rule.follow(bodies), strict=True):
            if head is not None and head in facts[rule.head]:
                found.setdefault((rule.head, head), []).append(tuple(zip(rule.reads, body, strict=True)))
    return found
