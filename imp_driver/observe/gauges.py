"""What the sketches of a warehouse are at one moment, for its gauges."""

from __future__ import annotations

from collections.abc import Mapping

from imp_driver.maintain.sketches import Sketches


def gauges_of(sketches: Sketches) -> Mapping[str, float]:
    """Return gauges by name; a relation that another thread is just changing may be left out."""
    registry = sketches.registry
    return {
        "imp_sketches": sum(relation.state is not None for relation in registry.relations()),
        "imp_state_bytes": registry.total,
        "imp_state_limit_bytes": registry.memory_budget,
        "imp_disabled_templates": sketches.guard.differences,
    }
