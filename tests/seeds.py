"""Which random cases are tried, and whether many are.

By the seed of the day the attacks without a JVM try other cases each day, and the same ones all day on every machine; IMP_SEED=20261123
repeats those of a day. IMP_WIDE=1 tries the full numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar

_ASKED = os.environ.get("IMP_SEED") or datetime.now(UTC).strftime("%Y%m%d")
if not _ASKED.isdecimal():
    raise SystemExit(f"IMP_SEED must be a number such as 20261123, not {_ASKED!r}.")
SEED = int(_ASKED)
WIDE = os.environ.get("IMP_WIDE") == "1"
_T = TypeVar("_T")


def of_today(every: Iterable[_T], share: int = 2) -> list[_T]:
    """Return one in ``share`` of some kinds of tables or settings, others each day; in a wide run all."""
    return [each for place, each in enumerate(every) if WIDE or (place + SEED) % share == 0]
