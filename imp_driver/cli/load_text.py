"""Files of text that ``imp load`` is given are UTF-8: what is not Spark would load as U+FFFD, without a word."""

from __future__ import annotations

import codecs
import gzip
import shlex
from collections.abc import Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from imp_driver.errors import DataError

_CHUNK: Final = 1 << 20
"""Bytes that are decoded at once."""
_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Other encodings by what their texts may begin with; UTF-32 first, which begins like UTF-16."""
_USUAL: Final = "WINDOWS-1252"
"""What texts without a mark often are."""


def check_text(paths: Sequence[Path]) -> None:
    """Do nothing where all files, packed ones too, are text in UTF-8. What cannot be opened is Spark's to tell.

    Raises:
        DataError: one is not; it names the first byte (from 0) and line (from 1) that is none.
    """
    for path in paths:
        try:
            with _opened(path) as file:
                found = _other_encoding(file) or _first_bad_byte(file)
        except (OSError, EOFError):
            continue
        if found is not None:
            what, encoding = found
            raise DataError(f"{path} is not text in UTF-8, and nothing was loaded: {what}. {_advice(path, encoding)}")


def _opened(path: Path) -> BufferedIOBase:
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")


def _other_encoding(file: BufferedIOBase) -> tuple[str, str] | None:
    """Say that text begins with the mark of another encoding; None where it does not."""
    begin = file.read(max(map(len, _MARKS)))
    file.seek(0)
    found = next((name for mark, name in _MARKS.items() if begin.startswith(mark)), None)
    return None if found is None else (f"it begins as {found} does", found)


def _first_bad_byte(file: BufferedIOBase) -> tuple[str, str] | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    begin = lines = 0
    while True:
        chunk = file.read(_CHUNK)
        # A character that the chunk before has not ended is decoded with this one; it has no line break in it.
        ahead: bytes = decoder.getstate()[0]
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as problem:
            text, place = ahead + chunk, problem.start
            line = lines + text[:place].count(b"\n") + 1
            return f"byte {begin - len(ahead) + place} (0x{text[place]:02x}), in line {line}, is no character of it", _USUAL
        if not chunk:
            return None
        begin, lines = begin + len(chunk), lines + chunk.count(b"\n")


def _advice(path: Path, encoding: str) -> str:
    is_packed = path.name.lower().endswith(".gz")
    name = shlex.quote(path.name[: -len(".gz")] if is_packed else path.name)
    guessed = f", where {_USUAL} is what it is in" if encoding == _USUAL else ""
    return f"Convert it{' unpacked' if is_packed else ''}, such as by: iconv -f {encoding} -t UTF-8 {name}{guessed}."
