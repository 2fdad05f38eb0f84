"""GROUPING SETS, ROLLUP and CUBE: groups by each of several sets of keys, one below the other.

Each set has an aggregation of its own over the same rows, so all of them follow from the groups by all keys. As Spark expands rows first
(ResolveGroupingAnalytics), no rows have no groups, not even by the empty set, and a set that is written twice has its groups twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations, product
from typing import TypeAlias

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, reference
from imp_driver.plan.context import Context
from imp_driver.plan.grouping import SET_FUNCTIONS, Grouped, aggregation, functions_in, kinds_of, text_of
from imp_driver.plan.nodes import Attribute, Plan, Project, UnionAll
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused

MOST_SETS = 64
"""Beyond these Spark is left to it: every set is read from the groups by itself."""
_ANALYTICS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_Keys: TypeAlias = tuple[exp.Expr, ...]


def written_sets(group: exp.Group) -> tuple[_Keys, ...] | None:
    """Return the sets of keys that GROUP BY names, as they are written; None where it names keys alone.

    Raises Refused for a mixture that no rule covers.
    """
    after = [each for name in ("rollup", "cube", "grouping_sets") for each in group.args.get(name) or ()]
    if not after and not any(isinstance(each, _ANALYTICS) for each in group.expressions):
        return None
    if after:
        if len(after) > 1 or any(isinstance(each, (*_ANALYTICS, exp.Tuple)) for each in group.expressions):
            raise Refused(Reason.GROUPING_SETS, "several of them after the keys")
        # GROUP BY a, b WITH ROLLUP; GROUP BY a, b GROUPING SETS (..)
        only = after[0]
        sets = _sets(only if only.expressions else type(only)(expressions=list(group.expressions)))
    else:
        if any(isinstance(each, exp.Tuple) for each in group.expressions):
            raise Refused(Reason.GROUPING_SETS, "beside a struct")
        sets = [tuple(key for part in parts for key in part) for parts in product(*map(_sets, group.expressions))]
    if len(sets) > MOST_SETS:
        raise Refused(Reason.GROUPING_SETS, f"{len(sets)} sets of keys")
    return tuple(sets)


def _sets(item: exp.Expr) -> list[_Keys]:
    match item:
        case exp.GroupingSets():
            found = [keys for each in item.expressions for keys in _sets(each)]
        case exp.Rollup():
            parts = list(map(_elements, item.expressions))
            found = [_joined(parts[:count]) for count in range(len(parts), -1, -1)]
        case exp.Cube():
            parts = list(map(_elements, item.expressions))
            found = [_joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]
        case _:
            found = [_elements(item)]
    return found[: MOST_SETS + 1]


def _elements(item: exp.Expr) -> _Keys:
    inner = item.unnest()
    return tuple(inner.expressions) if isinstance(inner, exp.Tuple) else (inner,)


def _joined(parts: Sequence[_Keys]) -> _Keys:
    return tuple(key for part in parts for key in part)


def keys_of(group: exp.Group, sets: Sequence[_Keys]) -> _Keys:
    """Return every key in the order in which grouping_id() counts them: as they stand before the sets, or else as these have them."""
    before = () if any(isinstance(each, _ANALYTICS) for each in group.expressions) else tuple(group.expressions)
    return before or _joined(sets)


def grouped_by_sets(child: Plan, keys: _Keys, sets: Sequence[_Keys], expressions: Sequence[exp.Expr], context: Context) -> Grouped:
    """Make the aggregations that serve all ``expressions``, which are over the source, as are the keys.

    Raises Refused: a function asks for the set of a group in a way that has no answer.
    """
    every = {text_of(key): key for key in keys}
    if not every or not all(map(identifiers, every.values())):
        # Spark reads sets without any key as no GROUP BY, and a constant key as NULL wherever its text stands.
        raise Refused(Reason.GROUPING_SETS, "without a key, or with a constant one")
    functions = functions_in(expressions)
    questions = {text_of(each): each for expression in expressions for each in expression.find_all(*SET_FUNCTIONS)}
    branches = []
    for own in ({text_of(key): key for key in each} for each in sets):
        # Under a constant key no rows have no group.
        plan = aggregation(child, tuple(own.values()) or (exp.true(),), functions, context)
        found = {text: reference(attribute) for text, attribute in zip(own, plan.key_attributes, strict=bool(own))}
        values = (
            *(found.get(text, exp.Null()) for text in every),
            *map(reference, plan.function_attributes),
            *(_told(each, tuple(every), own.keys()) for each in questions.values()),
        )
        branches.append(Project(plan, tuple(context.computed("", value, plan.output) for value in values), values))
    output = tuple(_united(each, context) for each in zip(*(branch.output for branch in branches), strict=True))
    names = (*every, *map(text_of, functions), *questions)
    kinds = kinds_of((*every.values(), *functions, *questions.values()))
    return Grouped(UnionAll(tuple(branches), output), dict(zip(names, output, strict=True)), output[: len(every)], kinds)


def _told(question: exp.Expr, every: Sequence[str], own: Collection[str]) -> exp.Expr:
    """Return what grouping(key) or grouping_id() is for groups by some of the keys: a bit for each, set where the key is left out."""
    asked = [text_of(each) for each in question.expressions or filter(None, [question.this])]
    if isinstance(question, exp.Grouping):
        if len(asked) != 1 or asked[0] not in every:
            raise Refused(Reason.GROUPING_SETS, f"{text_of(question)}, which is no key")
        return exp.cast(exp.Literal.number(int(asked[0] not in own)), exp.DType.TINYINT)
    if asked and asked != list(every):
        raise Refused(Reason.GROUPING_SETS, "grouping_id of other keys")
    number = sum((text not in own) << place for place, text in enumerate(reversed(every)))
    return exp.cast(exp.Literal.number(number), exp.DType.BIGINT)


def _united(branches: Sequence[Attribute], context: Context) -> Attribute:
    """Return the column that stands for those of all branches, of which some are NULL."""
    known = next((each for each in branches if each.type_name is not None or each.kind is not None), branches[0])
    return context.attribute(known.name, known.type_name, kind=known.kind)
