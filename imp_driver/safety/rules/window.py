"""Window functions: a partition that lies in one fragment is whole or absent (rules 1.9)."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Window
from imp_driver.safety.levels import Derived, Level, Refusal, blocked, closure, fail


def derive_window(plan: Window, child: Derived) -> Derived:
    failed = blocked(child, note="a window above a top-k")
    if failed is not None:
        return failed
    if child.level is Level.FREE:
        return replace(child, note="window")
    if child.level is Level.ALIGNED and all(_is_whole(function.args.get("partition_by") or [], child) for function in plan.functions):
        return replace(child, note="window: every partition lies in one fragment")
    return fail(Refusal.WINDOW_NOT_DETERMINED, "PARTITION BY does not hold the sketched attribute")


def _is_whole(partition: list[object], child: Derived) -> bool:
    names = frozenset(name for each in partition if (name := plain_identifier(each)) is not None)  # type: ignore[arg-type]
    return all(closure(determining, child.equal) & (names | child.constant) for determining in child.determined.values())
