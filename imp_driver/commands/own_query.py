"""DESCRIBE and SHOW of recursive views: their own query in the place of what the catalog has for it, which fails wherever it is run.

The statement that makes a view has its query in SPARQL where it was written in that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.errors import ProgrammingError
from imp_driver.parse.views import read_name
from imp_driver.ports import ResultStream, TableDefinition
from imp_driver.values.quoting import qualified, quoted_text
from imp_driver.values.view_policy import PROPERTY, PROVENANCE, QUERY, SHOWN, SHOWN_END, SPARQL

_CREATE = re.compile(r"\s*SHOW\s+CREATE\s+TABLE\s+(.+?)(?:\s+AS\s+SERDE)?\s*;?\s*", re.IGNORECASE | re.DOTALL)
_DESCRIBE = re.compile(
    r"\s*DESC(?:RIBE)?\s+(?:TABLE\s+)?(?:EXTENDED|FORMATTED)\s+(.+?)(?:\s+AS\s+JSON)?\s*;?\s*", re.IGNORECASE | re.DOTALL
)
_LIST = re.compile(r"\s*SHOW\s+TABLE\s+EXTENDED\s.*", re.IGNORECASE | re.DOTALL)
_INTERNAL = re.compile(f"{re.escape(SHOWN)}.*?{re.escape(SHOWN_END)}", re.DOTALL)


def with_own_queries(text: str, stream: ResultStream, definition: Callable[[tuple[str, ...]], TableDefinition | None]) -> ResultStream:
    """Return the rows of a statement that inspects something, with the own query of each recursive view that they tell of.

    Args:
        definition: gives what the catalog holds under a name.
    """
    create, describe = _CREATE.fullmatch(text), _DESCRIBE.fullmatch(text)
    one = create or describe
    if one is not None:
        name = _name(one[1])
        found = None if name is None else definition(name)
        if name is None or found is None or not _is_recursive(found):
            return stream
        if create is not None:
            return _Changed(stream, lambda cell, row: _made(found, cell))
        return _Changed(stream, lambda cell, row: _replaced(cell, found))
    if _LIST.fullmatch(text) is None:
        return stream
    return _Changed(stream, lambda cell, row: _replaced(cell, definition((row["namespace"], row["tableName"]))))


def _name(text: str) -> tuple[str, ...] | None:
    with suppress(ProgrammingError):
        return read_name(text)
    return None


def _is_recursive(found: TableDefinition) -> bool:
    return found.view_text is not None and found.view_text == found.properties.get(QUERY)


def _replaced(cell: str, found: TableDefinition | None) -> str:
    if found is None or not _is_recursive(found):
        return cell
    query = found.properties[QUERY]
    # In JSON it is part of a text.
    own = json.dumps(query, ensure_ascii=False)[1:-1] if cell.startswith("{") else query
    return _INTERNAL.sub(lambda _: own, cell)


def _made(found: TableDefinition, cell: str) -> str:
    """Return the statement that makes a view, for the one that made what the catalog has."""
    head = re.match(r"CREATE VIEW (.+?) \(\n", cell)
    if head is None:
        return _replaced(cell, found)
    fields = json.loads(found.schema)["fields"]
    columns = [qualified((each["name"],)) + _comment(each["metadata"].get("comment")) for each in fields]
    provenance = " WITH PROVENANCE" if PROVENANCE in found.properties else ""
    policy = f"POLICY {found.properties[PROPERTY]}{provenance} AS"
    query = found.properties.get(SPARQL) or found.properties[QUERY]
    return "\n".join([f"CREATE INCREMENTAL VIEW {head[1]} (", f"  {', '.join(columns)}){_comment(found.comment)}", policy, query])


def _comment(text: str | None) -> str:
    return f" COMMENT {quoted_text(text)}" if text else ""


class _Changed:
    """A stream whose texts that have a recursive view's internal query are changed, each with the row that it stands in."""

    def __init__(self, stream: ResultStream, change: Callable[[str, dict[str, str]], str]) -> None:
        self.columns, self.schema = stream.columns, stream.schema
        self._stream, self._change = stream, change

    def next_batch(self) -> pa.RecordBatch | None:
        batch = self._stream.next_batch()
        if batch is None:
            return None
        texts = [place for place, field in enumerate(self.schema) if pa.types.is_string(field.type)]
        changed = {place: cells for place in texts if (cells := self._cells(batch, place)) is not None}
        arrays = [changed.get(place, batch.column(place)) for place in range(batch.num_columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)

    def _cells(self, batch: pa.RecordBatch, place: int) -> pa.Array | None:
        found = pc.match_substring(batch.column(place), SHOWN)
        if not pc.any(found).as_py():
            return None
        cells, rows = batch.column(place).to_pylist(), batch.to_pylist()
        return pa.array(
            [self._change(cell, row) if is_there else cell for cell, row, is_there in zip(cells, rows, found.to_pylist(), strict=True)],
            type=pa.string(),
        )

    def close(self) -> None:
        self._stream.close()
