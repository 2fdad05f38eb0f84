"""What an attack on the whole driver counts, and the comparison of a state that was maintained with a new capture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.capture.instrument import at_versions, capture_sql
from imp_driver.dataflow.access import Access
from imp_driver.dataflow.compute import Compute
from imp_driver.dataflow.distinct import Distinct
from imp_driver.dataflow.groups import Groups
from imp_driver.dataflow.join import InnerJoin
from imp_driver.dataflow.outer_join import LeftJoin
from imp_driver.dataflow.semijoin import SemiJoin
from imp_driver.dataflow.union import Union
from imp_driver.reasons import Decision, Reason
from imp_driver.state.maintained import Maintained
from imp_driver.values.report import SketchReport
from tests.soundness.engine import Row, Warehouse

OPERATORS = (Access, Compute, Distinct, Groups, InnerJoin, LeftJoin, SemiJoin, Union)


@dataclass(slots=True)
class Tally:
    """What was tried; ``reused`` counts answers from a state with other constants, ``partial`` those cut on a column that is no key,
    ``of_rows`` those without groups, ``united`` those from several states together,
    ``in_memory`` changes of joins over sides in memory, ``asked_engine`` those that the engine was asked about,
    ``looked_up`` times that the partners of changed rows were, ``ahead`` steps that were made between and during queries,
    ``in_buckets`` changes of states that do not fit into memory, ``crashed`` warehouses that were given up for an error inside the engine,
    ``shared`` answers from a state that serves several templates, ``several`` those of a block that several sketches filter,
    ``answered`` those whose rows came from groups, ``coarser`` those from finer groups,
    ``lifted`` states asked for with more keys,
    ``alike`` answers by the parse of other texts, ``cut_anew`` times that ranges were split or merged,
    ``followed`` operators below groups through which changes were followed in process,
    ``found_in`` the number of the warehouse with a difference.
    """

    decisions: Counter[Decision] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)
    reused: int = 0
    partial: int = 0
    of_rows: int = 0
    united: int = 0
    in_memory: int = 0
    asked_engine: int = 0
    ahead: int = 0
    looked_up: int = 0
    crashed: int = 0
    in_buckets: int = 0
    cut_anew: int = 0
    answered: int = 0
    coarser: int = 0
    lifted: int = 0
    alike: int = 0
    wide: int = 0
    shared: int = 0
    several: int = 0
    followed: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    found_in: int | None = None


def check_entry(entry: Maintained, text: str, report: SketchReport, warehouse: Warehouse, tally: Tally) -> None:
    """Compare a state that was maintained with a new capture."""
    tally.of_rows += report.reason is Reason.FILTERED and entry.block is not None and entry.block.keys_sql == ("TRUE",)
    tally.partial += entry.state is not None and "cell_rows" in entry.state.snapshot()
    tally.in_memory += report.decision is Decision.MAINTAINED and entry.circuit is not None
    if report.decision is Decision.MAINTAINED and entry.circuit is not None:
        tally.followed.update(_operators(entry.circuit.operator))
    is_kept = report.decision in (Decision.MAINTAINED, Decision.FRESH) and entry.state is not None
    if is_kept and _maintained(entry) != _captured(entry, warehouse):
        tally.differences.append(f"{text}: {_maintained(entry)} instead of {_captured(entry, warehouse)}")


def _operators(relation: object) -> set[str]:
    """Return the kinds of operators in a tree of them."""
    found = {type(relation).__name__} if isinstance(relation, OPERATORS) else set()
    parts = [getattr(relation, name) for name in getattr(relation, "__dataclass_fields__", ())]
    every = [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]
    return found.union(*map(_operators, every))


def _maintained(entry: Maintained) -> Counter[Row]:
    """Return the groups of a state: keys, rows, then counts and sums of the aggregates."""
    assert entry.state is not None
    columns = {name: column for name, column in entry.state.snapshot().items() if not name.startswith("cell_")}
    return _groups(pa.table(columns), "rows")


def _captured(entry: Maintained, warehouse: Warehouse) -> Counter[Row]:
    """Return the same from scratch."""
    assert entry.block is not None
    versions: dict[tuple[str, ...], int] = {(location[1:],): known.version for location, known in entry.vector.items()}
    return _groups(warehouse.query(capture_sql(entry.block, at_versions(versions))), "row_count")


def _groups(table: pa.Table, rows: str) -> Counter[Row]:
    names = [name for name in table.column_names if name.startswith("key_")] + [rows]
    names += sorted(name for name in table.column_names if name.endswith(("_count", "_sum")) and name != rows)
    columns = [[0 if value is None and name.endswith("_sum") else value for value in table.column(name).to_pylist()] for name in names]
    return Counter(zip(*columns, strict=True))
