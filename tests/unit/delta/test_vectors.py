"""Deletion vectors against bytes made by hand from the protocol's description."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap64

from imp_driver.delta.commits import VectorReference
from imp_driver.delta.store import open_store
from imp_driver.delta.vectors import decode_z85, read_positions, vector_path
from tests.unit.delta.deleting import MAGIC, encode_z85, inline


def test_example_of_zeromq() -> None:
    assert decode_z85("HelloWorld") == bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 2**40), max_size=50))
def test_inline_vector(positions: set[int]) -> None:
    reference = VectorReference("i", inline(positions), None, len(positions))
    assert read_positions(open_store("/"), reference).tolist() == sorted(positions)


@pytest.mark.parametrize("prefix", ["", "ab"])
def test_stored_vector_at_an_offset(tmp_path: Path, prefix: str) -> None:
    name = uuid.uuid4()
    content = MAGIC + BitMap64([1, 5, 2**33]).serialize()
    stored = b"\x01" + b"other vector" + len(content).to_bytes(4, "big") + content + b"crc."
    folder = tmp_path / prefix
    folder.mkdir(exist_ok=True)
    (folder / f"deletion_vector_{name}.bin").write_bytes(stored)
    reference = VectorReference("u", prefix + encode_z85(name.bytes), 13, 3)
    assert read_positions(open_store(str(tmp_path)), reference).tolist() == [1, 5, 2**33]
    absolute = VectorReference("p", (folder / f"deletion_vector_{name}.bin").as_uri(), 13, 3)
    assert read_positions(open_store("/"), absolute).tolist() == [1, 5, 2**33]


def test_no_vector_deletes_nothing() -> None:
    assert read_positions(open_store("/"), None).dtype == np.int64
    assert len(read_positions(open_store("/"), None)) == 0


def test_wrong_bytes_are_refused() -> None:
    wrong_magic = encode_z85(b"\x00\x00\x00\x00" + BitMap64([1]).serialize() + b"\x00\x00")
    with pytest.raises(ValueError, match="unknown format"):
        read_positions(open_store("/"), VectorReference("i", wrong_magic, None, 1))
    content = MAGIC + BitMap64([1]).serialize()
    content += bytes(-len(content) % 4)
    with pytest.raises(ValueError, match="the log says 2"):
        read_positions(open_store("/"), VectorReference("i", encode_z85(content), None, 2))


def test_vector_on_another_store_is_refused() -> None:
    with pytest.raises(ValueError, match="another store"):
        vector_path(VectorReference("p", "s3://bucket/vector.bin", 1, 1))
