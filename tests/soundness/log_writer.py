"""A table that is written as Delta's protocol describes it, file by file and line by line, so that no writer's habits are tested with it.

Thousands of commits a minute, with what no one writer does: vectors and copied files in one table, rows in another order in the copy, files
without statistics, old files with a narrower type or without a column, names that need escaping.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import uuid
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from tests.unit.delta.deleting import MAGIC, encode_z85, inline

Row = tuple[Any, ...]
NAMES = ("a", "s", "x", "m", "d", "t", "b", "p q")
DELTA_TYPES = ("long", "string", "double", "decimal(30,2)", "date", "timestamp", "boolean", "string")
_TYPES = (
    pa.int64(),
    pa.string(),
    pa.float64(),
    pa.decimal128(30, 2),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.bool_(),
    pa.string(),
)
PARTITION = len(NAMES) - 1
MAPPINGS = ("none", "none", "name", "id")
_FEATURES = ["deletionVectors", "columnMapping", "changeDataFeed"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a table is like; with ``vectors`` rows are marked as deleted as often as files are written anew.

    ``mapping`` is one of MAPPINGS; with ``id`` each file has names of its own for the columns.
    """

    feed: bool
    vectors: bool
    mapping: str
    partitioned: bool


@dataclass(slots=True)
class _File:
    action: dict[str, Any]
    rows: list[Row]
    deleted: set[int] = field(default_factory=set)

    @property
    def live(self) -> list[Row]:
        return [row for place, row in enumerate(self.rows) if place not in self.deleted]


def random_row(chance: random.Random) -> Row:
    """Return a row of few different values, so that some rows are equal."""
    values = (
        chance.randint(-2, 3),
        chance.choice(["", "x", "é'\\", None]),
        chance.choice([0.0, -0.0, 1.5, float("nan"), None]),
        chance.choice([Decimal("0.00"), Decimal("-123456789012345678901234.56"), None]),
        chance.choice([dt.date(1600, 1, 1), dt.date(2024, 2, 29), None]),
        chance.choice([dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC), None]),
        chance.choice([True, False, None]),
        chance.choice(["1", "a b/c%20=ü", None]),
    )
    return tuple(value if place == 0 or chance.random() < 0.7 else None for place, value in enumerate(values))


class WrittenTable:
    """A table, and at each version its rows and a number for each of NAMES, another one when another column has that name."""

    def __init__(self, folder: Path, kind: Kind, chance: random.Random) -> None:
        self.folder, self.kind, self._chance = folder, kind, chance
        self._files: list[_File] = []
        self._version = -1
        self._identifier = str(uuid.UUID(int=chance.getrandbits(128)))
        self._places = list(range(len(NAMES)))
        self._numbers = [place + 1 for place in self._places]
        self._most = len(NAMES)
        self.versions: list[list[Row]] = []
        self.columns: list[list[int | None]] = []
        (folder / "_delta_log").mkdir(parents=True)
        protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": _FEATURES[:2], "writerFeatures": _FEATURES}
        self._commit("CREATE TABLE", [{"protocol": protocol}, self._metadata()])

    @property
    def version(self) -> int:
        return self._version

    def append(self, rows: Sequence[Row]) -> None:
        self._commit("WRITE", self._added(rows))

    def change(self, is_meant: Callable[[Row], bool], changed: Callable[[Row], Row | None], *, shuffled: bool) -> None:
        """Update some rows, or delete those that become None; a file either keeps them until later or is written anew."""
        actions: list[dict[str, Any]] = []
        before: list[Row] = []
        after: list[Row] = []
        for file in list(self._files):
            meant = [place for place, row in enumerate(file.rows) if place not in file.deleted and is_meant(row)]
            if not meant:
                continue
            new = [row for row in (changed(file.rows[place]) for place in meant) if row is not None]
            before += [file.rows[place] for place in meant]
            after += new
            if self.kind.vectors and self._chance.random() < 0.6:
                actions += self._marked(file, set(meant)) + self._added(new)
            else:
                kept = [row for place, row in enumerate(file.rows) if place not in file.deleted | set(meant)]
                actions += [self._removed(file), *self._added(_shuffled(self._chance, kept + new) if shuffled else kept + new)]
        if not actions:
            return
        if self.kind.feed:
            actions += self._change_data(before, after)
        metrics = {"numUpdatedRows": str(len(after)), "numDeletedRows": str(len(before) - len(after))}
        self._commit("UPDATE", actions, metrics if self._chance.random() < 0.5 else {})

    def overwrite(self, rows: Sequence[Row]) -> None:
        removed = [self._removed(file) for file in list(self._files)]
        self._commit("WRITE", [*removed, *self._added(rows)], parameters={"mode": "Overwrite"})

    def compact(self) -> None:
        """Write all live rows of some files into other files; nothing changes."""
        chosen = [file for file in self._files if self._chance.random() < 0.6]
        rows = [row for file in chosen for row in file.live]
        actions = [self._removed(file) for file in chosen] + self._added(rows)
        for action in actions:
            next(iter(action.values()))["dataChange"] = False
        self._commit("OPTIMIZE", actions)

    def add_column(self, where: int) -> None:
        """Put a column into the schema that no row has a value of."""
        self._most += 1
        self._places.insert(where, self._most)
        self._commit("ADD COLUMNS", [self._metadata()])

    def replace_column(self, place: int) -> None:
        """Drop a column, and add one of the same name and type in a commit of its own; all rows lose their value."""
        self._places.remove(place)
        actions = [self._metadata()]
        if self.kind.mapping == "none":
            actions += [self._removed(file) for file in list(self._files)] + self._added(
                [_without(row, place) for row in self.versions[-1]]
            )
        for file in self._files:
            file.rows = [_without(row, place) for row in file.rows]
        self._commit("DROP COLUMNS", actions, parameters={"mode": "Overwrite"})
        self._most += 1
        self._numbers[place] = self._most
        self._places.append(place)
        self._commit("ADD COLUMNS", [self._metadata()])

    def _metadata(self) -> dict[str, Any]:
        configuration = {"delta.enableChangeDataFeed": str(self.kind.feed).lower()}
        if self.kind.mapping != "none":
            configuration["delta.columnMapping.mode"] = self.kind.mapping
        return {
            "metaData": {
                "id": self._identifier,
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": [self._field(place) for place in self._places]}),
                "partitionColumns": [NAMES[PARTITION]] if self.kind.partitioned else [],
                "configuration": configuration,
            }
        }

    def _field(self, place: int) -> dict[str, Any]:
        is_asked = place < len(NAMES)
        number = self._numbers[place] if is_asked else place
        metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number} é"}
        return {
            "name": NAMES[place] if is_asked else f"n{place}",
            "type": DELTA_TYPES[place] if is_asked else "integer",
            "nullable": True,
            "metadata": {} if self.kind.mapping == "none" else metadata,
        }

    def _stored(self, place: int) -> str:
        return NAMES[place] if self.kind.mapping == "none" else f"col-{self._numbers[place]} é"

    def _added(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        groups: dict[str | None, list[Row]] = {}
        for row in rows:
            groups.setdefault(row[PARTITION] if self.kind.partitioned else None, []).append(row)
        actions = []
        for value, own in groups.items():
            cut = self._chance.randint(0, len(own)) if self._chance.random() < 0.3 else 0
            actions += [self._written(value, part) for part in (own[:cut], own[cut:]) if part]
        return actions

    def _written(self, value: str | None, rows: list[Row]) -> dict[str, Any]:
        name = f"part {self._chance.getrandbits(40):x} %é.parquet"
        self._write(name, rows)
        action: dict[str, Any] = {
            "path": quote(name),
            "partitionValues": {self._stored(PARTITION): value} if self.kind.partitioned else {},
            "size": (self.folder / name).stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
        }
        if self._chance.random() < 0.7:
            action["stats"] = json.dumps({"numRecords": len(rows)})
        self._files.append(_File(dict(action), rows))
        return {"add": action}

    def _write(self, name: str, rows: Sequence[Row], change_types: Sequence[str] | None = None) -> None:
        arrays, fields = [], []
        shift = self._chance.randint(0, 3) if self.kind.mapping == "id" else 0
        for place, kind in enumerate(_TYPES):
            values = [row[place] for row in rows]
            is_missing = all(value is None for value in values) and self._chance.random() < 0.5
            if (place == PARTITION and self.kind.partitioned) or is_missing:
                continue
            narrow = kind == pa.int64() and self._chance.random() < 0.3
            arrays.append(pa.array(values, pa.int32() if narrow else kind))
            # With identifiers a file may call a column by another column's name.
            stored = self._stored((place + shift) % len(NAMES))
            fields.append(pa.field(stored, arrays[-1].type, metadata={"PARQUET:field_id": str(self._numbers[place])}))
        if change_types is not None:
            arrays.append(pa.array(change_types, pa.string()))
            fields.append(pa.field("_change_type", pa.string()))
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(
            pa.table(arrays, schema=pa.schema(fields)), path, row_group_size=self._chance.choice([1, 3, 1000]), compression="none"
        )

    def _removed(self, file: _File) -> dict[str, Any]:
        self._files.remove(file)
        kept = ("path", "partitionValues", "size", "deletionVector")
        return {"remove": {name: file.action[name] for name in kept if name in file.action} | {"dataChange": True, "deletionTimestamp": 0}}

    def _marked(self, file: _File, places: set[int]) -> list[dict[str, Any]]:
        removed = self._removed(file)
        file.deleted |= places
        if len(file.deleted) == len(file.rows):
            return [removed]
        # The protocol asks for the number of rows where there is a vector.
        counted = json.dumps({"numRecords": len(file.rows)})
        file.action = {**file.action, "stats": counted, "deletionVector": self._vector(file.deleted)}
        self._files.append(file)
        return [removed, {"add": dict(file.action)}]

    def _vector(self, places: set[int]) -> dict[str, Any]:
        if self._chance.random() < 0.5:
            return {"storageType": "i", "pathOrInlineDv": inline(places), "sizeInBytes": 34, "cardinality": len(places)}
        name = uuid.UUID(int=self._chance.getrandbits(128))
        content = MAGIC + BitMap64(places).serialize()
        stored = b"\x01" + len(content).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")
        (self.folder / f"deletion_vector_{name}.bin").write_bytes(stored)
        text = encode_z85(name.bytes)
        return {"storageType": "u", "pathOrInlineDv": text, "offset": 1, "sizeInBytes": len(content), "cardinality": len(places)}

    def _change_data(self, before: Sequence[Row], after: Sequence[Row]) -> list[dict[str, Any]]:
        signed = [(row, self._chance.choice(["delete", "update_preimage"])) for row in before]
        signed += [(row, self._chance.choice(["insert", "update_postimage"])) for row in after]
        groups: dict[str | None, list[tuple[Row, str]]] = {}
        for row, sign in signed:
            groups.setdefault(row[PARTITION] if self.kind.partitioned else None, []).append((row, sign))
        actions = []
        for value, own in groups.items():
            name = f"_change_data/cdc-{self._chance.getrandbits(40):x}.parquet"
            self._write(name, [row for row, _ in own], [sign for _, sign in own])
            folders = {self._stored(PARTITION): value} if self.kind.partitioned else {}
            actions.append({"cdc": {"path": quote(name), "partitionValues": folders, "size": 1, "dataChange": False}})
        return actions

    def _commit(
        self,
        operation: str,
        actions: Sequence[dict[str, Any]],
        metrics: dict[str, str] | None = None,
        parameters: dict[str, str] | None = None,
    ) -> None:
        self._version += 1
        information = {"operation": operation, "operationMetrics": metrics or {}, "operationParameters": parameters or {}, "timestamp": 0}
        lines = [{"commitInfo": information}, *actions]
        (self.folder / "_delta_log" / f"{self._version:020d}.json").write_text("\n".join(map(json.dumps, lines)))
        self.versions.append([row for file in self._files for row in file.live])
        self.columns.append([number if place in self._places else None for place, number in enumerate(self._numbers)])


def _without(row: Row, place: int) -> Row:
    return (*row[:place], None, *row[place + 1 :])


def _shuffled(chance: random.Random, rows: list[Row]) -> list[Row]:
    return chance.sample(rows, len(rows))
