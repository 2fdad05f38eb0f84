"""What a record says of a run beside its measurements: code, machine, load, versions. No names of hosts, people or folders."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import imp_driver
from benchmarks import repository
from benchmarks.records import UNKNOWN, Machine
from imp_driver.errors import Error
from imp_driver.spark.java import find_java
from imp_driver.spark.packages import DELTA_VERSION

ROOT = Path(__file__).parents[1]
PACKAGES = ("deltalake", "sqlglot", "pyarrow", "numpy", "rdflib", "pyoxigraph")
_RECORDS = "benchmarks/records"


@dataclass(frozen=True, slots=True)
class Origin:
    """The code of a run, as a record names it."""

    commit: str
    is_dirty: bool
    code: Mapping[str, str]


def origin(root: Path = ROOT) -> Origin:
    """Return what the checkout is now; asked once, when a run begins, since the files may change while it runs."""
    return Origin(*commit(root), code(root))


def commit(root: Path = ROOT) -> tuple[str, bool]:
    """Return the commit of the checkout, and whether anything but records differs from it; UNKNOWN and True where there is no git."""
    name = repository.ask(root, "rev-parse", "HEAD")
    changed = repository.ask(root, "status", "--porcelain", "--", ".", f":(exclude){_RECORDS}")
    return (UNKNOWN, True) if name is None or changed is None else (name.strip(), bool(changed.strip()))


def code(root: Path = ROOT) -> dict[str, str]:
    """Return a digest for each part of the driver (a folder or file of ``imp_driver``), each file of the benchmarks and of peers, by path.

    It is that of the files as they are, so that code is the same or not also without a history, and with changes that are in none.
    """
    benchmarks = root / "benchmarks"
    parts = [*_entries(root / "imp_driver"), *benchmarks.glob("*.py"), *(benchmarks / "workloads").glob("*.py")]
    parts += [path for folder in ("nested", "recursion", "sparql") for path in (benchmarks / folder).glob("*.py")]
    parts += [*(benchmarks / "peers").glob("Cargo.*"), *(benchmarks / "peers").glob("src/*.rs")]
    return {part.relative_to(root).as_posix(): _digest(part) for part in sorted(parts)}


def machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Machine(_cpu(), os.cpu_count() or 0, round(memory))


def load() -> tuple[float, ...]:
    """Return the load averages of 1, 5 and 15 minutes; nothing where the system has none."""
    try:
        return tuple(round(value, 2) for value in os.getloadavg())
    except OSError:
        return ()


def versions() -> dict[str, str]:
    return {
        "driver": imp_driver.__version__,
        "python": platform.python_version(),
        "spark": version("pyspark"),
        "delta": DELTA_VERSION,
        "java": _java(),
    } | {name: version(name) for name in PACKAGES}


def _entries(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix == ".py" or (path.is_dir() and next(path.rglob("*.py"), None)))


def _digest(part: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(part.rglob("*.py")) if part.is_dir() else (part,):
        digest.update(f"{path.relative_to(part.parent).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine() or UNKNOWN


def _java() -> str:
    try:
        run = subprocess.run([str(find_java()), "-version"], capture_output=True, text=True, check=False)
    except (OSError, Error):
        return UNKNOWN
    found = re.search(r'version "([^"]+)"', run.stderr + run.stdout)
    return found.group(1) if found else UNKNOWN
