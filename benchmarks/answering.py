"""The systems of the workloads of answers: plain Spark, the cut query, answers from states, and another engine that computes anew."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import imp_driver
from benchmarks.harness import Answer, ask, before_execution, named_rows
from benchmarks.protocol import Turn, turn_of
from benchmarks.records import Quantity
from imp_driver.reasons import Decision
from imp_driver.values.report import SketchReport

PLAIN, CUT, ANSWERS, RECOMPUTED = "NS", "IMP", "answers", "DuckDB"
_STATE = "STATE"
"""What the names of the ways to be served from a state begin with."""


@dataclass(frozen=True, slots=True)
class Connections:
    """``cut`` uses sketches and never answers; it has a store of its own, since states serve all connections to a store."""

    plain: imp_driver.Connection
    cut: imp_driver.Connection
    answers: imp_driver.Connection

    def forget(self) -> None:
        """Drop all states, so that the next queries capture."""
        for connection in (self.cut, self.answers):
            connection.execute("DROP SKETCH ALL").close()


@contextmanager
def opened(warehouse: str, schema: str | None = None) -> Iterator[Connections]:
    """Open the three connections on a warehouse, in a schema that is made where it is not there."""
    with ExitStack() as stack:
        place = {"warehouse": warehouse} | ({} if schema is None else {"schema": schema})
        if schema is not None:
            with imp_driver.connect(warehouse=warehouse, sketch="off") as connection:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}").close()
        stores = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        yield Connections(
            stack.enter_context(imp_driver.connect(**place, sketch="off")),
            stack.enter_context(imp_driver.connect(**place, sketch="lazy", answers="off", store=stores[0])),
            stack.enter_context(imp_driver.connect(**place, sketch="lazy", answers="on", store=stores[1])),
        )


def asked(connection: imp_driver.Connection, text: str) -> Turn:
    """Ask one query; who served it, and why not a state, is its decision."""
    return answered(ask(connection, text))


def answered(answer: Answer) -> Turn:
    """Return the turn of a query that may have been answered from a state; a capture counts as one also where it did not serve."""
    turn = turn_of(answer)
    spent = {**turn.spent, Quantity.ANSWERED: float(is_answered(answer.report))}
    if "capture" in answer.report.times:
        spent[Quantity.CAPTURE] = before_execution(answer.report)
        spent.pop(Quantity.STAGES, None)
        spent.pop(Quantity.MAINTENANCE, None)
    return replace(turn, spent=spent, decision=served(answer.report))


def is_answered(report: SketchReport) -> bool:
    return report.served_by.name.startswith(_STATE)


def served(report: SketchReport) -> str:
    """Return by what a query was served, what upkeep was done, and why it was not served from a state."""
    parts = [report.served_by.name]
    if report.decision is not Decision.NOT_USED:
        parts.append(report.decision.name)
    if not is_answered(report):
        parts.append(report.reason.name if report.not_answered is None else report.not_answered.reason.name)
    return " ".join(parts)


def why_not(report: SketchReport) -> str:
    """Return why a query was not served from a state, with names and numbers; empty where it was."""
    if is_answered(report):
        return ""
    grounds = report.not_answered
    reason, detail = (report.reason, report.detail) if grounds is None else (grounds.reason, grounds.detail)
    return f"{reason.name} {detail}".strip()


def state_bytes(connection: imp_driver.Connection, report: SketchReport | None = None) -> int:
    """Return the bytes of the states of a query, of all states without one."""
    known = None if report is None else {each.sketch_id for each in (report, *report.also)}
    rows = named_rows(connection, "SHOW SKETCHES")
    return sum(int(row["bytes"] or 0) for row in rows if known is None or row["sketch_id"] in known)
