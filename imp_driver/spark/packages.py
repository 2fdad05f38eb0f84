"""Resolve the Delta Lake jars once into a cache folder of the driver; every later start uses the files.

``spark.jars.packages`` would ask Ivy at every start (13-25 s even when all is there), so Ivy, which PySpark ships, is run on its own.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imp_driver.errors import OperationalError

CACHE_VARIABLE = "IMP_DRIVER_CACHE"
SETTINGS_VARIABLE = "IMP_DRIVER_IVY_SETTINGS"

DELTA_VERSION = "4.4.0"
"""4.4.1 is on the Python index only: its jar is not on Maven Central, so the jar and delta-spark are pinned to 4.4.0 together."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A Maven artifact; ``sha256`` of its jar, in hexadecimal digits, is what Maven Central had when the version was chosen."""

    group: str
    artifact: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.group}_{self.artifact}-{self.version}.jar"


COORDINATES = (
    Coordinate("io.delta", "delta-spark_4.2_2.13", DELTA_VERSION, "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"),
    Coordinate("io.delta", "delta-storage", DELTA_VERSION, "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"),
    Coordinate("io.delta", "delta-kernel-api", DELTA_VERSION, "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11"),
    Coordinate("io.delta", "delta-kernel-defaults", DELTA_VERSION, "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b"),
    Coordinate("io.delta", "delta-kernel-unitycatalog", DELTA_VERSION, "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa"),
    Coordinate("io.unitycatalog", "unitycatalog-client", "0.6.0", "48257499a86b801a3e2372cec55ac226ca1c1c7eabe5c118e7302f29a1fdbc19"),
    Coordinate("io.unitycatalog", "unitycatalog-hadoop", "0.6.0", "c47b63c961c87102b9e1d63809a0915ba4c86b7652f57c8d39ca3a05b441a150"),
)
"""Everything that delta-spark depends on and PySpark does not ship; the other transitive jars would only shadow PySpark's own."""

Resolver = Callable[[Path, Path], str]
"""(java, folder) -> what the tool printed; leaves ``Coordinate.file_name`` of each coordinate in the folder when it succeeds."""


def cache_folder() -> Path:
    """Return the folder of the resolved jars, named by version so that an upgrade never meets old files."""
    chosen = os.environ.get(CACHE_VARIABLE)
    base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "imp_driver"
    return base / f"jars-{COORDINATES[0].artifact}-{DELTA_VERSION}"


def resolve_jars(java: Path, resolver: Resolver | None = None) -> tuple[Path, ...]:
    """Return the jar files, fetching them first when the cache folder lacks any or has another file in its place.

    Raises:
        OperationalError: they are not in the cache and could not be fetched, what was fetched is another file, or the cache folder
            cannot be written.
    """
    folder = cache_folder()
    if not _missing(folder):
        return _files(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".jars-", dir=folder.parent))
    except OSError as error:
        raise OperationalError(
            f"Cannot write the cache folder {folder.parent} for Delta's jars: {error.strerror}. Set {CACHE_VARIABLE} to another folder."
        ) from error
    try:
        print(f"imp_driver: fetching Delta Lake {DELTA_VERSION} once into {folder} ...", file=sys.stderr, flush=True)
        output = (resolver or run_ivy)(java, staging)
        if _missing(staging):
            raise _not_resolved(_missing(staging), staging, folder, output)
        _publish(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    print(f"imp_driver: Delta Lake {DELTA_VERSION} is ready.", file=sys.stderr, flush=True)
    return _files(folder)


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / coordinate.file_name for coordinate in COORDINATES)


def _missing(folder: Path) -> list[Coordinate]:
    return [coordinate for coordinate in COORDINATES if _digest(folder / coordinate.file_name) != coordinate.sha256]


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _publish(staging: Path, folder: Path) -> None:
    # A rename of one file is atomic, so a second process that resolves at the same time replaces each file by the same file.
    folder.mkdir(exist_ok=True)
    for coordinate in COORDINATES:
        os.replace(staging / coordinate.file_name, folder / coordinate.file_name)


def _not_resolved(missing: list[Coordinate], staging: Path, folder: Path, output: str) -> OperationalError:
    settings = os.environ.get(SETTINGS_VARIABLE)
    source = f"with the Ivy settings {settings}" if settings else "on Maven Central"
    other = next((coordinate for coordinate in missing if (staging / coordinate.file_name).is_file()), None)
    if other is not None:
        return OperationalError(
            f"What was fetched {source} as {other} is not the file that this driver was made with: its SHA-256 is not {other.sha256}. "
            "It is not used. Check the mirror."
        )
    wanted = ", ".join(f"{coordinate} as {coordinate.file_name}" for coordinate in missing)
    reason = next((line.strip() for line in output.splitlines() if "rror" in line or "xception" in line), "")
    return OperationalError(
        f"The Delta Lake jars are not there yet and could not be fetched {source}{': ' + reason if reason else ''}. Missing: {wanted}. "
        f"Connect once with network access, or name a mirror in an Ivy settings file by {SETTINGS_VARIABLE}, or put the files in {folder}."
    )


def run_ivy(java: Path, folder: Path) -> str:
    """Fetch all coordinates into a folder with PySpark's own Ivy; return its output."""
    (folder / "ivy.xml").write_text(_module_text(), encoding="utf-8")
    settings = os.environ.get(SETTINGS_VARIABLE)
    if settings is None:
        settings = str(folder / "settings.xml")
        Path(settings).write_text(_settings_text(folder / "ivy"), encoding="utf-8")
    command = [str(java), "-cp", os.path.join(pyspark_jars(), "ivy-*.jar")]
    command[-1] = os.pathsep.join(sorted(glob.glob(command[-1])))
    command += ["org.apache.ivy.Main", "-settings", settings, "-ivy", str(folder / "ivy.xml"), "-confs", "default"]
    command += ["-retrieve", str(folder / "[organisation]_[artifact]-[revision].[ext]")]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return "Error: no answer within 10 minutes"
    except OSError as error:
        return f"Error: cannot run {java}: {error}"
    return run.stdout + run.stderr


def pyspark_jars() -> str:
    """Return the folder of the jars that PySpark ships."""
    import pyspark

    return os.path.join(os.path.dirname(pyspark.__file__), "jars")


def _module_text() -> str:
    dependencies = "".join(
        f'<dependency org="{c.group}" name="{c.artifact}" rev="{c.version}" conf="default->master" transitive="false"/>'
        for c in COORDINATES
    )
    return (
        '<ivy-module version="2.0"><info organisation="imp_driver" module="jars"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{dependencies}</dependencies></ivy-module>'
    )


def _settings_text(cache: Path) -> str:
    # Without a root, an m2compatible ibiblio resolver means Maven Central.
    return (
        f'<ivysettings><settings defaultResolver="central"/><caches defaultCacheDir="{cache}"/>'
        '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>'
    )
