"""The seed of the day: the random attacks try other cases each day, and the same ones all day on every machine.

IMP_SEED=20261123 repeats those of a day.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

SEED = int(os.environ.get("IMP_SEED") or datetime.now(UTC).strftime("%Y%m%d"))
