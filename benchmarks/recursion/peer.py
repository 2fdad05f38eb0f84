"""Differential dataflow as a peer: ``benchmarks/peers``, a program in Rust, built here where there is a cargo.

It is another process that reads changes from a pipe and says how long it took for each, by its own clock, without reading and parsing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from benchmarks.recursion.maintained import Row

CRATE = Path(__file__).parents[1] / "peers"
PROGRAM = "imp-peer"
TARGET = "CARGO_TARGET_DIR"
"""Environment variable of cargo: where it builds."""


class PeerMissingError(RuntimeError):
    """The peer cannot be built here; the message says why."""


def cargo() -> str | None:
    """Return the path of cargo, or None where there is none: in the search path, or where its installer puts it."""
    return shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo" / "bin"))


def built() -> Path:
    """Build the peer if it is not built yet and return its program.

    Raises:
        PeerMissingError: there is no cargo, or it does not succeed.
    """
    found = cargo()
    if found is None:
        raise PeerMissingError("cargo is missing: install Rust to measure differential dataflow, benchmarks/peers")
    # Never inside the repository, whose folder of sources may be read-only and is what a record's digests are of: cargo writes its lock
    # beside the manifest.
    target = os.environ.get(TARGET) or str(Path(tempfile.gettempdir()) / f"{PROGRAM}-target")
    copy = shutil.copytree(CRATE, Path(target) / "source", dirs_exist_ok=True)
    # Rust's compilers are started by cargo, from its own folder.
    search = f"{Path(found).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [found, "build", "--release", "--quiet", "--manifest-path", str(copy / "Cargo.toml")]
    done = subprocess.run(command, env=os.environ | {TARGET: target, "PATH": search}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerMissingError(f"cargo cannot build benchmarks/peers: {done.stderr.strip()}")
    return Path(target) / "release" / PROGRAM


class Peer:
    """``reachable`` kept by differential dataflow on one worker. Its rows are known by their number and fingerprint alone.

    Attributes:
        microseconds: what it spent in all changes together.
        changes: how many rows of the view came or went in the last change.
        fingerprint: number of rows and sum of their hashes, as ``maintained.fingerprint`` computes them.
    """

    def __init__(self, program: Path) -> None:
        self.microseconds, self.changes, self.fingerprint = 0, 0, (0, 0)
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def load(self, rows: Iterable[Row]) -> None:
        self.apply((), list(rows))

    def apply(self, deleted: Sequence[Row], inserted: Sequence[Row]) -> None:
        """Follow a change.

        Raises:
            PeerMissingError: the process has ended.
        """
        pipe, answers = self._process.stdin, self._process.stdout
        assert pipe is not None
        assert answers is not None
        try:
            pipe.writelines(f"{sign} {source} {target}\n" for sign, links in (("-", deleted), ("+", inserted)) for source, target in links)
            pipe.write("commit\n")
            pipe.flush()
        except BrokenPipeError as error:
            raise PeerMissingError(f"differential dataflow ended: {self._said()}") from error
        words = answers.readline().split()
        if len(words) != 5 or words[0] != "commit":
            raise PeerMissingError(f"differential dataflow ended: {self._said()}")
        spent, changes, number, hashes = map(int, words[1:])
        self.microseconds += spent
        self.changes, self.fingerprint = changes, (number, hashes)

    @property
    def touched(self) -> int:
        """It does not say."""
        return 0

    def rows(self) -> Iterable[Row]:
        """Raise NotImplementedError: the rows stay in its process, ``fingerprint`` stands for them."""
        raise NotImplementedError("rows of differential dataflow are known by their fingerprint alone")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _said(self) -> str:
        return self._process.communicate()[1].strip() or f"exit status {self._process.returncode}"

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
