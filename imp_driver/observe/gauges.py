"""What the sketches of a warehouse are at one moment, for its gauges."""

from __future__ import annotations

from collections.abc import Mapping

from imp_driver.maintain.sketches import Sketches


def gauges_of(sketches: Sketches) -> Mapping[str, float]:
    """Return gauges by name; an entry whose state another thread is just changing may be left out."""
    entries = sketches.store.entries()
    return {
        "imp_sketches": sum(entry.state is not None for entry in entries),
        "imp_state_bytes": sum(entry.memory for entry in entries),
        "imp_state_limit_bytes": sketches.store.memory_budget,
        "imp_disabled_templates": sketches.guard.differences,
    }
