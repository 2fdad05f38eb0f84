"""Window functions: a partition that lies in one fragment is whole or absent; no value may hang on the order of ties (rules 1.9)."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from imp_driver.parse.functions import POSITIONS
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Window
from imp_driver.safety.levels import Derived, Level, Refusal, blocked, closure, fail
from imp_driver.safety.rules.topk import decided_by, has_unique


def derive_window(plan: Window, child: Derived) -> Derived:
    failed = blocked(child, note="a window above a top-k") or _tied(plan, child)
    if failed is not None:
        return failed
    if child.level is Level.FREE:
        return replace(child, note="window")
    if child.level is Level.ALIGNED and all(_is_whole(function.args.get("partition_by") or [], child) for function in plan.functions):
        return replace(child, note="window: every partition lies in one fragment")
    return fail(Refusal.WINDOW_NOT_DETERMINED, "PARTITION BY does not hold the sketched attribute")


def _tied(plan: Window, child: Derived) -> Derived | None:
    """Return the failure of a function that tells tied rows apart; those equal in every column may exchange one number, not several."""
    columns = frozenset(attribute.identifier for attribute in plan.child.output)
    functions = [function for function in plan.functions if _tells_ties_apart(function)]
    for function in functions:
        order = function.args.get("order")
        keys = [item.this for item in order.expressions] if isinstance(order, exp.Order) else []
        decided = decided_by([*(function.args.get("partition_by") or []), *keys], child)
        if not has_unique(decided, child) and not (len(functions) == 1 and columns <= decided):
            return fail(Refusal.ORDER_NOT_TOTAL, f"{function.this.sql(dialect='spark')}: add a unique column at the end of ORDER BY")
    return None


def _tells_ties_apart(function: exp.Window) -> bool:
    """rank() and frames by RANGE give one value to rows that tie; row_number(), lag() and frames by ROWS do not."""
    if isinstance(function.this, POSITIONS):
        return True
    spec = function.args.get("spec")
    if spec is None or str(spec.args.get("kind")).upper() == "RANGE":
        return False
    return not (spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") == "UNBOUNDED")


def _is_whole(partition: list[object], child: Derived) -> bool:
    names = frozenset(name for each in partition if (name := plain_identifier(each)) is not None)  # type: ignore[arg-type]
    return all(closure(determining, child.equal) & (names | child.constant) for determining in child.determined.values())
