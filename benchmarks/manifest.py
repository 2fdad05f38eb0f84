"""The list of all records with their SHA-256, in the form of ``sha256sum``; and what must hold: no record is ever changed or removed.

The list is beside the records and lines are only added to it. Where there is a history, it is asked too: whoever changed a record may
have changed the list.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from benchmarks import repository

NAME = "SHA256SUMS"


def append(path: Path) -> None:
    """Add the line of a file that was just written."""
    with (path.parent / NAME).open("a", encoding="ascii", newline="\n") as file:
        file.write(f"{_digest(path)}  {path.name}\n")


def problems(folder: Path, root: Path) -> list[str]:
    """Return what is wrong with the records of a folder, below the repository ``root``; an empty list where all is well."""
    return sorted({*_of_list(folder), *_of_history(folder, root)})


def _of_list(folder: Path) -> list[str]:
    found, listed = [], set()
    lines = (folder / NAME).read_text(encoding="ascii").splitlines() if (folder / NAME).exists() else []
    for line in lines:
        digest, _, name = line.partition("  ")
        if name in listed:
            found.append(f"{name} is listed twice in {NAME}")
        listed.add(name)
        if not (folder / name).is_file():
            found.append(f"{name} was removed")
        elif _digest(folder / name) != digest:
            found.append(f"{name} was changed")
    there = {path.name for path in folder.glob("*.json")}
    return found + [f"{name} is not in {NAME}: sha256sum {name} >> {NAME}" for name in sorted(there - listed)]


def _of_history(folder: Path, root: Path) -> list[str]:
    """Compare with every content that a record ever had in the history of HEAD, as far as this checkout has it."""
    below = folder.relative_to(root).as_posix()
    # Without --full-history git leaves out the side of a merge whose records the merge dropped.
    options = ("--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--format=")
    printed = repository.ask(root, "log", *options, "HEAD", "--", below)
    found = []
    for line in (printed or "").splitlines():
        described, _, path = line.partition("\t")
        blob = described.split()[3] if described else ""
        if not path.endswith(".json") or not blob.strip("0"):
            continue
        if not (root / path).is_file():
            found.append(f"{Path(path).name} was removed")
        elif _blob(root / path, len(blob)) != blob:
            found.append(f"{Path(path).name} was changed")
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _blob(path: Path, digits: int) -> str:
    """Return git's name of a content; ``digits`` says which of its two hashes the repository uses."""
    content = path.read_bytes()
    return hashlib.new("sha1" if digits == 40 else "sha256", b"blob %d\0%s" % (len(content), content)).hexdigest()
