"""``python -m benchmarks.run``: workloads in one run, one after the other; each leaves a record of its own in benchmarks/records.

It ends with 1 where answers differed or a workload did not end. Records are written then too, so nothing of a run is lost or left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import records, surroundings
from benchmarks.bench import Bench
from benchmarks.catalogue import MAIN, WORKLOADS, Workload
from benchmarks.journal import Journal
from benchmarks.records import Record
from benchmarks.surroundings import Origin

ROWS = 10_000_000
QUICK_ROWS = 1_000_000


def main(arguments: Sequence[str] | None = None, folder: Path = records.FOLDER, workloads: Mapping[str, Workload] = WORKLOADS) -> int:
    """Run what the arguments say and write the records to a folder; return the exit status."""
    parsed = _parser(workloads).parse_args(arguments)
    if parsed.rows is None:
        parsed.rows = QUICK_ROWS if parsed.quick else ROWS
    chosen = workloads if "all" in parsed.workloads else parsed.workloads
    is_red, origin = False, surroundings.origin()
    with tempfile.TemporaryDirectory() as temporary, Bench(parsed, parsed.warehouse or f"{temporary}/warehouse") as bench:
        for name in (name for name in workloads if name in chosen):
            record = measured(name, workloads[name], bench, origin)
            path = records.write(record, folder)
            print(f"{name}: {_told(record)}: {path.name}", flush=True)
            is_red |= bool(record.differences or record.failure)
            if record.failure == KeyboardInterrupt.__name__:
                break
    return 1 if is_red else 0


def measured(name: str, workload: Workload, bench: Bench, origin: Origin) -> Record:
    """Run one workload; what it measured until an exception, and which one it was, is in the record too."""
    journal = Journal(bench.repetitions)
    load_before, failure = surroundings.load(), ""
    try:
        workload(bench, journal)
    except (Exception, KeyboardInterrupt) as error:
        # Its message may name folders of this machine, so the record has the class alone.
        traceback.print_exc()
        failure = type(error).__name__
    return Record(
        workload=name,
        commit=origin.commit,
        is_dirty=origin.is_dirty,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        machine=surroundings.machine(),
        load_before=load_before,
        load_after=surroundings.load(),
        versions=surroundings.versions(),
        options=bench.options,
        code=origin.code,
        systems=journal.systems,
        cases=journal.cases,
        failure=failure,
    )


def _told(record: Record) -> str:
    compared = sum(case.compared for case in record.cases)
    told = f"{len(record.cases)} cases, answers compared {compared} times, {len(record.differences)} differences"
    return f"{told}, ended by {record.failure}" if record.failure else told


def _parser(workloads: Mapping[str, Workload]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--rows", type=int, help=f"rows of the table (default {ROWS:,}, with --quick {QUICK_ROWS:,})")
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of TPC-H and SSB (default %(default)s)")
    parser.add_argument("--growth", type=int, nargs="+", default=[1_000_000, 10_000_000, 50_000_000], help="sizes of the workload growth")
    parser.add_argument("--repetitions", type=int, default=10, help="repetitions of each case (default %(default)s)")
    less = "a smaller table, two mixes, fewer updates in eager, fewer cases in answers and dashboard"
    parser.add_argument("--quick", action="store_true", help=less)
    parser.add_argument("--workloads", nargs="+", choices=(*workloads, "all"), default=[name for name in MAIN if name in workloads])
    parser.add_argument("--warehouse", help="folder to keep the data in (default: a temporary one)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
