"""SHOW SKETCHES, EXPLAIN SKETCH, DROP SKETCH and ADVISE SKETCHES."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from imp_driver.advise.advice import Advice
from imp_driver.capture.clustering import cut_files, overlap_of
from imp_driver.capture.instrument import at_versions, capture_sql
from imp_driver.dbapi.pipeline import Outcome
from imp_driver.errors import ProgrammingError
from imp_driver.maintain.choice import applied, choose
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.observe.local import LocalStream
from imp_driver.observe.permissions import Permissions
from imp_driver.observe.report import SketchReport
from imp_driver.parse.statement import CommandKind, SketchCommand, Statement, StatementKind
from imp_driver.parse.supported import Refused
from imp_driver.ports import Session
from imp_driver.reasons import Decision, Reason
from imp_driver.safety.cuts import Cut
from imp_driver.safety.verdict import readable
from imp_driver.state.maintained import Maintained

_NO_SKETCH = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY)


def run_command(command: SketchCommand, sketches: Sketches, session: Session) -> Outcome:
    """Run SHOW SKETCHES or DROP SKETCH; neither knows sketches of tables that the session may not read.

    Raises:
        ProgrammingError: there is no sketch of this identifier.
    """
    sketches.restore()
    relations = Permissions(session).visible(sketches.registry.relations())
    if command.kind is CommandKind.SHOW:
        return Outcome(_show(relations, sketches), -1, _NO_SKETCH)
    is_all = command.argument.upper() == "ALL"
    dropped = sketches.drop(relation for relation in relations if is_all or relation.identifier == command.argument)
    if dropped == 0 and command.argument.upper() != "ALL":
        raise ProgrammingError(f"There is no sketch {command.argument!r}. SHOW SKETCHES lists them; DROP SKETCH ALL drops every one.")
    return Outcome(None, dropped, _NO_SKETCH)


def _show(relations: Sequence[Maintained], sketches: Sketches) -> LocalStream:
    def values(read: Callable[[Maintained], object]) -> list[object]:
        return [read(relation) for relation in relations]

    text, number, ahead = pa.string(), pa.int64(), sketches.eager.ahead
    return LocalStream(
        {
            "sketch_id": (text, values(lambda r: r.identifier)),
            "template": (text, values(lambda r: r.identity.template)),
            "table_name": (text, values(lambda r: r.identity.table)),
            "attribute": (text, values(lambda r: r.identity.attribute)),
            "version": (number, values(lambda r: r.version if r.is_held else None)),
            "stored_version": (number, values(lambda r: None if r.stored is None else r.stored.version(r.identity.location))),
            "lives_in": (text, values(_lives_in)),
            "groups": (number, values(lambda r: r.groups)),
            "fragments": (number, values(lambda r: r.fragments)),
            "bytes": (number, values(sketches.registry.weight)),
            "uses": (number, values(lambda r: r.counts.uses)),
            "captures": (number, values(lambda r: r.counts.captures)),
            "maintained": (number, values(lambda r: r.counts.maintained)),
            "delta_rows": (number, values(lambda r: r.counts.delta_rows)),
            "capture_ms": (number, values(lambda r: _milliseconds(r.costs.captured))),
            "maintain_ms": (number, values(lambda r: _milliseconds(r.costs.maintenance(1)))),
            "saved_ms": (number, values(lambda r: _milliseconds(r.costs.saved))),
            "behind_versions": (number, values(sketches.eager.versions_behind)),
            "eager_steps": (number, values(lambda r: ahead(r).steps)),
            "eager_ms": (pa.float64(), values(lambda r: ahead(r).milliseconds)),
            "eager_problem": (text, values(lambda r: ahead(r).problem or None)),
            "problem": (text, values(lambda r: None if r.failure is None else r.failure.detail)),
            "statement": (text, values(lambda r: r.identity.template_text)),
        }
    )


def _lives_in(relation: Maintained) -> str | None:
    """Say where the groups are; the sketches are in memory wherever that is."""
    places = [
        name
        for name, is_there in (
            ("memory", relation.state is not None),
            ("buckets", relation.bucketed is not None),
            ("store", relation.stored is not None),
        )
        if is_there
    ]
    return " and ".join(places) or None


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def advise(advices: Sequence[Advice]) -> Outcome:
    """Return the rows of ADVISE SKETCHES; those without a clustering say why."""
    text, number = pa.string(), pa.int64()
    return Outcome(
        LocalStream(
            {
                "table_name": (text, [each.table for each in advices]),
                "clustering": (text, [each.clustering for each in advices]),
                "templates": (number, [each.templates for each in advices]),
                "executions": (number, [each.executions for each in advices]),
                "bytes_now": (number, [each.bytes_now for each in advices]),
                "bytes_then": (number, [each.bytes_then for each in advices]),
                "saved_bytes": (number, [each.saved for each in advices]),
                "statement": (text, [each.statement for each in advices]),
                "reason": (text, [each.reason for each in advices]),
            }
        ),
        -1,
        _NO_SKETCH,
    )


def explain(statement: Statement, requests: Callable[[Statement], list[Request]], sketches: Sketches) -> Outcome:
    """Say what the driver would do about a SELECT, without running it."""
    try:
        if statement.kind is not StatementKind.QUERY:
            raise Refused(Reason.NOT_A_QUERY)
        lines = [line for request in requests(statement) for line in _explained(request, sketches)]
    except Refused as refused:
        lines = ["No sketch: the query runs unchanged.", f"  reason: {refused.reason.name}: {refused.reason.value}"]
        lines += [f"  detail: {refused.detail}"] if refused.detail else []
    return Outcome(LocalStream({"plan": (pa.string(), lines)}), -1, _NO_SKETCH)


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
    ]
    for relation in sketches.registry.of_template(request.template.identifier):
        if relation.state is not None:
            size = f"{relation.groups} groups, {sketches.registry.weight(relation)} bytes"
            lines.append(f"Sketch {relation.identifier}: version {relation.version}, {size}")
    lines.append(f"State from: {capture_sql(block, at_versions(request.versions))}")
    return lines


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
        choice = choose(request)
        partial = applied(choice, request).partial
    except Refused as refused:
        return [f"No sketch now: {refused.reason.name}: {refused.detail}"]
    if partial is None:
        return []
    rests = [f"  rests on {fact}, checked at every version" for fact in sorted(partial.facts)]
    return [f"Cut on {choice.column}, which is no group key:", *(f"    {line}" for line in partial.derivation), *rests]


def _physical(name: str, cuts: tuple[Cut, ...], request: Request) -> str:
    every = cut_files(cuts, request.snapshots)
    tables = ", ".join(dict.fromkeys(".".join(cut.scan.table) for cut in cuts))
    number = sum(len(files.sizes) for files, _ in every)
    return f"Attribute {name} cuts {tables}: an average value is in {overlap_of(every):.0%} of {number} files"
