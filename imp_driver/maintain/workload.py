"""What was asked of a warehouse: per template how often, at what cost, and why it was (not) sketched. Shared by all connections.

With a file it outlives the process. Only template texts without constants, names of tables and columns, counts and estimated shares are
written; no value of a query or of a table is.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

_LOG = logging.getLogger("imp_driver.advise")
LARGEST_WORKLOAD = 2_000
"""Templates that are remembered; the least recently asked are forgotten."""
_SECONDS_BETWEEN_WRITES = 60.0
_LARGEST_FILE = 4 << 20
"""Bytes; a longer file is written anew with one line per template."""

QuestionT = TypeVar("QuestionT")


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one template.

    Attributes:
        template: identifier, which is another one once the table is dropped and made again.
        text: template without any constant; empty when the statement was not parsed.
        table: qualified name; empty when the statement was refused before its tables were known.
        attributes: safe attributes, in the order of GROUP BY.
        runs, milliseconds, bytes: executions, and the sums of what they took; ``bytes`` as the table's file statistics say.
        reason: stable code of the last run.
        last_bytes, table_bytes: bytes of the last run, and of the whole table at that time.
        beside: bytes that the last run skipped by cuts on columns that are none of ``attributes``, by table.
        shares: per attribute, the estimated share of the table to read were it clustered by the attribute (advise/estimate.py).
    """

    template: str
    text: str = ""
    table: str = ""
    table_id: str = ""
    attributes: tuple[str, ...] = ()
    runs: int = 0
    milliseconds: float = 0.0
    bytes: int = 0
    reason: str = ""
    last_bytes: int = 0
    table_bytes: int = 0
    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    beside: Mapping[str, int] = field(default_factory=dict)

    def plus(self, newer: Record) -> Record:
        """Add the runs of a newer record of the same template."""
        return replace(
            newer,
            text=newer.text or self.text,
            runs=self.runs + newer.runs,
            milliseconds=self.milliseconds + newer.milliseconds,
            bytes=self.bytes + newer.bytes,
            shares={**self.shares, **newer.shares},
            beside=newer.beside if newer.runs else self.beside,
        )


class Workload(Generic[QuestionT]):
    """Records by template, least recently asked first. ``QuestionT`` is what was asked last, with its values: it stays in memory.

    Nothing is raised when the file cannot be read or written: it is advice that is lost, no answer.
    """

    def __init__(self, file: Path | None = None, largest: int = LARGEST_WORKLOAD) -> None:
        self._file = file
        self._largest = largest
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._questions: OrderedDict[str, QuestionT] = OrderedDict()
        self._unwritten: dict[str, Record] = {}
        self._next_write = time.monotonic() + _SECONDS_BETWEEN_WRITES
        self._lock = threading.Lock()

    def add(self, run: Record, question: QuestionT | None = None) -> Record:
        """Add one run (or estimated shares, with ``runs`` 0) and return the sum of this process; write at most once a minute."""
        with self._lock:
            known = self._records.pop(run.template, None)
            total = self._records[run.template] = run if known is None else known.plus(run)
            waiting = self._unwritten.get(run.template)
            self._unwritten[run.template] = run if waiting is None else waiting.plus(run)
            if question is not None:
                self._questions[run.template] = question
            self._forget()
            if time.monotonic() >= self._next_write:
                self._write()
            return total

    def find(self, template: str) -> Record | None:
        """Return what this process knows of a template."""
        with self._lock:
            return self._records.get(template)

    def questions(self) -> Mapping[str, QuestionT]:
        """Return what was asked last in this process, by template."""
        with self._lock:
            return dict(self._questions)

    def records(self) -> tuple[Record, ...]:
        """Return every template, those of earlier processes too."""
        with self._lock:
            merged = _merged([*_read(self._file), *self._unwritten.values()]) if self._file is not None else self._records
            return tuple(merged.values())

    def write(self) -> None:
        """Write what is new to the file, if there is one."""
        with self._lock:
            self._write()

    def _forget(self) -> None:
        while len(self._records) > self._largest:
            template, _ = self._records.popitem(last=False)
            self._questions.pop(template, None)
            self._unwritten.pop(template, None)

    def _write(self) -> None:
        self._next_write = time.monotonic() + _SECONDS_BETWEEN_WRITES
        if self._file is None or not self._unwritten:
            return
        try:
            if self._file.exists() and self._file.stat().st_size > _LARGEST_FILE:
                self._rewrite(self._file)
            else:
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(_lines(self._unwritten.values()))
        except OSError as error:
            _LOG.warning("The workload cannot be written to %s: %s", self._file, error.strerror)
            return
        self._unwritten = {}

    def _rewrite(self, file: Path) -> None:
        merged = list(_merged([*_read(file), *self._unwritten.values()]).values())
        temporary = file.with_suffix(".new")
        temporary.write_text(_lines(merged[-self._largest :]), encoding="utf-8")
        os.replace(temporary, file)


def _merged(records: Iterable[Record]) -> OrderedDict[str, Record]:
    merged: OrderedDict[str, Record] = OrderedDict()
    for record in records:
        known = merged.pop(record.template, None)
        merged[record.template] = record if known is None else known.plus(record)
    return merged


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(_as_object(record), separators=(",", ":")) + "\n" for record in records)


def _as_object(record: Record) -> dict[str, object]:
    return {
        "template": record.template,
        "text": record.text,
        "table": record.table,
        "table_id": record.table_id,
        "attributes": record.attributes,
        "runs": record.runs,
        "milliseconds": round(record.milliseconds, 1),
        "bytes": record.bytes,
        "reason": record.reason,
        "last_bytes": record.last_bytes,
        "table_bytes": record.table_bytes,
        "beside": dict(record.beside),
        "shares": {name: [round(share, 5) for share in shares] for name, shares in record.shares.items()},
    }


def _read(file: Path | None) -> list[Record]:
    try:
        lines = [] if file is None else file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        _LOG.warning("The workload in %s cannot be read: %s", file, error.strerror)
        return []
    found = [_record(line) for line in lines]
    malformed = sum(record is None for record in found)
    if malformed:
        _LOG.warning("%d lines of the workload in %s are malformed and left out.", malformed, file)
    return [record for record in found if record is not None]


def _record(line: str) -> Record | None:
    """Read one line, None when it is not one of ours: a process may have died while it wrote."""
    try:
        values: dict[str, Any] = json.loads(line)
        shares = {str(name): tuple(float(share) for share in each) for name, each in values["shares"].items()}
        texts = {name: str(values[name]) for name in ("template", "text", "table", "table_id", "reason")}
        counts = {name: int(values[name]) for name in ("runs", "bytes", "last_bytes", "table_bytes")}
        attributes = tuple(str(name) for name in values["attributes"])
        beside = {str(table): int(count) for table, count in values.get("beside", {}).items()}
        milliseconds = float(values["milliseconds"])
        return Record(**texts, **counts, attributes=attributes, milliseconds=milliseconds, shares=shares, beside=beside)  # type: ignore[arg-type]
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
