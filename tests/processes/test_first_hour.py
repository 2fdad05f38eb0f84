"""docs/first-hour.md, executed: each block of commands or Python in its order, and what it prints compared with the text below it."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "first-hour.md"
_FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_PYTHON = """
import contextlib, io, json, sys, traceback
namespace = {"__name__": "first_hour"}
printed = []
for block in json.load(sys.stdin):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block, "docs/first-hour.md", "exec"), namespace)
    printed.append(output.getvalue())
    print(json.dumps(printed[-1]), flush=True)
"""
"""Runs all blocks that follow each other in one process, as a notebook does."""


@dataclass(frozen=True, slots=True)
class Block:
    """``expected`` is what is printed, with ``...`` for what is another each time; None where the page does not show it."""

    kind: str
    body: str
    expected: str | None


def read_blocks() -> Iterator[Block]:
    """Yield the blocks of the page that are run."""
    found = [(match["kind"].strip(), match["body"]) for match in _FENCE.finditer(PAGE.read_text(encoding="utf-8"))]
    for place, (kind, body) in enumerate(found):
        if kind in ("sh", "python"):
            following = found[place + 1] if place + 1 < len(found) else ("", "")
            yield Block(kind, body, following[1] if following[0] == "text" else None)


def test_the_hour_goes_as_it_is_written(tmp_path: Path) -> None:
    blocks = list(read_blocks())
    assert {block.kind for block in blocks} == {"sh", "python"}
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "imp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m imp_driver "$@"\n', encoding="utf-8")
    (commands / "imp").chmod(0o700)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "dialect")]),
        "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
        "COLUMNS": "120",
    }
    folder = tmp_path / "hour"
    folder.mkdir()
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        together = list(group)
        outputs = _in_shell(together, folder, environment) if kind == "sh" else _in_python(together, folder, environment)
        for block, output in zip(together, outputs, strict=True):
            if block.expected is not None:
                matches = doctest.OutputChecker().check_output(block.expected, output, _LOOSELY)
                assert matches, f"{block.body}\nis to print\n{block.expected}\nand prints\n{output}"


def _in_shell(blocks: list[Block], folder: Path, environment: dict[str, str]) -> Iterator[str]:
    for block in blocks:
        ran = subprocess.run(
            ["bash", "-eu", "-c", block.body],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        assert ran.returncode == 0, f"{block.body}\nended with {ran.returncode}\n{ran.stdout}"
        yield ran.stdout


def _in_python(blocks: list[Block], folder: Path, environment: dict[str, str]) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", _PYTHON],
        input=json.dumps([block.body for block in blocks]),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]
