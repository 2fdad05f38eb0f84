"""A query -> which of its columns tell its rows apart: those that it groups by."""

from __future__ import annotations

from sqlglot import exp


def result_keys(tree: exp.Expr | None) -> tuple[int, ...]:
    """Return the places of columns of which no two rows have the same values; empty where none are known to be such."""
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    if not isinstance(tree, exp.Select) or group is None or any(value for name, value in group.args.items() if name != "expressions"):
        return ()
    if any(each.is_star for each in tree.selects) or any(isinstance(each, exp.Func) and each.key in _SETS for each in group.expressions):
        return ()
    places = [_place(tree, key) for key in group.expressions]
    return () if None in places else tuple(place for place in places if place is not None)


_SETS = ("cube", "rollup", "groupingsets")


def _place(tree: exp.Select, key: exp.Expr) -> int | None:
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.this) - 1
        return place if 0 <= place < len(tree.selects) else None
    return next((place for place, each in enumerate(tree.selects) if each.unalias() == key), None)
