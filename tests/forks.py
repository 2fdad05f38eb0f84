"""Processes forked from one that has imported everything already, which takes longer than many of them live.

The one that forks must not have used a library that starts threads, since they would be missing in the others.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterable
from importlib import import_module

AT_ONCE = 2
PATIENT = 300
"""Seconds after which a process that has not ended is ended by an alarm."""
IMPORTED_LATE = ("pyarrow.dataset", "sqlglot.dialects.duckdb")
"""What each process would import again, when it needs it."""


def run_forked(lives: Iterable[Callable[[], None]]) -> list[int]:
    """Run each in a process of its own, a few at a time; return their exit codes: 1 after an exception, negative after a signal."""
    for module in IMPORTED_LATE:
        import_module(module)
    codes: list[int] = []
    living: dict[int, int] = {}

    def wait_for_one() -> None:
        child, status = os.wait()
        codes[living.pop(child)] = os.waitstatus_to_exitcode(status)

    for life in lives:
        if len(living) == AT_ONCE:
            wait_for_one()
        living[_forked(life)] = len(codes)
        codes.append(0)
    while living:
        wait_for_one()
    return codes


def _forked(life: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(PATIENT)
        life()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Whatever else the first process has to do at its end is not done here too.
        os._exit(code)
