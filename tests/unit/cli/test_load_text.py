"""Text that ``imp load`` does not take for UTF-8: which byte and line, and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from imp_driver.cli.load_text import check_text
from imp_driver.errors import DataError

MEGABYTE = 1 << 20
"""Bytes that are decoded at once."""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a\n\xe9\n", "byte 2 (0xe9), in line 2, "),
        (b"a\nb\n\xc3", "byte 4 (0xc3), in line 3, "),
        # The first byte of a character ends one chunk, and what begins the next does not go on with it.
        (b"\n" * (MEGABYTE - 1) + b"\xc3\n\n", f"byte {MEGABYTE - 1} (0xc3), in line {MEGABYTE}, "),
        (b"\n" * MEGABYTE + b"a\n\xff", f"byte {MEGABYTE + 2} (0xff), in line {MEGABYTE + 2}, "),
        (b"\xed\xa0\x80", "byte 0 (0xed), in line 1, "),
    ],
)
def test_the_first_byte_and_its_line_are_told(tmp_path: Path, content: bytes, told: str) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "it's.csv"
    good.write_bytes(b"a\n")
    bad.write_bytes(content)
    with pytest.raises(DataError) as raised:
        check_text([good, bad])
    begin = f"{bad} is not text in UTF-8, and nothing was loaded: {told}is no character of it. Convert it, such as by: "
    assert str(raised.value) == begin + """iconv -f WINDOWS-1252 -t UTF-8 'it'"'"'s.csv', where WINDOWS-1252 is what it is in."""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_with_a_mark_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "rows.CSV.GZ"
    path.write_bytes(gzip.compress("a\nb\n".encode(encoding)))
    with pytest.raises(DataError) as raised:
        check_text([path])
    name = encoding.upper()
    assert str(raised.value).endswith(f": it begins as {name} does. Convert it unpacked, such as by: iconv -f {name} -t UTF-8 rows.CSV.")


def test_what_is_utf_8_and_what_cannot_be_read_is_left_to_spark(tmp_path: Path) -> None:
    contents = {
        "plain.csv": "\ufeffé€𝄞\0".encode(),
        "ends_between.jsonl": b"a" * (MEGABYTE - 1) + "é".encode() * 3,
        "packed.csv.gz": gzip.compress("é".encode()),
        "damaged.csv.gz": b"no gzip",
        "empty.csv": b"",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    check_text([tmp_path / name for name in (*contents, "not_there.csv")])
