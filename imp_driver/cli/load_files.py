"""Files of rows as ``imp load`` finds them: files, folders of them, and what folders named ``column=value`` say of their rows."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from imp_driver.errors import ProgrammingError
from imp_driver.values.quoting import quoted_text

VIEW = "__imp_load"
"""Temporary view of all rows."""
_FORMATS = {".csv": "csv", ".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json"}
_OPTIONS = {
    # Quotes are doubled inside quotes and may hold line breaks (RFC 4180); a bad row must not come in as NULLs.
    "csv": {"header": "true", "inferSchema": "true", "escape": '"', "multiLine": "true", "enforceSchema": "false", "mode": "FAILFAST"},
    "json": {"mode": "FAILFAST"},
    "parquet": {"mergeSchema": "true"},
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of rows; ``partition`` is its part ``column=value/..`` of the folders right above it, empty where there is none."""

    path: Path
    partition: str

    @classmethod
    def of(cls, path: Path) -> SourceFile:
        parts: list[str] = []
        for folder in path.parents:
            name, sign, value = folder.name.partition("=")
            if not (name and sign and value):
                break
            parts.insert(0, folder.name)
        return cls(path, "/".join(parts))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose values the folders give."""
        return tuple(part.partition("=")[0] for part in self.partition.split("/") if part)


def existing(text: str) -> Path:
    """Return the path of a file. Raises ProgrammingError where there is none."""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        what = "is a folder; name its files" if path.is_dir() else "does not exist"
        raise ProgrammingError(f"The file {text} {what}.")
    return path


def source_files(texts: Sequence[str]) -> list[SourceFile]:
    """Return the files that are named, those of folders, and those of patterns that no shell has read.

    Raises:
        ProgrammingError: something is not there, or the folders of some files have other columns than those of others.
    """
    files = [SourceFile.of(path) for text in texts for path in _named(text)]
    first = files[0]
    for file in files[1:]:
        if file.columns != first.columns:
            raise ProgrammingError(
                f"The folders of all files must name the same columns: those of {first.path} have {_listed(first)}, those of "
                f"{file.path} have {_listed(file)}."
            )
    return files


def _listed(file: SourceFile) -> str:
    return ", ".join(file.columns) or "none"


def _named(text: str) -> Iterator[Path]:
    path = Path(text).expanduser().absolute()
    if path.is_dir():
        yield from _of_folder(path, text)
    elif path.exists() or not glob.has_magic(text):
        yield existing(text)
    else:
        found = sorted(glob.glob(str(path), recursive=True))
        if not found:
            raise ProgrammingError(f"No file is named like {text}.")
        for each in map(Path, found):
            yield from _of_folder(each, str(each)) if each.is_dir() else [each]


def _of_folder(folder: Path, text: str) -> list[Path]:
    if (folder / "_delta_log").is_dir():
        raise ProgrammingError(
            f"The folder {text} is a Delta table, which needs no loading: query delta.`{folder}`, "
            f"or CREATE TABLE name USING DELTA LOCATION {quoted_text(str(folder))}."
        )
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _is_hidden(path.relative_to(folder))]
    if not files:
        raise ProgrammingError(f"The folder {text} has no files.")
    return files


def _is_hidden(path: Path) -> bool:
    """Say whether Spark would leave it out, such as _SUCCESS and files of checksums."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.parts)


def common_format(paths: Sequence[Path]) -> str:
    """Return Spark's name of the format of all files. Raises ProgrammingError when it is unknown or not the same."""
    formats = sorted({_format(path) for path in paths})
    if len(formats) > 1:
        raise ProgrammingError(f"The files must be of one format, not {' and '.join(formats)}.")
    return formats[0]


def _format(path: Path) -> str:
    found = _FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if found is None:
        raise ProgrammingError(f"The file {path.name} is none of {', '.join(_FORMATS)} (text also with .gz).")
    return found


def link(files: Sequence[SourceFile], folder: Path) -> dict[str, Path]:
    """Show the files to Spark as one folder: in a list of paths some characters of their names would be read as a pattern.

    Returns:
        The files by the names that they have in the folder.
    """
    names: dict[str, Path] = {}
    for number, file in enumerate(files):
        name = file.path.name.lower()
        kind = Path(name.removesuffix(".gz")).suffix + (".gz" if name.endswith(".gz") else "")
        place = folder / file.partition / f"{number:06d}{kind}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(file.path)
        names[place.name] = file.path
    return names


def source_sql(paths: Sequence[Path], chosen: str, folder: str, separator: str = ",") -> str:
    """Return the statement that makes the files of a folder a temporary view; ``separator`` is that of CSV."""
    options = {"path": folder, **_OPTIONS[chosen]}
    if chosen == "csv" and separator != ",":
        options["sep"] = separator
    if chosen == "json" and any(_is_array(path) for path in paths):
        options["multiLine"] = "true"
    written_options = ", ".join(f"{name} {quoted_text(value)}" for name, value in options.items())
    return f"CREATE OR REPLACE TEMPORARY VIEW {VIEW} USING {chosen} OPTIONS ({written_options})"


def _is_array(path: Path) -> bool:
    """Say whether a file of JSON is one array of rows instead of a row in each line."""
    with path.open("rb") as file:
        return file.read(1_024).lstrip().startswith(b"[")
