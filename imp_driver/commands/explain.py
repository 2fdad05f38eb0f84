"""EXPLAIN SKETCH: what the driver would do about a SELECT, without running it."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from imp_driver.capture.clustering import FEW_FILES, cut_files, overlap_of
from imp_driver.capture.instrument import capture_sql
from imp_driver.circuit.assemble import assembled
from imp_driver.circuit.circuit import Circuit
from imp_driver.commands.local import LocalStream
from imp_driver.dataflow.expression.project import NotEvaluable
from imp_driver.maintain.choice import applied, choose
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.parse.statement import Statement, StatementKind
from imp_driver.plan.nodes import Scan
from imp_driver.reasons import Reason
from imp_driver.safety.cuts import Cut
from imp_driver.safety.verdict import readable
from imp_driver.state.maintained import Maintained
from imp_driver.values.refusal import Refused


def explain(
    statement: Statement,
    answer: Callable[[Statement], list[str]],
    requests: Callable[[Statement], list[Request]],
    analyse: Callable[[Statement], object],
    sketches: Sketches,
) -> LocalStream:
    """Say what the driver would do about a SELECT, without running it.

    Args:
        answer: gives lines about an answer from groups. Raises Refused where there is none.
        analyse: raises what Spark says of a query that cannot run.
    """
    lines: list[str] = []
    without_sketch = "No sketch: the query runs unchanged."
    try:
        if statement.kind is not StatementKind.QUERY:
            raise Refused(Reason.NOT_A_QUERY)
        try:
            lines += dict.fromkeys(answer(statement))
            if lines:
                without_sketch = "No sketch: where the groups do not serve, the query runs unchanged."
        except Refused as refused:
            lines += _refused("Not answered from groups.", refused)
        of_blocks = [line for request in requests(statement) for line in _explained(request, sketches)]
        lines += (["Where the groups do not serve:"] if lines and of_blocks and not lines[0].startswith("Not") else []) + of_blocks
    except Refused as refused:
        if statement.kind is StatementKind.QUERY and refused.reason is not Reason.NOT_PERMITTED:
            analyse(statement)
        lines += _refused(without_sketch, refused)
    return LocalStream({"plan": (pa.string(), lines)})


def _refused(what: str, refused: Refused) -> list[str]:
    lines = [what, f"  reason: {refused.reason.name}: {refused.reason.value}"]
    return [*lines, f"  detail: {refused.detail}"] if refused.detail else lines


def _explained(request: Request, sketches: Sketches) -> list[str]:
    block, analysis = request.block, request.analysis
    names = [analysis.attribute(index) for index in analysis.safe]
    lines = [
        f"Template {request.template.identifier}: {request.template.text}",
        *(f"  table {'.'.join(name)} at version {snapshot.version}" for name, snapshot in request.snapshots.items()),
        *_shape(request, names),
        *(["  why the rows stay the same:"] if analysis.derivation else []),
        *(f"    {line}" for line in analysis.derivation),
        "    PINNED the sketch covers the whole answer of this block, so anything may stand above or beside it",
        *(_physical(name, cuts, request) for name, cuts in zip(names, analysis.cuts.values(), strict=True)),
        *_chosen(request),
        *_followed(request),
    ]
    for relation in sketches.relations.registry.of_template(request.template.identifier):
        lines += _held(relation, sketches)
    lines.append(f"State from: {capture_sql(block, request.relation)}")
    return lines


def _held(relation: Maintained, sketches: Sketches) -> list[str]:
    """Say what is in memory of one state. A step of another connection would change it while it is read, and is not waited for."""
    with relation.ownership.held_if_free() as is_held:
        if not is_held:
            return [f"Sketch {relation.identifier}: another connection is changing it"]
        if relation.state is None:
            return []
        sizes = f"{relation.groups} groups, {sketches.relations.registry.weight(relation)} bytes"
        exact = "" if relation.state.is_exact else ", some values known between bounds"
        tables = [] if relation.circuit is None else [f"  in memory, for changes: table {line}" for line in relation.circuit.kept()]
        return [f"Sketch {relation.identifier}: version {relation.version}, {sizes}{exact}", *tables]


def _shape(request: Request, names: list[str]) -> list[str]:
    block = request.block
    if request.analysis.plan.of_rows:
        return ["  rows without groups; safe to cut on columns of the tables that they come from"]
    return [
        f"  groups by {', '.join(map(readable, block.keys_sql))}; safe to cut on {', '.join(names) or 'none of them'}",
        f"  groups filtered: {'yes' if block.condition is not None else 'no'}; first rows by order: {block.limit or 'all'}",
    ]


def _chosen(request: Request) -> list[str]:
    """Say which attribute would be cut, where that is not one of the keys above."""
    try:
        found = applied(choose(request), request)
    except Refused as refused:
        return [f"No sketch now: {refused.reason.name}: {refused.detail or refused.reason.value}"]
    if found.partial is None:
        return []
    rests = [f"  rests on {fact}, checked at every version" for fact in sorted(found.partial.facts)]
    columns = [name.column for name in found.names if name.key is None]
    keys = [found.attribute_of(name) for name in found.names if name.key is not None]
    beside = f" beside the group key {keys[0]}" if keys else ""
    kind = "which is no group key" if len(columns) == 1 else "which are no group keys"
    return [f"Cut on {' and '.join(columns)}{beside}, {kind}:", *(f"    {line}" for line in found.partial.derivation), *rests]


def _followed(request: Request) -> list[str]:
    """Say which operators follow the changes of the tables of a block of several, or why Spark must."""
    if isinstance(request.block.source, Scan):
        return []
    try:
        return ["Changes are followed by:", *(f"  {line}" for line in Circuit(assembled(request.block)).described())]
    except NotEvaluable as error:
        return [f"Changes are followed by Spark: {error}"]


def _physical(name: str, cuts: tuple[Cut, ...], request: Request) -> str:
    every = cut_files(cuts, request.snapshots)
    tables = ", ".join(dict.fromkeys(".".join(cut.scan.table) for cut in cuts))
    number = sum(len(files.sizes) for files, _ in every)
    if number < FEW_FILES:
        return f"Attribute {name} cuts {tables}: {number} files, too few to compare"
    return f"Attribute {name} cuts {tables}: an average value is in {overlap_of(every):.0%} of {number} files"
