"""Merges that are asked for again and again, followed from one reading to the next: a change costs a descent, not all groups.

Between two readings the tables of groups differ in few rows; these alone go into sorted sums (dataflow/nested).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.answer.nested.described import COUNTS, Described, Describer
from imp_driver.answer.nested.exact_columns import NotDescribed, Numbers, Tokens
from imp_driver.answer.nested.partial import Partials
from imp_driver.answer.rounding import renamed
from imp_driver.dataflow.nested.maintained import Maintained, maintained
from imp_driver.dataflow.nested.masks import TooManyPairsError
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nested import decided_by
from imp_driver.plan.nodes import Aggregate, Merge, Plan, children
from imp_driver.plan.signature import signature
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.codes import Codec

LEAST_GROUPS = 4_000
"""Fewer finer groups are evaluated at each reading in less time than their changes take to be found."""
MOST_TOGETHER = 4_000_000
"""Rows of groups of all merges of a warehouse that are followed."""


class FollowedMerge:
    """One merge. Several threads may read it, at whatever versions of its tables."""

    def __init__(self) -> None:
        self.tokens = (Tokens(), Tokens())
        self._lock = threading.Lock()
        self._maintained: Maintained | None = None
        self._rows: dict[str, Numbers] = {}
        self._source: Sequence[object] = ()
        self._results: Mapping[object, tuple[object, ...]] = {}

    @property
    def is_followed(self) -> bool:
        return self._maintained is not None

    @property
    def count(self) -> int:
        """Rows of groups."""
        return sum(len(each.names) for each in self._rows.values())

    def results(
        self, merge: Merge, source: Sequence[object], describer: Callable[[tuple[Tokens, Tokens]], Describer]
    ) -> Mapping[object, tuple[object, ...]]:
        """Return the sums of each group. Raises NotDescribed, NotEvaluable.

        Args:
            source: what all groups of it are read from; of the same things the results are the same. Nothing where that is not known.
        """
        with self._lock:
            if source and _are_same(source, self._source):
                return self._results
            described = describer(self.tokens).described(merge)
            try:
                self._results, self._source = self._followed(described), source
                return self._results
            except Exception:
                # Half of a change would stay.
                self._maintained, self._rows, self._source = None, {}, ()
                raise

    def _followed(self, described: Described) -> Mapping[object, tuple[object, ...]]:
        if self._maintained is None:
            try:
                self._maintained = maintained(described.selection)
            except ValueError as error:
                raise NotDescribed(str(error)) from error
        new = {name: relation.rows() for name, relation in described.relations.items()}
        changes = {name: self._rows.get(name, Numbers.none(len(rows.values))).changes_to(rows) for name, rows in new.items()}
        try:
            self._maintained.apply(changes)
            self._rows = new
            return self._maintained.results()
        except TooManyPairsError as error:
            raise NotDescribed(str(error)) from error


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluated:
    """A merge that was asked for once, or that is not followed: its groups, what they were read from, and how many finer ones these are."""

    merge: Merge
    source: Sequence[object]
    rows: pa.Table
    count: int
    is_hopeless: bool

    def named(self, merge: Merge) -> pa.Table:
        """Return the groups for another plan of the same rows, whose attributes may have other names."""
        pairs = zip(self.merge.output, merge.output, strict=True)
        return renamed(self.rows, {one.identifier: other.identifier for one, other in pairs})


class FollowedMerges:
    """The merges of queries under the same settings; ``known`` has those of a warehouse."""

    def __init__(self, known: BoundedCache[Hashable, object] | None = None, settings: Hashable = None) -> None:
        self._known = known
        self._settings = settings

    def rows(self, merge: Merge, rows_of: Callable[[Plan], pa.Table], partials: Partials, evaluated: Callable[[], pa.Table]) -> pa.Table:
        """Return the groups of a merge, which ``evaluated`` computes from all finer groups. Raises NotEvaluable."""
        finer = decided_by(merge).rows
        assert isinstance(finer, Aggregate)
        # What is computed from other groups has no numbers that last, and would be computed once more.
        if self._known is None or finer.name not in partials:
            return evaluated()
        # Columns of the same name may have other types once a table was replaced, and sums other digits.
        key = signature(merge), self._settings, tuple(_kinds(merge, rows_of, partials))
        source = _source(merge, rows_of, partials)
        known, count = self._known.get(key), rows_of(finer).num_rows
        is_hopeless = False
        if isinstance(known, _Evaluated):
            if source and _are_same(source, known.source):
                return known.named(merge)
            is_hopeless = known.is_hopeless
            known = None if is_hopeless or count < LEAST_GROUPS else FollowedMerge()
        if isinstance(known, FollowedMerge):
            try:
                found = known.results(merge, source, lambda tokens: Describer(rows_of, partials, tokens))
            except NotDescribed:
                is_hopeless = True
            else:
                self._keep(key, known)
                return _table(merge, found, known.tokens[0], rows_of(finer), partials)
        rows = evaluated()
        self._keep(key, _Evaluated(merge, source, rows, count, is_hopeless))
        return rows

    def _keep(self, key: Hashable, merge: FollowedMerge | _Evaluated) -> None:
        assert self._known is not None
        self._known[key] = merge
        self._known.trim(lambda each: each.count if isinstance(each, (FollowedMerge, _Evaluated)) else 0, MOST_TOGETHER)


def _source(plan: Plan, rows_of: Callable[[Plan], pa.Table], partials: Partials) -> Sequence[object]:
    """Return what the groups below a merge hold, the same objects while these stand for the same versions, and rows where it is one.

    Nothing where that is not known.
    """
    if not isinstance(plan, Aggregate):
        found = [_source(child, rows_of, partials) for child in children(plan)]
        return [part for each in found for part in each] if all(found) else ()
    held = [partials[each.identifier].held for each in plan.function_attributes if each.identifier in partials]
    if held or plan.keys or plan.is_finer:
        return held
    return [rows_of(plan)]


def _kinds(plan: Plan, rows_of: Callable[[Plan], pa.Table], partials: Partials) -> list[pa.DataType]:
    """Return the types of the groups below a merge."""
    if not isinstance(plan, Aggregate):
        return [kind for child in children(plan) for kind in _kinds(child, rows_of, partials)]
    is_read = plan.name in partials or not (plan.keys or plan.is_finer)
    return list(rows_of(plan).schema.types) if is_read else []


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(one is other or (isinstance(one, pa.Table) and isinstance(other, pa.Table) and one.equals(other)) for one, other in pairs)


def _table(merge: Merge, found: Mapping[object, tuple[object, ...]], tokens: Tokens, finer: pa.Table, partials: Partials) -> pa.Table:
    """Return results as rows, in Spark's types."""
    groups = list(found)
    columns = {}
    for attribute, key in zip(merge.key_attributes, merge.keys, strict=True):
        kind = finer.schema.field(plain_identifier(key)).type
        columns[attribute.identifier] = pa.array([None if each is None else tokens.values[int(str(each))] for each in groups], kind)
    for place, (attribute, function) in enumerate(zip(merge.function_attributes, merge.functions, strict=True)):
        name = plain_identifier(function)
        assert name is not None
        kind, values = finer.schema.field(name).type, [found[each][place] for each in groups]
        if partials[name].specification.kind in COUNTS:
            values = [each or 0 for each in values]
        columns[attribute.identifier] = _array(values, kind)
    return pa.table(columns)


def _array(values: list[object], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_decimal(kind):
        return pa.array(values, kind)
    nulls = np.array([each is None for each in values], dtype=bool)
    codes = np.array([each or 0 for each in values], dtype=object)
    return Codec(kind).decode(codes, nulls)
