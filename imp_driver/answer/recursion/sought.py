"""Which values of a column of a table can meet the few rows of a question, so that nothing else of the table need be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.answer.recursion.derivation_texts import HEADS, DerivationForm
from imp_driver.answer.recursion.round_texts import column
from imp_driver.parse.literals import literal_node
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.conjunctive import equality
from imp_driver.plan.nodes import Attribute
from imp_driver.values.codes import one_array
from imp_driver.values.quoting import quoted_name

MOST_VALUES, MOST_RANGES = 1_000, 64
"""Of a condition: beyond these the engine takes longer to plan it than to read the table."""

_KINDS: Mapping[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "date": pa.date32(),
    "string": pa.string(),
}
"""Types whose values are equal where they are the same, by Delta's names of them."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Values of a column, ascending, and whether NULL is one."""

    column: str
    values: Sequence[object]
    with_null: bool = False

    @classmethod
    def of(cls, column: str, rows: pa.Array | pa.ChunkedArray, *, may_be_null: bool) -> Sought | None:
        """Return the values that some rows have, NULL only where it ``may_be_null``; None where they are too many."""
        values = one_array(rows)
        different = values.unique().drop_null()
        if len(different) > MOST_VALUES:
            return None
        return cls(column, sorted(different.to_pylist()), with_null=may_be_null and values.null_count > 0)

    @property
    def condition(self) -> str:
        """Return what is true for these values alone, as SQL.

        The engine knows the least and greatest value of each batch of rows that it keeps, and passes over those that lie between ranges.
        """
        name, texts = quoted_name(self.column), [literal_node(each).sql(dialect=DIALECT) for each in self.values]
        size = -(-len(texts) // MOST_RANGES)
        runs = [texts[start : start + size] for start in range(0, len(texts), size or 1)]
        ranges = " OR ".join(f"{name} BETWEEN {run[0]} AND {run[-1]}" for run in runs)
        # Spark takes FROM t WHERE (false) for a table with other names, its column one called false.
        among = f"{name} IN ({', '.join(texts)}) AND ({ranges})" if texts else "1 = 0"
        return f"({among} OR {name} IS NULL)" if self.with_null else f"({among})"


def is_told_apart(attribute: Attribute) -> bool:
    """Say whether values of a column of a table that are equal are the same."""
    name = attribute.type_name or ""
    return name in _KINDS or name == "boolean" or name.startswith("decimal(")


def pairs_of(form: DerivationForm, few: int) -> dict[int, tuple[Attribute, str]]:
    """Return by the places of tables a column that equals one of the few rows at a place of the rule, and the name of that one.

    Rows at HEADS and those of the recursion have names by place, rows of a table those of the table.
    """
    found: dict[int, tuple[Attribute, str]] = {}
    scans = {place: {each.identifier: each for each in scan.output} for place, scan in form.scans.items() if place != few}
    if few == HEADS:
        equal = [(plain_identifier(value), column(place)) for place, value in enumerate(form.values)]
    else:
        output, is_table = form.inputs[few].output, few in form.scans
        own = {each.identifier: each.name if is_table else column(place) for place, each in enumerate(output)}
        both = [pair for pair in map(equality, form.conjuncts) if pair is not None]
        equal = [(one, own[other]) for pair in both for one, other in (pair, pair[::-1]) if other in own]
    for place, attributes in scans.items():
        for identifier, name in equal:
            if identifier in attributes and attributes[identifier].type_name in _KINDS:
                found.setdefault(place, (attributes[identifier], name))
    return found


def orders_of(forms: Iterable[DerivationForm]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that are sought of tables, by the names of these."""
    found: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for form in forms:
        for few in (HEADS, *range(len(form.inputs))):
            for place, (attribute, _) in pairs_of(form, few).items():
                found[form.scans[place].table][attribute.name] = None
    return {table: tuple(columns) for table, columns in found.items()}


def sought(form: DerivationForm, few: int, rows: pa.Table) -> dict[int, Sought]:
    """Return what is sought of tables beside few rows, by the places of the tables in the rule; nothing where these are too many."""
    found: dict[int, Sought] = {}
    for place, (attribute, name) in pairs_of(form, few).items():
        if rows.schema.field(name).type == _KINDS[attribute.type_name or ""]:
            # An equality meets no NULL, and a row that follows may have one.
            own = Sought.of(attribute.name, rows.column(name), may_be_null=few == HEADS)
            found |= {} if own is None else {place: own}
    return found
