"""Solutions of a pattern as a SELECT that is still open: joins and conditions are added to it before it is written.

Each variable is a column of STRING with the text of a term, NULL where it is unbound. What can stay one flat SELECT does, since that is
what Spark plans, and the driver maintains, best; the rest becomes a derived table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from imp_driver.sparql.algebra import Variable
from imp_driver.values.quoting import quoted_name

NULL_TEXT = "CAST(NULL AS STRING)"


@dataclass(frozen=True, slots=True)
class Column:
    """A variable's value.

    Attributes:
        text: SQL of type STRING.
        is_certain: never NULL.
        is_resource: never a literal, by where the variable stands in triples.
        table: alias of the table of which ``text`` is a column; None where it is computed.
        is_integer: an integer that SQL itself has written.
    """

    text: str
    is_certain: bool = False
    is_resource: bool = False
    table: str | None = None
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A table of FROM; ``on`` is set for those that are joined by LEFT JOIN."""

    text: str
    alias: str
    on: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunct; with a ``table`` it may stand in the ON of that table: it reads no later one, and no subquery."""

    text: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """Without items: one row, of constants."""

    items: tuple[Item, ...] = ()
    conditions: tuple[Condition, ...] = ()
    columns: Mapping[Variable, Column] = field(default_factory=dict)

    def with_conditions(self, texts: Iterable[str]) -> Relation:
        return replace(self, conditions=(*self.conditions, *map(Condition, texts)))

    def with_columns(self, columns: Mapping[Variable, Column]) -> Relation:
        return replace(self, columns=columns)

    @property
    def joins_at_once(self) -> bool:
        """Whether it may stand behind LEFT JOIN as it is: its rows are those of one table that pass its conditions."""
        (first, *others) = self.items or (None,)
        is_one = first is not None and not others
        are_its = all(each.table is not None for each in self.columns.values())
        return is_one and are_its and all(each.table is not None for each in self.conditions)


class Names:
    """Aliases of tables and columns of one statement, each given once."""

    def __init__(self) -> None:
        self._count = 0
        self._columns: dict[Variable, str] = {}
        self._taken: set[str] = set()

    def table(self) -> str:
        self._count += 1
        return f"t{self._count - 1}"

    def column(self, variable: Variable) -> str:
        """Return a variable's column, quoted: SQL tells names apart without regard to case, SPARQL does not."""
        if variable not in self._columns:
            wanted = base = variable.name.replace("_:", "__")
            count = 1
            while wanted.casefold() in self._taken:
                count += 1
                wanted = f"{base}__{count}"
            self._taken.add(wanted.casefold())
            self._columns[variable] = quoted_name(wanted)
        return self._columns[variable]


def written(relation: Relation, selected: Iterable[str], *, is_distinct: bool = False, outside: Iterable[str] = ()) -> str:
    """Return the SELECT of a relation; ``outside`` are more conditions, which read another SELECT around it."""
    words = ["SELECT DISTINCT" if is_distinct else "SELECT", ", ".join(selected)]
    rest = list(relation.conditions)
    for place, item in enumerate(relation.items):
        table = f"{item.text} AS {item.alias}"
        if place == 0:
            words.append(f"FROM {table}")
        elif item.on is not None:
            words.append(f"LEFT JOIN {table} ON {item.on}")
        else:
            own = [each for each in rest if each.table == item.alias]
            rest = [each for each in rest if each.table != item.alias]
            words.append(f"JOIN {table} ON {conjunction(each.text for each in own)}" if own else f"CROSS JOIN {table}")
    texts = [*(each.text for each in rest), *outside]
    return " ".join([*words, f"WHERE {conjunction(texts)}"] if texts else words)


def conjunction(texts: Iterable[str]) -> str:
    return " AND ".join(texts) or "TRUE"


def selected_columns(relation: Relation, names: Names) -> list[str]:
    """Return the SELECT list of all columns under their names; where there are none, one that counts rows."""
    columns = [f"{column.text} AS {names.column(variable)}" for variable, column in relation.columns.items()]
    return columns or ["1 AS `one row`"]


def derived(text: str, columns: Mapping[Variable, Column], names: Names) -> Relation:
    """Return a SELECT as a table whose columns have the names of their variables."""
    alias = names.table()
    found = {variable: replace(column, text=f"{alias}.{names.column(variable)}", table=alias) for variable, column in columns.items()}
    return Relation((Item(f"({text})", alias),), (), found)


def sealed(relation: Relation, names: Names, *, is_distinct: bool = False) -> Relation:
    """Return a relation as a derived table."""
    return derived(written(relation, selected_columns(relation, names), is_distinct=is_distinct), relation.columns, names)
