"""Deletes rows as Delta's protocol describes it: an inline deletion vector for each file, in a commit written by hand."""

from __future__ import annotations

import json
from collections.abc import Set
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq
from pyroaring import BitMap64

MAGIC = (1681511377).to_bytes(4, "little")
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
FEATURES = ["deletionVectors"]


def encode_z85(content: bytes) -> str:
    text = ""
    for start in range(0, len(content), 4):
        number = int.from_bytes(content[start : start + 4], "big")
        text += "".join(ALPHABET[number // 85**power % 85] for power in range(4, -1, -1))
    return text


def inline(positions: Set[int]) -> str:
    """Return the text of a vector that the log holds itself."""
    content = MAGIC + BitMap64(positions).serialize()
    return encode_z85(content + bytes(-len(content) % 4))


def delete_rows(folder: str, column: str, values: Set[int]) -> None:
    """Commit the deletion of all rows whose whole-number column, which is no partition column, has one of the values."""
    log = Path(folder) / "_delta_log"
    version = max(int(path.stem) for path in log.glob("*.json")) + 1
    actions: list[dict[str, object]] = [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": FEATURES, "writerFeatures": FEATURES}}
    ]
    for added in _live(log):
        stored = pq.ParquetFile(Path(folder) / unquote(str(added["path"]))).read([column]).column(0).to_pylist()
        positions = {place for place, value in enumerate(stored) if value in values}
        vector = {"storageType": "i", "pathOrInlineDv": inline(positions), "sizeInBytes": 34, "cardinality": len(positions)}
        # One commit must not remove and add the same file with the same vector.
        if positions and added.get("deletionVector") != vector:
            removed = {name: added[name] for name in ("path", "partitionValues", "size", "deletionVector") if name in added}
            actions += [{"remove": removed | {"deletionTimestamp": version, "dataChange": True}}]
            actions += [{"add": {**added, "deletionVector": vector, "dataChange": True}}]
    (log / f"{version:020d}.json").write_text("\n".join(map(json.dumps, actions)))


def _live(log: Path) -> list[dict[str, object]]:
    """Return the newest action that adds each file."""
    commits = [path.read_text().splitlines() for path in sorted(log.glob("*.json"))]
    added = [action["add"] for lines in commits for action in map(json.loads, lines) if "add" in action]
    return list({file["path"]: file for file in added}.values())
