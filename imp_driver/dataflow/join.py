"""Inner join of several inputs, by equalities where there are any (IMP paper section 5.2.4): a term for each input that changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.access import arranged
from imp_driver.dataflow.arrangement import Arrangement, TooManyRows, may_be_joined
from imp_driver.dataflow.operator import Inputs, NotFound, Operator
from imp_driver.dataflow.zset import summed
from imp_driver.values.codes import one_array
from imp_driver.values.tables import ZSet


@dataclass(frozen=True, slots=True)
class Step:
    """Join with one more input: of each of ``pairs`` a column of the rows so far equals one of its own; all rows meet without a pair."""

    place: int
    pairs: tuple[tuple[str, str], ...]


def steps_from(changed: int, columns: Sequence[Sequence[str]], equalities: Sequence[tuple[str, str]]) -> tuple[Step, ...]:
    """Return how rows of one input find those of all others, by equalities as far as these reach.

    Args:
        columns: those of each input.
        equalities: pairs of columns, both ways round.
    """
    found: list[Step] = []
    known = set(columns[changed])
    missing = [place for place in range(len(columns)) if place != changed]
    while missing:
        pairs = {place: tuple(pair for pair in equalities if pair[0] in known and pair[1] in columns[place]) for place in missing}
        place = next((place for place in missing if pairs[place]), missing[0])
        found.append(Step(place, pairs[place]))
        known.update(columns[place])
        missing.remove(place)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class InnerJoin:
    """``steps`` say for each input how its rows find those of all others."""

    inputs: tuple[Operator, ...]
    steps: tuple[tuple[Step, ...], ...]

    @classmethod
    def of(cls, inputs: Sequence[Operator], equalities: Sequence[tuple[str, str]]) -> InnerJoin:
        """Join on those of the equalities, given both ways round, whose values can be compared by their codes."""
        kinds = {field.name: field.type for each in inputs for field in each.schema}
        usable = [(one, other) for one, other in equalities if one in kinds and other in kinds and may_be_joined(kinds[one], kinds[other])]
        columns = [each.schema.names for each in inputs]
        return cls(tuple(inputs), tuple(steps_from(place, columns, usable) for place in range(len(inputs))))

    @property
    def name(self) -> str:
        return "join"

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([field for each in self.inputs for field in each.schema])

    def step(self, inputs: Inputs) -> ZSet:
        terms = []
        for place, each in enumerate(self.inputs):
            rows = each.step(inputs)
            if len(rows.weights):
                # Each pair of changes is met once: by the later input, which finds the earlier ones changed already.
                terms.append(self._joined(rows, place, inputs, lambda other, place=place: other < place))  # type: ignore[misc]
        return summed(terms, self.schema)

    def rows(self, inputs: Inputs, key: str, values: pa.Array, *, is_new: bool) -> ZSet:
        place = next(place for place, each in enumerate(self.inputs) if key in each.schema.names)
        found = self.inputs[place].rows(inputs, key, values, is_new=is_new)
        return self._joined(found, place, inputs, lambda _: is_new)

    def every(self, inputs: Inputs, *, is_new: bool) -> ZSet:
        return self._joined(self.inputs[0].every(inputs, is_new=is_new), 0, inputs, lambda _: is_new)

    def _joined(self, rows: ZSet, place: int, inputs: Inputs, is_new: Callable[[int], bool]) -> ZSet:
        for step in self.steps[place]:
            rows = self._met(rows, step, inputs, is_new=is_new(step.place))
        return ZSet(rows.rows.select(self.schema.names), rows.weights)

    def _met(self, rows: ZSet, step: Step, inputs: Inputs, *, is_new: bool) -> ZSet:
        if not step.pairs:
            return Arrangement(self.inputs[step.place].every(inputs, is_new=is_new)).joined(rows, [])
        pairs = _by_values(rows.rows, step.pairs)
        for place, (key, own) in enumerate(pairs):
            try:
                side = arranged(self.inputs[step.place], inputs, own, one_array(rows.rows.column(key)), is_new=is_new)
                return side.joined(rows, [*pairs[place:], *pairs[:place]])
            except NotFound:
                continue
            except TooManyRows:
                if place + 1 == len(pairs):
                    raise
        # No column of the pairs finds rows, as that of an aggregate does not.
        return Arrangement(self.inputs[step.place].every(inputs, is_new=is_new)).joined(rows, pairs)


def _by_values(rows: pa.Table, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pair first whose column has the most different values: each likely finds the fewest rows."""
    if len(pairs) == 1:
        return list(pairs)
    return sorted(pairs, key=lambda pair: -pc.count_distinct(rows.column(pair[0])).as_py())
