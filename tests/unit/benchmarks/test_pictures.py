"""Pictures of the workloads that have one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.pictures import draw
from benchmarks.records import Quantity, Record, Scalar
from benchmarks.recursion.drawn import QUANTITIES
from tests.unit.benchmarks.making import case, maintained, record, series

GROUPS = record(
    *(maintained((300.0, 310.0), (3.0, None), groups=groups, delta=delta) for groups in (50, 1_000) for delta in (10, 100)),
    workload="groups",
)
MIXES = record(
    *(
        case(*(series(system, Quantity.QUERY, 300.0, 310.0) for system in ("NS", "FM", "IMP")), mix=mix, delta=1, aggregates=aggregates)
        for aggregates in (1, 3)
        for mix in ("1U1Q", "1U5Q")
    ),
    workload="mixes",
)


NESTED = record(
    *(
        case(*(series(system, Quantity.EVENT, 10.0, 12.0) for system in ("IMP", "recomputed")), query=query, rows=rows, batch=1)
        for query in ("VWAP", "MST")
        for rows in (1_000, 10_000)
    ),
    workload="nested_aggregates",
)


SHIPPED = case(*(series(system, quantity, 10.0, 12.0) for system in ("DRed", "absorption lazy") for quantity in QUANTITIES))
INSERTED: dict[str, Scalar] = {"inserted": "100 %", "links": 400, "density": "dense", "machines": 4}
FIGURES = record(
    *(
        replace(SHIPPED, labels={"figure": number, **INSERTED, **change})
        for number in ("7", "9", "11", "13", "14")
        for change in (dict[str, Scalar](), dict[str, Scalar](change="delete", batch=1))
    ),
    workload="recursion_figures",
)


@pytest.mark.parametrize("drawn", [GROUPS, MIXES, NESTED, FIGURES], ids=lambda each: each.workload)
def test_a_record_is_drawn(drawn: Record, tmp_path: Path) -> None:
    assert draw(tmp_path / "picture.png", drawn)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("other", [record(workload="sizes"), replace(GROUPS, cases=())], ids=["no picture", "no cases"])
def test_where_there_is_nothing_to_draw_there_is_no_picture(other: Record, tmp_path: Path) -> None:
    assert not draw(tmp_path / "picture.png", other)
    assert not (tmp_path / "picture.png").exists()
