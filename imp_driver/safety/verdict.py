"""The root theorem: what the calculus proves of a whole query, and its derivation as text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imp_driver.plan.nodes import Aggregate, Plan
from imp_driver.safety.derive import Step, derive
from imp_driver.safety.levels import Level, Needs, Refusal
from imp_driver.safety.setting import Setting

_IDENTIFIER = re.compile(r"`([^`]*)#t?\d+`")
_MARKER = re.compile(r":(__imp|imp_constant)_\w+")


def readable(text: str) -> str:
    """Write the attributes in a text as people know them, and markers as what they are."""
    return _MARKER.sub("?", _IDENTIFIER.sub(r"\1", text))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What is proven of a cut, operator by operator, for sketches that hold the provenance of the whole answer.

    A sketch of group keys alone, which may hold less, stands on ``KeyCuts``.
    """

    step: Step

    @property
    def refusal(self) -> Refusal | None:
        """None when the cut is safe."""
        derived = self.step.derived
        return (derived.refusal or Refusal.GROUP_NOT_DETERMINED) if derived.level is Level.FAIL else None

    @property
    def needs(self) -> Needs:
        """What the sketch must cover, and what must be checked."""
        return self.step.derived.needs

    @property
    def is_safe(self) -> bool:
        return self.refusal is None

    def has_whole_groups(self, index: int) -> bool:
        """Say whether the key of that index alone decides of each group of a block whether it is whole or absent."""
        step = self.step
        while not isinstance(step.plan, Aggregate):
            step = step.inputs[0]
        key = step.plan.key_attributes[index].identifier
        derived = step.derived
        return derived.level is Level.ALIGNED and all(key in names for names in derived.determined.values())

    @property
    def derivation(self) -> tuple[str, ...]:
        """Return one line per operator, the root first, with the names that people know."""
        return tuple(readable(line) for line in _lines(self.step, 0, is_pinned=False))


def judge(plan: Plan, setting: Setting) -> Verdict:
    """Say whether a query has the same rows on every superset of its accurate sketch.

    Root theorem (sketch-safety rules 1.3): every row of the answer has its provenance in S, so it maps to itself; the map is injective
    into a finite bag, so nothing else is left. A barrier at the root covers its own provenance.
    """
    return Verdict(derive(plan, setting))


def _lines(step: Step, depth: int, *, is_pinned: bool) -> list[str]:
    pin = ", pinned: the sketch covers all its rows" if is_pinned else ""
    lines = [f"{'  ' * depth}{step.derived.level.name} {step.derived.note}{pin}"]
    for place, child in enumerate(step.inputs):
        lines += _lines(child, depth + 1, is_pinned=place in step.pinned)
    return lines
