"""What one run of the benchmarks shares: the arguments, and connections and table that are made when a workload first needs them."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from types import TracebackType

import imp_driver
from benchmarks.harness import Systems
from benchmarks.protocol import Plan
from benchmarks.records import Option
from imp_driver.cli.synthetic import SyntheticTable, create

_SKETCHES = {"sketch": "lazy", "answers": "off"}
"""What most workloads measure: rows from Spark, by sketches."""


class Bench:
    """Spark starts with ``systems``; ``loaded`` are the same with the papers' table made."""

    def __init__(self, parsed: argparse.Namespace, warehouse: str) -> None:
        self.rows: int = parsed.rows
        self.scale: float = parsed.scale
        self.repetitions: int = parsed.repetitions
        self.quick: bool = parsed.quick
        self.growth: list[int] = parsed.growth
        self.warehouse = warehouse
        self._open = ExitStack()

    @property
    def plan(self) -> Plan:
        return Plan(self.repetitions)

    @property
    def options(self) -> dict[str, Option]:
        """What a record says that was asked for; the folder of the data is nobody's business."""
        return {
            "rows": self.rows,
            "scale": self.scale,
            "repetitions": self.repetitions,
            "quick": self.quick,
            "growth": self.growth,
        }

    @cached_property
    def systems(self) -> Systems:
        table = SyntheticTable("r500", self.rows)
        store = self._open.enter_context(tempfile.TemporaryDirectory())
        plain, full, incremental = (
            self._open.enter_context(imp_driver.connect(warehouse=self.warehouse, **options))
            for options in ({"sketch": "off"}, {"store": store, **_SKETCHES}, {"policy": "incremental", **_SKETCHES})
        )
        return Systems(table, plain, full, incremental, next_id=table.rows)

    def by_cost(self, systems: Systems) -> Systems:
        """Return systems whose IMP leaves out upkeep that costs more than it saves; elsewhere upkeep is what is measured."""
        return replace(systems, incremental=self._open.enter_context(imp_driver.connect(warehouse=self.warehouse, **_SKETCHES)))

    @cached_property
    def loaded(self) -> Systems:
        create(self.systems.incremental, self.systems.table)
        return self.systems

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._open.close()
