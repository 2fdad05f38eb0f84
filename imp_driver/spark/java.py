"""Find the Java that Spark will start, and say what is wrong with it when Spark's JVM did not come up.

Success costs no process: the check before the start looks at files only, the diagnosis runs after a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from imp_driver.errors import OperationalError

MINIMUM_VERSION = 17
NEEDED_MODULE = "jdk.incubator.vector"
"""Spark starts its JVM with ``--add-modules=jdk.incubator.vector``; trimmed runtimes lack it."""

_REMEDY = "Install a full Java 17 (for example the JDK 17 package of your system) and set JAVA_HOME to its folder."


def find_java() -> Path:
    """Return the executable that Spark's launcher will choose: JAVA_HOME first, then PATH.

    Raises:
        OperationalError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise OperationalError(f"Java 17 is needed, but JAVA_HOME={home} has no bin/java. {_REMEDY}")
        return java
    found = shutil.which("java")
    if found is None:
        raise OperationalError(f"Java 17 is needed, but there is no java on PATH and JAVA_HOME is not set. {_REMEDY}")
    return Path(found)


def explain_failed_start(java: Path, output: str) -> OperationalError:
    """Return the error for a JVM that ended before Spark came up; ``output`` is what it printed."""
    version = _version(java)
    if version is not None and version < MINIMUM_VERSION:
        return OperationalError(f"Spark needs Java {MINIMUM_VERSION}, but {java} is version {version}. {_REMEDY}")
    if NEEDED_MODULE not in _answer(java, "--list-modules"):
        return OperationalError(f"Spark needs the Java module {NEEDED_MODULE}, which the runtime {java} lacks. {_REMEDY}")
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")
    return OperationalError(
        f"Spark's Java process ({java}) ended before Spark had started; its last words: {last} "
        "Check driver_memory and the PYSPARK_SUBMIT_ARGS and JAVA_TOOL_OPTIONS variables."
    )


def _version(java: Path) -> int | None:
    match = re.search(r'version "(?:1\.)?(\d+)', _answer(java, "-version"))
    return int(match.group(1)) if match else None


def _answer(java: Path, option: str) -> str:
    try:
        run = subprocess.run([str(java), option], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout + run.stderr
