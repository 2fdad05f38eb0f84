"""Steps of nested aggregates, each turned wrong; the attack on them must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_RUNS, _CORRELATED, _MERGED = "../answer/nested/runs.py", "../answer/nested/correlated.py", "../answer/nested/merged.py"
_FRAMED, _NESTED, _PRODUCTS = "../dataflow/aggregate/framed.py", "../plan/nested.py", "../plan/products.py"
_DESCRIBED, _FOLLOWED, _LINEAR = "../answer/nested/described.py", "../answer/nested/followed.py", "../answer/nested/linear.py"
_CONDITIONS, _SIDES, _RANGES = "../dataflow/nested/conditions.py", "../dataflow/nested/sides.py", "../dataflow/nested/key_ranges.py"
_CELLS, _MASKS, _CHANGES = "../dataflow/nested/cells.py", "../dataflow/nested/masks.py", "../answer/nested/exact_columns.py"
_DECIDED = "../answer/nested/decided.py"
_SLICES, _SLICED, _TOGETHER = "../plan/slices.py", "../answer/nested/sliced.py", "../answer/nested/together.py"
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
    # Merges that are followed.
    Mutant("partitions of inner rows are those of the row around", _DESCRIBED, "if level.partition is not None and (", "if False and ("),
    Mutant("the outermost row is the one between", _DESCRIBED, "is_outermost=True", "is_outermost=False"),
    Mutant(
        "sides of a correlation are exchanged, its comparison is not",
        _DESCRIBED,
        "inner, outer, comparison = outer, inner, comparison.mirrored",
        "inner, outer, comparison = outer, inner, comparison",
    ),
    Mutant("factors of subqueries are left out", _DESCRIBED, "factor=inner.factor * found.factor", "factor=inner.factor"),
    Mutant("COALESCE is forgotten", _LINEAR, "found.kind, True)", "found.kind, False)"),
    Mutant(
        "other constants have the same merge",
        _FOLLOWED,
        "key = signature(merge), self._settings,",
        "key = tuple(each.identifier for each in merge.output), self._settings,",
    ),
    Mutant("a whole that has changed is as it was", _FOLLOWED, "one.equals(other)", "True"),
    Mutant(
        "counts of no rows are nothing", _FOLLOWED, "values = [each or 0 for each in values]", "values = [each or None for each in values]"
    ),
    Mutant("rows that have changed stay beside the new ones", _CHANGES, "is_gone[before[~differs]] = False", "is_gone[before] = False"),
    Mutant("the last condition decides", _CONDITIONS, "found = found.meeting(keys)", "found = keys"),
    Mutant(
        "what is equal differs",
        _RANGES,
        "        if other.is_nothing:\n            return self\n",
        "        if other is not None:\n            return self\n",
    ),
    Mutant("levels without rows are 0 and not NULL", _SIDES, "return found.meeting(self.not_null(states, window))", "return found"),
    Mutant(
        "levels that have nothing are at most something",
        _SIDES,
        "return _others(above).meeting(self.not_null(states, window))",
        "return _others(above)",
    ),
    Mutant("groups without a key pass by any condition", _CELLS, "self.has_null and all(", "self.has_null and any("),
    Mutant(
        "what lies between two boundaries is not added",
        _CELLS,
        "return list(map(operator.add, self.passed, self.rows.between(new.low, old.low)))",
        "return list(self.passed)",
    ),
    Mutant("masks take NULL for 0", _MASKS, "holds & ~np.broadcast_to(", "holds | False & np.broadcast_to("),
    # Groups in buckets, range by range.
    Mutant("what lies below a range is forgotten", _SLICED, "(below, next(", "([], next("),
    Mutant("what lies above a range is forgotten", _SLICED, "(above, next(", "([], next("),
    Mutant(
        "every comparison is an equality", _SLICES, "isinstance(each.unnest(), exp.EQ) for each in compared", "True for each in compared"
    ),
    Mutant("a key may be read otherwise", _SLICES, "and not _is_read(own, inner, compared)", "and True"),
    Mutant("what others have become is not looked at", _SLICED, "part.view.name_of_all if self._needs[name] else None", "None"),
    Mutant("groups in memory are looked at once", _SLICED, '"range", self._name, whole, own, number', '"range", self._name, own, number'),
    Mutant(
        "groups in memory belong to every range",
        _SLICED,
        "self._ranges.locate(self._key(rows)) == number",
        "self._ranges.locate(self._key(rows)) >= 0",
    ),
    Mutant("rows that FILTER leaves out count", _TOGETHER, "passed = passing_places(rows, function)", "passed = np.arange(rows.num_rows)"),
    Mutant(
        "a bucket stays as it was",
        "../buckets/state.py",
        "self.changed[numbers] = version",
        "self.changed[numbers] = self.changed[numbers]",
    ),
    Mutant("a range with contributions below zero is decided", _DECIDED, "argument(tuple(blocks[number].minima)) < 0", "False"),
    Mutant("a range with nothing before it is decided", _DECIDED, "if not is_never_null or", "if"),
    Mutant("sums from above are those from below", _DECIDED, "blocks[:number] if from_below else blocks[number + 1 :]", "blocks[:number]"),
    Mutant("one end of a range decides", _DECIDED, "return min(ends), max(ends)", "return min(ends), min(ends)"),
    Mutant("what differs at both ends differs in between", _DECIDED, "not (is_ordered or is_apart or", "not (True or"),
    Mutant(
        "ranges of which none passes are taken whole",
        _SLICED,
        "decisions.all_pass(number) else block.nothing",
        "decisions.all_pass(number) else block.passing",
    ),
)
