"""Records and cases for tests."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.records import Case, Machine, Option, Quantity, Record, Scalar, Series, Stage

CODE = {"imp_driver/maintain": "1", "imp_driver/cli": "1", "benchmarks/workloads/joins.py": "1", "benchmarks/protocol.py": "1"}
FULL: dict[str, Option] = {"rows": 10_000_000, "repetitions": 10, "quick": False, "scale": 1.0}
_RECORD = Record(
    workload="joins",
    commit="c0ffee" + "0" * 34,
    is_dirty=False,
    date="2026-11-23T16:57:30Z",
    machine=Machine("A processor", 2, 24),
    load_before=(0.1, 0.2, 0.3),
    load_after=(1.5, 0.7, 0.4),
    versions={"python": "3.11.7"},
    options=FULL,
    code=CODE,
    systems=("FM", "IMP"),
    cases=(),
)


def record(*cases: Case, **changes: object) -> Record:
    """Return a record of full size with these cases."""
    return replace(_RECORD, cases=cases, **changes)  # type: ignore[arg-type]


def series(system: str, quantity: Quantity, *values: float | None, stage: Stage = Stage.MEASURED) -> Series:
    return Series(system, stage, quantity, values)


def case(*made: Series, differences: tuple[str, ...] = (), shortened: str = "", **labels: Scalar) -> Case:
    return Case(labels, made, {}, 10, shortened, 10, differences)


def maintained(captures: tuple[float | None, ...], maintenance: tuple[float | None, ...], **labels: Scalar) -> Case:
    """Return a case of captures by FM and maintenance by IMP."""
    made = case(series("FM", Quantity.CAPTURE, *captures), series("IMP", Quantity.MAINTENANCE, *maintenance))
    return replace(made, labels=labels)
