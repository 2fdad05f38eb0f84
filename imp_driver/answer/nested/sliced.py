"""Merges of groups that are in buckets: computed from one range of a key at a time, beside the sums of all others, and put together.

Source: RPAI paper, section 2.2: of groups beyond those that it looks at, a subquery needs the sums. One bucket is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import pyarrow as pa

from imp_driver.answer.finish import Finish
from imp_driver.answer.nested.decided import Block, Decisions, Undecided, block_of
from imp_driver.answer.nested.described import Describer
from imp_driver.answer.nested.exact_columns import NotDescribed, Tokens, single
from imp_driver.answer.nested.in_buckets import InBuckets
from imp_driver.answer.nested.partial import Partial
from imp_driver.answer.nested.together import RangeResult, put_together, range_result
from imp_driver.answer.summary import Groups
from imp_driver.buckets.sums import Columns, NotAdditive, added_up, check_additive, extremes_of, together, with_key
from imp_driver.buckets.view import BucketView
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nested import decided_by
from imp_driver.plan.nodes import Aggregate, Plan, every
from imp_driver.plan.signature import signature
from imp_driver.plan.slices import Slicing, slicings
from imp_driver.reasons import Reason
from imp_driver.snapshot.vector import vector_of
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.codes import one_array
from imp_driver.values.ranges import RangePartition
from imp_driver.values.refusal import Refused

MOST_BYTES = 64 << 20
"""Of what is kept of ranges that have not changed: their sums, and what merges made of them."""
MOST_SUMS = 50_000
"""Groups that the sums of all ranges may be: each range is evaluated beside them."""


def sliced_merges(
    plan: Plan, parts: Mapping[str, Groups], settings: Hashable, known: BoundedCache[Hashable, object]
) -> dict[str, pa.Table]:
    """Return the rows of the merges of groups in buckets, by the identifiers of their ``copies``.

    Args:
        parts: by the names of the aggregations of the plan.
        known: what was computed of ranges before.

    Raises:
        Refused: they are not computed so.
        Error, StateCorrupt, StoreDamaged: the buckets cannot be read.
    """
    bucketed = {name for name, each in parts.items() if each.in_buckets is not None}
    found = {}
    for slicing in slicings(plan):
        names = {each.name for each in every(slicing.merge) if isinstance(each, Aggregate)}
        if names & bucketed:
            own = {name: each for name, each in parts.items() if name in names}
            try:
                found[slicing.name] = _Sliced(slicing, own, settings, known).rows()
            except (NotAdditive, NotEvaluable) as error:
                raise _refused(str(error)) from error
            bucketed -= names
    if bucketed:
        raise _refused("the query compares ranges of them with one another")
    known.trim(_weight, MOST_BYTES)
    return found


def _refused(why: str) -> Refused:
    return Refused(Reason.LEFT_TO_SPARK, f"the groups are in buckets: {why}")


def _weight(value: object) -> int:
    if isinstance(value, (Block, RangeResult)):
        return value.memory
    return sum(int(each.nbytes) for each in value.sums.values()) if isinstance(value, _Sums) else 0


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What the groups of one range add up to, with the least and the greatest key among them."""

    sums: Columns
    least: pa.Scalar
    greatest: pa.Scalar


class _Sliced:
    """One merge; ``parts`` are the groups that it reads, by their names."""

    def __init__(self, slicing: Slicing, parts: Mapping[str, Groups], settings: Hashable, known: BoundedCache[Hashable, object]) -> None:
        self._slicing = slicing
        self._bucketed = {name: each.in_buckets for name, each in parts.items() if each.in_buckets is not None}
        self._whole = {name: each for name, each in parts.items() if each.in_buckets is None}
        self._name = signature(slicing.merge), settings
        self._known = known
        self._last: tuple[Hashable, Columns] = None, {}
        self._needs = {name: self._needs_others(name, each) for name, each in self._bucketed.items()}
        self._ranges = self._one_partition()

    def rows(self) -> pa.Table:
        """Raises NotAdditive, NotEvaluable, Refused, Error, StateCorrupt, StoreDamaged."""
        return put_together(self._slicing.merge, list(self._results()))

    def _results(self) -> Iterator[RangeResult]:
        whole = tuple(_name_of(each) for each in self._whole.values())
        for number in range(self._ranges.fragments):
            own = tuple(self._name_at(name, each, number) for name, each in self._bucketed.items())
            # Which rows of groups in memory belong to a range follows from its number.
            name = "range", self._name, whole, own, number
            known = self._known.get(name)
            if not isinstance(known, RangeResult):
                known = self._known[name] = self._decided(number) or self._result(number)
            yield known

    def _decided(self, number: int) -> RangeResult | None:
        """Return the groups of a range as the sums of all ranges say; None where it is to be read. What is NULL is in no range."""
        decisions = self._decisions
        if decisions is None or number == self._ranges.null_fragment:
            return None
        try:
            block = decisions.blocks[number]
            return block.passing if decisions.all_pass(number) else block.nothing
        except Undecided:
            return None

    @cached_property
    def _decisions(self) -> Decisions | None:
        """Return what decides about ranges without reading them; None where they need no other, or conditions are not compared so."""
        correlated = frozenset(name for name, needs in self._needs.items() if needs)
        if not correlated:
            return None
        blocks = []
        for number in range(self._ranges.null_fragment):
            block = self._block(number)
            if block is None:
                return None
            blocks.append(block)
        return Decisions(blocks, correlated, cache(self._fixed))

    def _block(self, number: int) -> Block | None:
        names = tuple(part.view.name(number) for part in self._bucketed.values())
        is_whole = self._slicing.outer.name in self._whole
        name = "block", self._name, names, tuple(_name_of(each) for each in self._whole.values()) if is_whole else ()
        if name not in self._known:
            self._known[name] = self._made_block(number)
        known = self._known.get(name)
        return known if isinstance(known, Block) else None

    def _made_block(self, number: int) -> Block | None:
        merge, (rows, partials) = self._slicing.merge, self._read(number, {})
        outer = rows[self._slicing.outer.name]
        if not {each for node in (*merge.keys, *merge.functions) for each in identifiers(node)} <= set(outer.column_names):
            return None
        passing, nothing = (range_result(merge, each, partials) for each in (outer, outer.slice(0, 0)))
        return block_of(merge, Describer(Finish(rows, partials=partials).rows, partials, (Tokens(), Tokens())), passing, nothing)

    def _fixed(self, name: str) -> int | None:
        """Return the value of a subquery that reads no row around it, as a whole number. Raises Undecided."""
        scalar = decided_by(self._slicing.merge).scalars.get(name)
        if scalar is None:
            raise Undecided
        rows = {each: groups.rows for each, groups in self._whole.items()}
        partials = {identifier: each for groups in self._whole.values() for identifier, each in groups.partials.items()}
        try:
            relation = single(Finish(rows, partials=partials).rows(scalar.subquery).column(0))
            relation.add_numbers(one_array(relation.table.column(0)))
        except (NotDescribed, NotEvaluable) as error:
            raise Undecided from error
        numbers = relation.rows()
        return None if not len(numbers.names) or numbers.nulls[0, 0] else int(numbers.values[0, 0])

    def _name_at(self, name: str, part: InBuckets, number: int) -> Hashable:
        return part.found, part.view.name(number), part.view.name_of_all if self._needs[name] else None

    def _result(self, number: int) -> RangeResult:
        merge, (rows, partials) = self._slicing.merge, self._read(number, self._needs)
        return range_result(merge, Finish(rows, partials=partials).rows(merge.child), partials)

    def _read(self, number: int, needs: Mapping[str, bool]) -> tuple[dict[str, pa.Table], dict[str, Partial]]:
        """Return the groups of a range, by the names of aggregations, beside the sums of others for those that ``needs`` says so of."""
        rows: dict[str, pa.Table] = {}
        partials: dict[str, Partial] = {}
        for name, part in self._bucketed.items():
            columns = self._with_others(part.view, number) if needs.get(name) else self._columns(part.view, number)
            rows[name], own = part.read(columns)
            partials.update(own)
        for name, groups in self._whole.items():
            rows[name] = groups.rows if name != self._slicing.outer.name else self._in_range(groups.rows, number)
            partials.update(groups.partials)
        return rows, partials

    def _in_range(self, rows: pa.Table, number: int) -> pa.Table:
        """Return those of the merged groups, which are in memory, that lie in a range."""
        return rows.filter(pa.array(self._ranges.locate(self._key(rows)) == number))

    def _key(self, rows: pa.Table) -> pa.Array:
        key = one_array(rows.column(self._slicing.outer.key_attributes[self._slicing.key].identifier))
        kind = next(iter(self._bucketed.values())).view.coarse.type
        # Integers of other widths compare as they are.
        return key.cast(pa.int64()) if pa.types.is_signed_integer(key.type) and pa.types.is_int64(kind) else key

    def _with_others(self, view: BucketView, number: int) -> Columns:
        """Return the groups of a range, and the sums of the ranges below and above with a key of theirs; nothing meets those of NULL."""
        key, null = view.kernel.sketch_key, self._ranges.null_fragment
        own, sums = self._columns(view, number), [self._sums(view, each) for each in range(null)]
        below, above = sums[:number], sums[number + 1 :]
        found = [
            with_key(added_up([each.sums for each in some], key), key, value, own)
            for some, value in (
                (below, next((each.greatest for each in reversed(below) if each.greatest.is_valid), None)),
                (above, next((each.least for each in above if each.least.is_valid), None)),
            )
            if value is not None
        ]
        if sum(len(each["rows"]) for each in found) > MOST_SUMS:
            raise NotAdditive(f"their sums are more than {MOST_SUMS} groups by the other keys")
        return together([own, *found])

    def _sums(self, view: BucketView, number: int) -> _Sums:
        name = "sums", view.name(number)
        known = self._known.get(name)
        if not isinstance(known, _Sums):
            columns = self._columns(view, number)
            key = view.kernel.sketch_key
            known = self._known[name] = _Sums(added_up([columns], key), *extremes_of(columns, key))
        return known

    def _columns(self, view: BucketView, number: int) -> Columns:
        """Return the groups of a range, which are read once for all that a range is computed from."""
        name = view.name(number)
        if self._last[0] != name:
            self._last = name, view.columns(number)
        return self._last[1]

    def _needs_others(self, name: str, part: InBuckets) -> bool:
        """Say whether ranges of some groups need the sums of the others. Raises NotEvaluable, NotAdditive where they are of no use."""
        place, kernel = part.place, part.view.kernel
        if name == self._slicing.outer.name:
            if place != self._slicing.key:
                raise NotEvaluable("they are ranges of another key")
            return False
        cut = self._slicing.inner.get(name, {})
        if place not in cut:
            raise NotEvaluable("a subquery compares ranges of them with one another")
        if cut[place]:
            check_additive(part.read_specifications, kernel.key_types, kernel.sketch_key)
            if kernel.sketch_key in part.found.read:
                raise NotEvaluable("a subquery reads the key that they are ranges of")
        return cut[place]

    def _one_partition(self) -> RangePartition:
        """Return the ranges of all groups. Raises NotEvaluable where these differ."""
        first, *others = [each.view.coarse for each in self._bucketed.values()]
        outer = self._whole.get(self._slicing.outer.name)
        if any(each != first for each in others) or (outer is not None and self._key(outer.rows).type != first.type):
            raise NotEvaluable("several states have different ranges")
        return first


def _name_of(groups: Groups) -> Hashable:
    """Return the same for groups of the same versions of the same tables."""
    return tuple(sorted((location, repr(each)) for location, each in vector_of(groups.request.tables).items()))
