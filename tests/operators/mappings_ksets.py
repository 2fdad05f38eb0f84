"""K-sets for properties: few variables and terms, so that solutions meet, merge and cancel."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from imp_driver.dataflow.mappings.ksets import KSet
from imp_driver.dataflow.mappings.operator import Delta, Row, add
from imp_driver.sparql.algebra import Variable

X, Y, Z, W = map(Variable, "xyzw")
TERMS = ("<a>", "<b>", "<c>")


@st.composite
def ksets(draw: st.DrawFn, variables: Sequence[Variable] | None = None, *, is_relation: bool = False, least: int = -2) -> KSet:
    """Return K-sets with heterogeneous schemas; where ``is_relation`` all variables are bound."""
    own = tuple(variables) if variables is not None else tuple(draw(st.lists(st.sampled_from((X, Y, Z)), unique=True)))
    value: st.SearchStrategy[str | None] = st.sampled_from(TERMS) if is_relation else st.sampled_from((*TERMS, None))
    count = st.integers(least, 2).filter(bool)
    rows = draw(st.dictionaries(st.tuples(*[value for _ in own]), count, max_size=6))
    return KSet(own, rows)


def solutions(kset: KSet) -> dict[frozenset[tuple[Variable, str]], int]:
    """Return a K-set without the order of its variables: what is bound in each solution, and its count."""
    found: dict[frozenset[tuple[Variable, str]], int] = {}
    for row, count in kset.rows.items():
        bound = frozenset((variable, term) for variable, term in zip(kset.variables, row, strict=True) if term is not None)
        found[bound] = found.get(bound, 0) + count
    return {bound: count for bound, count in found.items() if count}


def negative(kset: KSet) -> KSet:
    return KSet(kset.variables, {row: -count for row, count in kset.rows.items()})


def random_delta(random: Random, width: int, rows: dict[Row, int], share: float = 0.25) -> Delta:
    """Return a change of a K-set whose counts stay positive, and make it; ``share`` of the values are unbound."""
    changed: dict[Row, int] = {}
    for _ in range(random.randrange(5)):
        row = tuple(None if random.random() < share else random.choice(TERMS) for _ in range(width))
        add(changed, row, random.choice((1, 1, 2)))
    for row in random.sample(sorted(rows, key=str), min(len(rows), random.randrange(4))):
        add(changed, row, -random.randrange(1, rows[row] + 1))
    for row, count in changed.items():
        add(rows, row, count)
    return changed
