"""Blocks over inner joins of tables with one condition: the order in which a change of one table finds its partners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Join, JoinKind, Plan, Scan


@dataclass(frozen=True, slots=True)
class Step:
    """Join with one more table: ``key`` of the rows so far equals ``own`` of its columns; both are identifiers."""

    scan: Scan
    key: str
    own: str


def joined_scans(source: Plan) -> tuple[Scan, ...] | None:
    """Return the tables of a source that is nothing but inner joins of tables, whose conditions stand above; None for another source."""
    match source:
        case Scan():
            return (source,)
        case Join() if source.kind is JoinKind.INNER and not source.conjuncts:
            left, right = joined_scans(source.left), joined_scans(source.right)
            return None if left is None or right is None else (*left, *right)
        case _:
            return None


def equalities_of(where: Sequence[exp.Expr]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of attributes that a condition equates, both ways round."""
    pairs = [pair for each in where if (pair := _equality(each)) is not None]
    return (*pairs, *((other, one) for one, other in pairs))


def steps_from(changed: Scan, scans: Sequence[Scan], equalities: Sequence[tuple[str, str]]) -> tuple[Step, ...] | None:
    """Return how rows of one table find all others by equalities; None where some are not reached."""
    found: list[Step] = []
    known = {attribute.identifier for attribute in changed.output}
    missing = [scan for scan in scans if scan.occurrence != changed.occurrence]
    while missing:
        step = next(
            (
                Step(scan, key, own)
                for scan in missing
                for key, own in equalities
                if key in known and any(own == attribute.identifier for attribute in scan.output)
            ),
            None,
        )
        if step is None:
            return None
        found.append(step)
        known |= {attribute.identifier for attribute in step.scan.output}
        missing.remove(step.scan)
    return tuple(found)


def _equality(conjunct: exp.Expr) -> tuple[str, str] | None:
    node = conjunct.unnest()
    if not isinstance(node, exp.EQ):
        return None
    one, other = plain_identifier(node.left), plain_identifier(node.right)
    return None if one is None or other is None else (one, other)
