"""A record: everything that one workload measured in one run, and where. Statistics are computed from it and never stored instead.

``write`` makes a new file for each; none is ever changed (``benchmarks/manifest.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import manifest

FOLDER = Path(__file__).parent / "records"
FORMAT = 1
UNKNOWN = "unknown"

Scalar: TypeAlias = str | int | float | bool | None
Option: TypeAlias = Scalar | list[int]


class Stage(StrEnum):
    """When in a case something was measured."""

    COLD_START = "cold start"
    WARM_UP = "warm-up"
    MEASURED = "measured"


class Quantity(StrEnum):
    """What was measured, with its unit. Parts of ``query ms`` are given beside it and not taken from it."""

    QUERY = "query ms"
    """The whole query as its caller waits for it, with all upkeep of sketches that it waits for."""
    CAPTURE = "capture ms"
    """From the SELECT received to the rewritten query ready, where a state was captured for it."""
    MAINTENANCE = "maintenance ms"
    """The same where the state was maintained."""
    STAGES = "own stages ms"
    """The same where neither was done."""
    UPDATE = "update ms"
    """The change before the queries, which all systems see."""
    CALL = "call ms"
    """One call of a part of the driver without a query around it; the mean of a turn's calls where it makes many."""
    EVENT = "event us"
    """One event of a stream, with the results after it (after its batch), in microseconds; the mean of a turn."""
    BACKGROUND = "background ms"
    """What a thread of the driver spent between the queries; none waits for it."""
    ANSWERED = "answered"
    """1 where the rows came from a state, 0 where Spark was asked."""
    TOUCHED = "rows touched"
    """By the maintenance of a recursive view; ``Maintained`` of ``benchmarks/recursion`` says what counts."""
    SHIPPED = "rows shipped"
    """What would go from one machine to another if rows lay on several."""
    SHIPPED_BYTES = "bytes shipped"
    HELD = "tuples"
    """What the operators over solutions keep."""
    RATE = "per second"
    SIZE = "bytes"
    RESIDENT = "resident bytes"
    """Memory of this process, which holds all states; the embedded Spark is another process and not counted."""


@dataclass(frozen=True, slots=True)
class Series:
    """Every measurement of one quantity of one system, by repetition; None where a repetition had none (no capture, say)."""

    system: str
    stage: Stage
    quantity: Quantity
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One setting of a workload.

    Attributes:
        labels: what sets the case apart from the others.
        facts: what was seen but not timed, such as decisions and bytes.
        asked: repetitions that were asked for; ``shortened`` says why there are fewer, and is empty otherwise.
        compared: how often answers were compared, each time those of all systems; 0 where there is nothing to compare.
        differences: what differed. There must be none.
    """

    labels: Mapping[str, Scalar]
    series: tuple[Series, ...]
    facts: Mapping[str, Scalar]
    asked: int
    shortened: str
    compared: int
    differences: tuple[str, ...]

    def values(self, system: str, quantity: Quantity, stage: Stage = Stage.MEASURED) -> tuple[float | None, ...]:
        """Return the measurements of a series, an empty tuple where there is none."""
        for each in self.series:
            if (each.system, each.stage, each.quantity) == (system, stage, quantity):
                return each.values
        return ()


@dataclass(frozen=True, slots=True)
class Machine:
    """Without a name: a record says what was measured on, not where."""

    cpu: str
    cores: int
    memory_gib: int


@dataclass(frozen=True, slots=True)
class Record:
    """One workload of one run.

    Attributes:
        commit: forty digits, or UNKNOWN where there is no git.
        is_dirty: something else than records differed from the commit.
        date: of the end, ISO 8601, UTC, to the second.
        load_before, load_after: load averages of 1, 5 and 15 minutes; empty where the system has none.
        code: digest of each part of the code as it was, by path (``benchmarks/surroundings.py``).
        systems: the names that are in the series.
        failure: class of the exception that ended the workload early; empty otherwise.
    """

    workload: str
    commit: str
    is_dirty: bool
    date: str
    machine: Machine
    load_before: tuple[float, ...]
    load_after: tuple[float, ...]
    versions: Mapping[str, str]
    options: Mapping[str, Option]
    code: Mapping[str, str]
    systems: tuple[str, ...]
    cases: tuple[Case, ...]
    failure: str = ""
    format: int = FORMAT

    @property
    def differences(self) -> tuple[str, ...]:
        return tuple(difference for case in self.cases for difference in case.differences)

    @property
    def name(self) -> str:
        """Name of its file, without suffix: sorts by date."""
        return f"{self.date.removesuffix('Z').replace(':', '')}-{self.workload}-{self.commit[:7]}"


def write(record: Record, folder: Path = FOLDER) -> Path:
    """Write a new file and its line in the manifest; return the file. One that is there is never touched."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        path = folder / f"{record.name}{'' if number == 1 else f'-{number}'}.json"
        try:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(encoded(record))
        except FileExistsError:
            # Another run ended in the same second.
            continue
        manifest.append(path)
        return path
    raise AssertionError("unreachable")


def read_all(folder: Path = FOLDER) -> list[Record]:
    """Return all records, the oldest first.

    Raises:
        ValueError: a file is no record of this format.
    """
    return sorted((read(path) for path in folder.glob("*.json")), key=lambda record: (record.date, record.workload))


def read(path: Path) -> Record:
    """Return one record.

    Raises:
        ValueError: the file is no record of this format.
    """
    try:
        return decoded(path.read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is no record of format {FORMAT}") from error


def encoded(record: Record) -> str:
    """Return JSON with one case a line."""
    head = asdict(record)
    cases = ",\n  ".join(json.dumps(case, allow_nan=False) for case in head.pop("cases"))
    return f'{json.dumps(head, indent=1, allow_nan=False)[:-2]},\n "cases": [\n  {cases}\n ]\n}}\n'


def decoded(text: str) -> Record:
    """Return the record that ``encoded`` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    content: dict[str, Any] = json.loads(text)
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']}")
    content["machine"] = Machine(**content["machine"])
    content["cases"] = tuple(_case(case) for case in content["cases"])
    return Record(**content | {key: tuple(content[key]) for key in ("load_before", "load_after", "systems")})


def _case(content: dict[str, Any]) -> Case:
    series = tuple(
        Series(each["system"], Stage(each["stage"]), Quantity(each["quantity"]), tuple(each["values"])) for each in content["series"]
    )
    return Case(**content | {"series": series, "differences": tuple(content["differences"])})
