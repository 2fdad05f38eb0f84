"""Records and states to bytes and back: JSON for what is small, Arrow streams for columns, a checksum over all of it.

In: values of ``record``. Out: rows for the store's tables. Invariant: what decodes without StoreDamaged is what was encoded.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from imp_driver.persist.record import Record, StateColumns, StoreDamaged, StoredBuckets, StoredCut, StoredSketch, StoredTable
from imp_driver.plan.written import WrittenAggregate, WrittenBlock
from imp_driver.values.cuts import AttachedCut, CutName
from imp_driver.values.fragments import FragmentSet
from imp_driver.values.ranges import RangePartition

FORMAT = 4
"""Of the rows that this driver writes. Rows of another format are skipped, and their states captured again."""
_CELLS = "cell_"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of records. ``body`` is JSON.

    The others are Arrow streams with a row per cut: ``bounds`` an Arrow stream, ``fragments`` one bit per fragment.
    """

    format: int
    key: str
    state: str
    body: str
    bounds: bytes
    fragments: bytes
    fragment_rows: bytes
    checksum: str

    def expected_checksum(self) -> str:
        """Return the checksum of all other columns."""
        parts = (str(self.format).encode(), self.key.encode(), self.state.encode(), self.body.encode())
        return checksum_of(*parts, self.bounds, self.fragments, self.fragment_rows)


def checksum_of(*parts: bytes) -> str:
    """Return a digest of some byte strings that also depends on where each of them ends."""
    digest = hashlib.blake2s(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def encoded(record: Record) -> Row:
    """Return the row of a record."""
    body = {
        "family": record.family,
        "prefix": record.prefix,
        "source": record.source,
        "template": record.template,
        "template_text": record.template_text,
        "templates": list(record.templates),
        "table": record.table,
        "location": record.location,
        "cuts": [_cut_body(each) for each in record.cuts],
        "tables": [asdict(table) for table in record.tables],
        "conditions": None if record.conditions is None else list(record.conditions),
        "groups": record.groups,
        "bytes": record.bytes,
        "learned": dict(record.learned),
        "buckets": None if record.buckets is None else asdict(record.buckets),
        "block": None if record.block is None else asdict(record.block),
    }
    bounds = _together(_bounds(each.cut.partition) for each in record.cuts)
    fragments = _together(b"" if each.sketch is None else _packed(each.sketch.fragments) for each in record.cuts)
    rows = _together(b"" if each.sketch is None else np.ascontiguousarray(each.sketch.rows, dtype="<i8").tobytes() for each in record.cuts)
    row = Row(FORMAT, record.key, record.state, json.dumps(body), bounds, fragments, rows, "")
    return Row(FORMAT, row.key, row.state, row.body, bounds, fragments, rows, row.expected_checksum())


def decoded(row: Row) -> Record:
    """Invert ``encoded``. Raises StoreDamaged."""
    if row.format != FORMAT:
        raise StoreDamaged(f"record {row.key} has format {row.format}, this driver reads {FORMAT}")
    if row.checksum != row.expected_checksum():
        raise StoreDamaged(f"record {row.key} is damaged: its checksum differs")
    try:
        return _record(row, json.loads(row.body))
    except (ValueError, TypeError, KeyError, pa.ArrowException) as error:
        raise StoreDamaged(f"record {row.key} cannot be read: {error}") from error


def _record(row: Row, body: dict[str, Any]) -> Record:
    parts = [_apart(each) for each in (row.bounds, row.fragments, row.fragment_rows)]
    cuts = tuple(_cut(*each) for each in zip(body["cuts"], *parts, strict=True))
    return Record(
        key=row.key,
        family=body["family"],
        prefix=body["prefix"],
        source=body.get("source", ""),
        template=body["template"],
        template_text=body["template_text"],
        templates=tuple(body["templates"]),
        table=body["table"],
        location=body["location"],
        tables=tuple(StoredTable(**table) for table in body["tables"]),
        cuts=cuts,
        state=row.state,
        conditions=None if body["conditions"] is None else tuple(body["conditions"]),
        groups=body["groups"],
        bytes=body["bytes"],
        learned=body["learned"],
        buckets=None if body.get("buckets") is None else StoredBuckets(**body["buckets"]),
        block=None if body.get("block") is None else _block(body["block"]),
    )


def _block(body: dict[str, Any]) -> WrittenBlock:
    return WrittenBlock(
        tuple(body["keys"]), tuple(body["conditions"]), tuple(WrittenAggregate(**aggregate) for aggregate in body["aggregates"])
    )


def _cut_body(stored: StoredCut) -> dict[str, object]:
    constants = None if stored.sketch is None else stored.sketch.constants
    return {"name": asdict(stored.cut.name), "attribute": stored.cut.attribute, "constants": constants}


def _cut(body: dict[str, Any], bounds: bytes, fragments: bytes, fragment_rows: bytes) -> StoredCut:
    column = pa.ipc.open_stream(bounds).read_all().column("bound").combine_chunks()
    partition = RangePartition(column.type, tuple(column.to_pylist()))
    sketch = None
    if body["constants"] is not None:
        rows = np.frombuffer(fragment_rows, dtype="<i8").astype(np.int64)
        if len(rows) != partition.fragments:
            raise ValueError("the rows per fragment do not fit the ranges")
        sketch = StoredSketch(body["constants"], _unpacked(fragments, partition.fragments), rows)
    return StoredCut(AttachedCut(CutName(**body["name"]), partition, body["attribute"]), sketch)


def _bounds(partition: RangePartition) -> bytes:
    return stream_of(pa.table({"bound": pa.array(partition.bounds, type=partition.type)}))


def _together(parts: Iterable[bytes]) -> bytes:
    return stream_of(pa.table({"part": pa.array(list(parts), pa.binary())}))


def _apart(data: bytes) -> list[bytes]:
    parts: list[bytes] = pa.ipc.open_stream(data).read_all().column("part").to_pylist()
    return parts


def encoded_state(columns: StateColumns) -> bytes:
    """Return the columns of a state as Arrow streams: one over groups, then one over the cells of each cut that has them."""
    tables: dict[str, dict[str, pa.Array]] = {"": {}}
    for name, column in columns.items():
        cut = name.rsplit("_", 1)[0] if name.startswith(_CELLS) else ""
        tables.setdefault(cut, {})[name] = column
    sink = io.BytesIO()
    for own in tables.values():
        sink.write(stream_of(pa.table(own)))
    return sink.getvalue()


def decoded_state(data: bytes) -> dict[str, pa.Array]:
    """Invert ``encoded_state``. Raises StoreDamaged."""
    try:
        source = pa.BufferReader(data)
        tables = [pa.ipc.open_stream(source).read_all()]
        while source.tell() < len(data):
            tables.append(pa.ipc.open_stream(source).read_all())
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StoreDamaged(f"a state cannot be read: {error}") from error
    return {name: table.column(name).combine_chunks() for table in tables for name in table.column_names}


def stream_of(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _packed(fragments: FragmentSet) -> bytes:
    mask = np.zeros(fragments.total, dtype=bool)
    mask[fragments.members()] = True
    return np.packbits(mask).tobytes()


def _unpacked(packed: bytes, total: int) -> FragmentSet:
    if len(packed) != (total + 7) // 8:
        raise ValueError("the fragments do not fit the ranges")
    mask = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=total)
    return FragmentSet.of(np.flatnonzero(mask).tolist(), total)
