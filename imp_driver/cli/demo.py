"""``imp demo``: what its two acts have in common: folders of their own, how an interrupted run ends, what is left on disk."""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

import imp_driver
from imp_driver.cli.demo_folders import IN_RESULT, IN_WAREHOUSE, DemoFolder, claim, clean, size_of
from imp_driver.cli.records import in_bytes, record, tell


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Run an act, or remove what earlier runs have left; return 0 when every answer that was compared was equal.

    Raises:
        imp_driver.Error: a folder is not the demo's own, the disk is full, or Spark has failed.
    """
    warehouse = DemoFolder(Path(arguments.warehouse), IN_WAREHOUSE, "--warehouse")
    result = DemoFolder(Path(arguments.result), IN_RESULT, "--result")
    if _is_within(warehouse.path, result.path) or _is_within(result.path, warehouse.path):
        raise imp_driver.ProgrammingError("--warehouse and --result must be two folders, neither within the other.")
    if arguments.clean:
        return _clean([warehouse, result], console)
    folders = [warehouse] if arguments.recursive else [warehouse, result]
    for folder in folders:
        claim(folder)
    try:
        return _act(arguments, folders, console)
    except BrokenPipeError:
        # Whoever read the records has gone; the interpreter would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _act(arguments: argparse.Namespace, folders: list[DemoFolder], console: Console) -> int:
    from imp_driver.cli import dashboard, recursive

    try:
        return recursive.run(arguments, console) if arguments.recursive else dashboard.run(arguments, console)
    except (imp_driver.Error, OSError) as error:
        if not any(map(_is_full, _chain(error))):
            raise
        raise imp_driver.OperationalError(
            "The disk is full. Free some space, run imp demo --clean to remove what the demo has left, or make it smaller (--size small)."
        ) from error
    finally:
        _tell_left(arguments, folders, console)


def _clean(folders: list[DemoFolder], console: Console) -> int:
    removed = clean(folders)
    for path, size in removed:
        tell(console, f"Removed {path} ({in_bytes(size)}).", "removed", folder=str(path), bytes=size)
    if not removed:
        names = " and no ".join(str(folder.path) for folder in folders)
        tell(console, f"There is nothing to remove: no {names}.", "removed", folder=None, bytes=0)
    return 0


def _tell_left(arguments: argparse.Namespace, folders: list[DemoFolder], console: Console) -> None:
    sizes = {str(folder.path): size_of(folder.path) for folder in folders}
    options = [(name, getattr(arguments, name)) for name in ("warehouse", "result")]
    command = " ".join(["imp demo --clean", *(f"--{name} {shlex.quote(value)}" for name, value in options if value != f"demo-{name}")])
    if console.is_terminal:
        left = " and ".join(f"{path} ({in_bytes(size)})" for path, size in sizes.items())
        console.print(f"Left on disk: {left}. Remove with: {command}", highlight=False, markup=False, soft_wrap=True)
        return
    for path, size in sizes.items():
        record(console, "left", folder=path, bytes=size, remove=command)


def _is_within(one: Path, other: Path) -> bool:
    return one.resolve().is_relative_to(other.resolve())


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _is_full(error: BaseException) -> bool:
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)
