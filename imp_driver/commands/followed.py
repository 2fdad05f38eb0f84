"""EXPLAIN INCREMENTAL: how each operator of a query follows the changes of its tables, and where that is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imp_driver.circuit.assemble import assembled
from imp_driver.circuit.circuit import Circuit
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.maintain.identity import state_key
from imp_driver.maintain.request import Request
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.linear import is_linear
from imp_driver.plan.nodes import Scan, scans
from imp_driver.safety.verdict import readable
from imp_driver.state.maintained import Maintained
from imp_driver.state.registry import Registry

IN_PROCESS, BY_SPARK, CAPTURED = "in process", "by Spark", "captured again"


@dataclass(frozen=True, slots=True)
class Followed:
    """One operator, indented below the one that reads it. ``state`` says what it holds, ``reason`` why it is not followed in process."""

    operator: str
    how: str
    state: str = ""
    reason: str = ""


def followed(request: Request, registry: Registry, *, is_bag: bool) -> list[Followed]:
    """Return the operators of one block: its groups, and what stands below them."""
    relation = registry.find(state_key(request))
    held = _held(relation, registry)
    keys = ", ".join(map(readable, request.block.keys_sql))
    below = list(_below(request.block))
    how = next((each for each in (CAPTURED, BY_SPARK) if any(row.how == each for row in below)), IN_PROCESS)
    return [Followed(f"different rows of {keys}" if is_bag else f"groups by {keys}", how, held), *below]


def why_captured_again(block: BoundBlock) -> str:
    """Return why some change of the tables below a block could only be captured again; empty where all are followed."""
    return next((f"{row.operator.strip()}: {row.reason}" for row in _below(block) if row.how == CAPTURED), "")


def _held(relation: Maintained | None, registry: Registry) -> str:
    if relation is None or not relation.is_ready:
        return "to be captured"
    bucketed = relation.bucketed
    where = f"{registry.weight(relation)} bytes" if bucketed is None else f"in {bucketed.coarse.fragments} buckets"
    return f"{relation.groups} groups, {where}"


def _below(block: BoundBlock) -> Iterator[Followed]:
    if isinstance(block.source, Scan):
        yield Followed(f"  table {_name(block.source)}", IN_PROCESS)
        return
    try:
        circuit = Circuit(assembled(block))
    except NotEvaluable as error:
        for scan in scans(block.source):
            yield Followed(f"  table {_name(scan)}", BY_SPARK if is_linear(block.source, scan.occurrence) else CAPTURED, reason=str(error))
        return
    kept = "tables below are kept whole where they are small, else looked up"
    for place, line in enumerate(circuit.described()):
        yield Followed(f"  {line}", IN_PROCESS, kept if place == 0 else "")


def _name(scan: Scan) -> str:
    return ".".join(scan.table)
