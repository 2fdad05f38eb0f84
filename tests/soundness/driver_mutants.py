"""Steps of the driver, each turned wrong; the attack on the whole driver must find every one. Files are relative to the calculus."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

DRIVER_MUTANTS = (
    Mutant(
        "all other occurrences new",
        "../maintain/changes.py",
        "is_new = number < place or (number == place and other.occurrence < changed.occurrence)",
        "is_new = True",
    ),
    Mutant(
        "occurrences of the changed table old",
        "../maintain/changes.py",
        "(number == place and other.occurrence < changed.occurrence)",
        "False",
    ),
    Mutant(
        "fresh when one table is",
        "../maintain/lazy.py",
        "if entry.vector == vector_of(request.tables):",
        "if set(entry.vector.items()) & set(vector_of(request.tables).items()):",
    ),
    Mutant(
        "optional side is linear",
        "../plan/linear.py",
        "            inputs = (plan.left,)\n        case SemiJoin():",
        "            inputs = (plan.left, plan.right)\n        case SemiJoin():",
    ),
    Mutant("left join is inner", "../plan/below.py", "if plan.kind is JoinKind.INNER:", "if plan.kind is not JoinKind.FULL:"),
    Mutant("unknown is no partner of NOT IN", "../plan/render.py", "if plan.null_aware else condition", "if False else condition"),
    Mutant(
        "rows are always contained", "../reuse/decide.py", "return implied(new.rows + new.keys, old.rows + old.keys, EQUAL)", "return True"
    ),
    Mutant("groups are always whole", "../reuse/decide.py", "return implied(old.rows + new.keys, new.rows, EQUAL)", "return True"),
    Mutant("minimum of a part is at most", "../reuse/states.py", "(exp.Min, Bound.AT_LEAST)", "(exp.Min, Bound.AT_MOST)"),
    Mutant("order over parts of groups", "../maintain/reusing.py", "(asked.limit is not None and not found.is_exact)", "False"),
    Mutant(
        "one state for all row conditions",
        "../maintain/sketches.py",
        "return _hashed(_family(request, choice), request.block.where_sql)",
        "return _hashed(_family(request, choice))",
    ),
    Mutant("row conditions lifted", "../plan/blocks.py", "identifiers(conjunct) <= keys and", "True and"),
    Mutant("top-k above a filter that is left out", "../plan/blocks.py", "case TopK() if is_exact and all(", "case TopK() if all("),
    Mutant("NULL left out of the ranges", "../rewrite/ranges.py", "    if has_null:\n", "    if False:\n"),
    Mutant("last group is not kept", "../operators/topk.py", "kept[order[:limit]] = True", "kept[order[: limit - 1]] = True"),
    Mutant("values are never negative", "../maintain/facts.py", "low, high = Decimal(pc.min(lower).as_py()),", "low, high = Decimal(0),"),
    Mutant(
        "relaxed conditions are not left out",
        "partial.py",
        "return frozenset(place for place, each in enumerate(conjuncts) if all(id(each) in own for own in kept)), False",
        "return frozenset(range(len(conjuncts))), False",
    ),
    Mutant(
        "fragments of groups that fail",
        "../operators/aggregate/cells.py",
        "kept = self._cells[retained[self._cells >> _SHIFT]]",
        "kept = self._cells[~retained[self._cells >> _SHIFT]]",
    ),
    Mutant(
        "text that is read twice cut for one reading",
        "../rewrite/use.py",
        "is_whole = len(cuts) == times_read[place] and all(",
        "is_whole = all(",
    ),
)
