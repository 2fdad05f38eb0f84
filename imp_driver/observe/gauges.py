"""What the sketches of a warehouse are at one moment, for its gauges."""

from __future__ import annotations

from collections.abc import Mapping

from imp_driver.maintain.sketches import Sketches


def gauges_of(sketches: Sketches) -> Mapping[str, float]:
    """Return gauges by name; an entry whose state another thread is just changing may be left out."""
    with_state = [entry for entry in sketches.store.entries() if entry.state is not None]
    return {
        "imp_sketches": len(with_state),
        "imp_state_bytes": sum(entry.memory for entry in with_state),
        "imp_state_limit_bytes": sketches.store.memory_budget,
        "imp_disabled_templates": sketches.guard.differences,
    }
