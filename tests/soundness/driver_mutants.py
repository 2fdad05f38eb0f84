"""Steps of the driver, each turned wrong; the attack on the whole driver must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

DRIVER_MUTANTS = (
    Mutant(
        "fresh when one table is",
        "../maintain/step.py",
        "if relation.vector == vector_of(request.tables):",
        "if set(relation.vector.items()) & set(vector_of(request.tables).items()):",
    ),
    Mutant(
        "rows are always contained",
        "../reuse/decide.py",
        "return implied(new.rows + new.keys, old.rows + old.keys, EQUAL)",
        "return True",
    ),
    Mutant(
        "groups are always whole",
        "../reuse/decide.py",
        "return implied(old.rows + new.keys, new.rows, EQUAL)",
        "return True",
    ),
    Mutant(
        "order over parts of groups",
        "../maintain/reuse.py",
        "(asked.limit is not None and not found.has_same_groups)",
        "False",
    ),
    Mutant(
        "order over groups that the block has not",
        "../reuse/states.py",
        "is_exact and implied((*old.rows, *old.keys, *asked), unasked, EQUAL)",
        "is_exact",
    ),
    Mutant(
        "one state for all row conditions",
        "../maintain/identity.py",
        "return _hashed(family_of(request), request.block.where_sql)",
        "return _hashed(family_of(request))",
    ),
    Mutant(
        "row conditions lifted",
        "../plan/blocks.py",
        "identifiers(conjunct) <= keys and",
        "True and",
    ),
    Mutant(
        "NULL left out of the ranges",
        "../rewrite/ranges.py",
        "    if has_null:\n",
        "    if False:\n",
    ),
    Mutant(
        "one case of a list is enough",
        "../reuse/union.py",
        "all(any(implied(case, old, EQUAL) for old in olds) for case in cases)",
        "any(any(implied(case, old, EQUAL) for old in olds) for case in cases)",
    ),
    Mutant(
        "sketch of an older version",
        "../maintain/derive.py",
        "known is not None and known.vector == relation.vector and",
        "known is not None and",
    ),
    Mutant(
        "all other occurrences new",
        "../maintain/changes.py",
        "is_new = number < place or (number == place and other.occurrence < changed.occurrence)",
        "is_new = True",
    ),
    Mutant(
        "changed rows do not find each other",
        "../dataflow/join.py",
        "lambda other, place=place: other < place",
        "lambda other, place=place: False",
    ),
    Mutant(
        "partners looked up while they change too",
        "../circuit/circuit.py",
        "return found if is_new or change is None else found.changed_by(negated(change))",
        "return found",
    ),
    Mutant(
        "deleted rows of a side stay",
        "../dataflow/arrangement.py",
        "weights.append(level.zset.weights[places])",
        "weights.append(np.abs(level.zset.weights[places]))",
    ),
    Mutant(
        "a first partner adds rows without one",
        "../dataflow/semijoin.py",
        "return negated(gained) if self.anti else gained",
        "return gained",
    ),
    Mutant(
        "groups below as they were stay",
        "../dataflow/reduce.py",
        "summed([evaluate(after), negated(evaluate(before))], schema)",
        "summed([evaluate(after)], schema)",
    ),
    Mutant(
        "aggregates of a shared state by their old places",
        "../maintain/prefix.py",
        "return AggregateReference(places[expression.index])",
        "return expression",
    ),
    Mutant(
        "groups that changed are not asked again",
        "../maintain/derive.py",
        "    known.merged.update(touched, retained, cut.fragment[touched])\n",
        "",
    ),
    Mutant(
        "buckets counted with other constants",
        "../buckets/state.py",
        "constants if constants == self.constants else _NOT_COUNTED",
        "constants",
    ),
    Mutant(
        "NULL in the first bucket",
        "../buckets/state.py",
        "np.concatenate(([0], starts, [coarse.null_fragment]))",
        "np.concatenate(([0], starts, [0]))",
    ),
    Mutant(
        "occurrences of the changed table old",
        "../maintain/changes.py",
        "(number == place and other.occurrence < changed.occurrence)",
        "False",
    ),
    Mutant(
        "optional side is linear",
        "../plan/linear.py",
        "            inputs = (plan.left,)\n        case SemiJoin():",
        "            inputs = (plan.left, plan.right)\n        case SemiJoin():",
    ),
    Mutant(
        "left join is inner",
        "../plan/below.py",
        "if plan.kind is JoinKind.INNER:",
        "if plan.kind is not JoinKind.FULL:",
    ),
    Mutant(
        "minimum of a part is at most",
        "../reuse/states.py",
        "(exp.Min, Bound.AT_LEAST)",
        "(exp.Min, Bound.AT_MOST)",
    ),
    Mutant(
        "top-k above a filter that is left out",
        "../plan/blocks.py",
        "case TopK() if is_exact and all(",
        "case TopK() if all(",
    ),
    Mutant(
        "fragments of groups that fail",
        "../sketch/cells.py",
        "mask[fragments[retained[slots]]] = True",
        "mask[fragments[~retained[slots]]] = True",
    ),
    Mutant(
        "second cut is not told of changes",
        "../sketch/cut_groups.py",
        "for name, cut in self._cuts.items()]",
        "for name, cut in list(self._cuts.items())[:1]]",
    ),
    Mutant(
        "all values are distinct",
        "../dataflow/aggregate/distinct.py",
        "exact = from_codes(_COUNT_TYPE, self._distinct[slots], ",
        "exact = from_codes(_COUNT_TYPE, self._missing.counts_at(slots, rows), ",
    ),
    Mutant(
        "rows of the optional side always take NULL away",
        "../dataflow/outer_join.py",
        "alone = negated(concerned.gained())",
        "alone = negated(ZSet(concerned.left.rows, concerned.left.weights * (concerned.has != 0)))",
    ),
    Mutant(
        "unknown is no partner of NOT IN",
        "../plan/render.py",
        "if plan.null_aware else condition",
        "if False else condition",
    ),
    Mutant(
        "groups at hand are of any versions",
        "../state/group_columns.py",
        "newest is not None and newest.vector == vector else None",
        "newest is not None else None",
    ),
    Mutant(
        "columns outlive a step",
        "../state/group_columns.py",
        "if newest is None or newest.vector != vector:",
        "if newest is None:",
    ),
)
