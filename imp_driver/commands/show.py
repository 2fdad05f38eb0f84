"""SHOW STATES, ADVISE SKETCHES and ADVISE ANSWERS as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa

from imp_driver.advise.advice import Advice
from imp_driver.commands.local import LocalStream
from imp_driver.maintain.questions import Question
from imp_driver.maintain.sketches import Sketches
from imp_driver.parse.template import VIEW_MARK
from imp_driver.plan.written import WrittenBlock, as_texts
from imp_driver.safety.verdict import readable
from imp_driver.state.graph_states import GraphState
from imp_driver.state.maintained import Maintained
from imp_driver.values.aggregates import AccumulatorKind, ValueForm
from imp_driver.values.redaction import redacted
from imp_driver.values.view_policy import TRIED


def shown(relations: Sequence[Maintained], graphs: Sequence[GraphState], sketches: Sketches) -> LocalStream:
    """Return a row for each relation, and then for each query over graphs whose solutions are kept."""
    columns = _relations(relations, sketches)
    others = [_graph(each) for each in graphs]
    return LocalStream({name: (kind, [*values, *(each.get(name) for each in others)]) for name, (kind, values) in columns.items()})


def _graph(state: GraphState) -> dict[str, object]:
    """Return what is told of solutions, by column."""
    counts, costs = state.usage.counts, state.costs
    return {
        "sketch_id": state.identifier,
        "table_name": ", ".join(".".join(name) for name in state.tables) or None,
        "version": next(iter(state.versions.values()), None),
        "lives_in": None if state.solutions is None else "memory",
        "groups": state.solutions,
        "bytes": state.bytes,
        **{name: getattr(counts, name) for name in ("uses", "answers", "captures", "maintained", "delta_rows")},
        "capture_ms": _milliseconds(costs.all_captures),
        "maintain_ms": _milliseconds(costs.all_upkeep),
        "saved_ms": _milliseconds(costs.all_saved),
        "problem": state.problem or None,
        "statement": f"SPARQL {state.statement}",
    }


def _relations(relations: Sequence[Maintained], sketches: Sketches) -> dict[str, tuple[pa.DataType, list[object]]]:

    def values(read: Callable[[Maintained], object]) -> list[object]:
        return [read(relation) for relation in relations]

    text, number, ahead = pa.string(), pa.int64(), sketches.relations.eager.ahead
    return {
        "sketch_id": (text, values(lambda r: r.identifier)),
        "template": (text, values(lambda r: r.identity.template)),
        "table_name": (text, values(lambda r: r.identity.table)),
        "attribute": (text, values(lambda r: ", ".join(dict.fromkeys(cut.attribute for cut in r.cuts)) or None)),
        "version": (number, values(lambda r: r.version if r.is_held else None)),
        "stored_version": (number, values(lambda r: None if r.stored is None else r.stored.version(r.identity.location))),
        "lives_in": (text, values(_lives_in)),
        "group_keys": (text, values(_keys)),
        "aggregates": (text, values(_aggregates)),
        "groups": (number, values(lambda r: r.groups)),
        "fragments": (number, values(lambda r: sum(cut.partition.fragments for cut in r.cuts) or None)),
        "bytes": (number, values(sketches.relations.registry.weight)),
        "uses": (number, values(lambda r: r.usage.counts.uses)),
        "answers": (number, values(lambda r: r.usage.counts.answers)),
        "captures": (number, values(lambda r: r.usage.counts.captures)),
        "maintained": (number, values(lambda r: r.usage.counts.maintained)),
        "delta_rows": (number, values(lambda r: r.usage.counts.delta_rows)),
        "capture_ms": (number, values(lambda r: _milliseconds(r.costs.all_captures))),
        "maintain_ms": (number, values(lambda r: _milliseconds(r.costs.all_upkeep))),
        "saved_ms": (number, values(lambda r: _milliseconds(r.costs.all_saved))),
        "behind_versions": (number, values(sketches.relations.eager.versions_behind)),
        "eager_steps": (number, values(lambda r: ahead(r).steps)),
        "eager_ms": (pa.float64(), values(lambda r: ahead(r).milliseconds)),
        "eager_problem": (text, values(lambda r: ahead(r).problem or None)),
        "problem": (text, values(lambda r: None if r.attempts.failure is None else r.attempts.failure.detail)),
        "statement": (text, values(_statement)),
    }


def _statement(relation: Maintained) -> str:
    """Return the query that a relation was captured for, with the views that it reads by their names alone."""
    text = readable(relation.identity.template_text.partition(VIEW_MARK)[0])
    if TRIED not in text or not relation.views:
        return text
    # Its rows are those of a view that was first tried under another name.
    name = relation.views[0][-1].replace("`", "``")
    return _OF_TRIED.sub(lambda _: name, text)


_OF_TRIED = re.compile(f"{re.escape(TRIED)}[0-9a-f]+")


def _keys(relation: Maintained) -> str | None:
    """Return the keys; none where all rows are one group, NULL where a former process has not written them down."""
    written = _written(relation)
    if written is None:
        return None
    return "" if written.keys == (_ONE_GROUP,) else ", ".join(map(readable, written.keys))


_ONE_GROUP = "TRUE"


def _aggregates(relation: Maintained) -> str | None:
    written = _written(relation)
    if written is None:
        return None
    every = ((AccumulatorKind[each.kind], ValueForm[each.form], each.argument) for each in written.aggregates)
    return ", ".join(f"{_function(kind, form)}({readable(argument or '*')})" for kind, form, argument in every)


def _written(relation: Maintained) -> WrittenBlock | None:
    if relation.block is not None:
        return as_texts(relation.block)
    return None if relation.stored is None else relation.stored.record.block


def _function(kind: AccumulatorKind, form: ValueForm) -> str:
    """Return a function that is asked for what is held, of several such functions one."""
    if kind is AccumulatorKind.VARIANCE:
        return form.value
    if kind.name.startswith(("SUM", "AVERAGE")):
        is_average = form is ValueForm.AVERAGE or kind is AccumulatorKind.AVERAGE_INTEGER
        return f"{'avg' if is_average else 'sum'}{'_distinct' if kind is AccumulatorKind.SUM_DISTINCT else ''}"
    return _FUNCTIONS[kind]


_FUNCTIONS = {
    AccumulatorKind.COUNT_ROWS: "count",
    AccumulatorKind.COUNT: "count",
    AccumulatorKind.MINIMUM: "min",
    AccumulatorKind.MAXIMUM: "max",
    AccumulatorKind.COUNT_DISTINCT: "count_distinct",
    AccumulatorKind.PERCENTILE: "percentile",
    AccumulatorKind.BIT_AND: "bit_and",
    AccumulatorKind.BIT_OR: "bit_or",
    AccumulatorKind.BIT_XOR: "bit_xor",
    AccumulatorKind.BOOLEAN_AND: "bool_and",
    AccumulatorKind.BOOLEAN_OR: "bool_or",
}


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


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def advised(advices: Sequence[Advice]) -> LocalStream:
    """Return a row for each advice; those without a clustering say why."""
    text, number = pa.string(), pa.int64()
    return LocalStream(
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
    )


def questioned(questions: Sequence[Question]) -> LocalStream:
    """Return a row for each text that was asked."""
    text, number = pa.string(), pa.int64()
    why = [each.not_answered for each in questions]
    return LocalStream(
        {
            "statement": (text, [each.text for each in questions]),
            "executions": (number, [each.runs for each in questions]),
            "answered": (number, [each.answered for each in questions]),
            "milliseconds": (number, [round(each.milliseconds) for each in questions]),
            "served_by": (text, [each.served_by.name for each in questions]),
            "reason": (text, [None if each is None else each.reason.name for each in why]),
            "detail": (text, [None if each is None else redacted(each.detail) or each.reason.value for each in why]),
        }
    )
