"""Steps of nested aggregates, each turned wrong; the attack on them must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_RUNS, _CORRELATED, _MERGED = "../answer/nested/runs.py", "../answer/nested/correlated.py", "../answer/nested/merged.py"
_FRAMED, _NESTED, _PRODUCTS = "../dataflow/aggregate/framed.py", "../plan/nested.py", "../plan/products.py"
_BELOW, _ABOVE = 'side="left" if each.kind is exp.LT else "right"', 'side="right" if each.kind is exp.GT else "left"'
NESTED_MUTANTS = (
    # Comparisons.
    Mutant("below takes what is equal", _RUNS, _BELOW, 'side="right"'),
    Mutant("up to leaves out what is equal", _RUNS, _BELOW, 'side="left"'),
    Mutant("above takes what is equal", _RUNS, _ABOVE, 'side="left"'),
    Mutant("from on leaves out what is equal", _RUNS, _ABOVE, 'side="right"'),
    Mutant("sides are exchanged, the comparison is not", _RUNS, "= _MIRRORED[kind], outer, inner", "= kind, outer, inner"),
    Mutant("ranks are turned, the comparison is not", _RUNS, "_Comparison(_MIRRORED[self.kind], inner", "_Comparison(self.kind, inner"),
    Mutant("any order will do", _RUNS, "return each.turned() if np.all(steps <= 0) else None", "return each"),
    # NULL.
    Mutant("groups without a key are below all", _RUNS, "is_there &= each.inner != NULL", "is_there &= True"),
    Mutant("rows without a key ask as well", _RUNS, "is_asked = is_asked & (each.outer != NULL)", "is_asked = is_asked & True"),
    Mutant("who does not ask is answered", _RUNS, "end=np.where(is_asked, end, start)", "end=end"),
    Mutant(
        "HAVING that leaves no row has one",
        _CORRELATED,
        "take(pa.array(places, mask=places < 0))",
        "take(pa.array(np.maximum(places, 0), mask=places < -1))",
    ),
    # Partitions.
    Mutant(
        "equalities are no partition", _RUNS, "numbers = together(numbers, np.concatenate((each.inner, each.outer)))", "numbers = numbers"
    ),
    Mutant("extremes from the first on run on", _FRAMED, "runs.partition_start * count", "runs.partition_start * 0"),
    # Aggregates.
    Mutant(
        "contributions below zero are added",
        _FRAMED,
        "np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))",
        "np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.abs(values))))",
    ),
    Mutant("extremes of nothing", _FRAMED, "none = empty | (best <= 0)", "none = best <= 0"),
    # Levels.
    Mutant("what is decided above groups is not", _NESTED, "decided = Filter(groups, above) if above else groups", "decided = groups"),
    Mutant(
        "a filter of the groups alone is forgotten",
        _CORRELATED,
        "rows = self.filtered(inner.rows, alone) if alone else inner.rows",
        "rows = inner.rows",
    ),
    # Products.
    Mutant(
        "NULL of one table counts as a partner",
        _PRODUCTS,
        "each.asked(exp.Count(this=terms[place].copy())) if place in terms else each.rows for place, each",
        "each.rows for place, each",
    ),
    Mutant("what is taken away is added", _PRODUCTS, "exp.Neg(this=product) if signs[place] < 0 else product", "product"),
    Mutant("counts without partners", _PRODUCTS, "product_of([side.asked(function), *others])", "product_of([side.asked(function)])"),
    Mutant(
        "extremes without partners",
        _PRODUCTS,
        "return _where_all_are_positive(others, side.asked(function))",
        "return side.asked(function)",
    ),
    Mutant("groups whose partners are gone", _PRODUCTS, "    if plan.keys:\n", "    if False:\n"),
)
