"""The SQL of a recursion that an engine computes round by round: what its steps make of the newest rows, without those that are known.

Source: semi-naive evaluation. Kept rows have their columns by place, and the round in which they were found first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imp_driver.plan.best_rows import Best
from imp_driver.plan.nodes import Attribute
from imp_driver.values.quoting import quoted_name

LEVEL = "imp_level"
"""Column of kept rows: 0 for those of the bases, else the round."""


@dataclass(frozen=True, slots=True)
class RelationForm:
    """How the rows of a recursive relation are kept.

    Attributes:
        types: of all its columns, as SQL names them.
        best: which rows are followed; None: all.
    """

    types: tuple[str, ...]
    best: Best | None = None

    @property
    def kept(self) -> Sequence[int]:
        """Places of the columns that anyone reads."""
        return range(len(self.types)) if self.best is None else self.best.kept

    def branch(self, query: str, output: Sequence[Attribute]) -> str:
        """Return the rows of a base or a step under their places."""
        return f"SELECT {_list(f'{quoted_name(output[place].identifier)} AS {column(place)}' for place in self.kept)} FROM ({query})"

    def read_as(self, output: Sequence[Attribute], names: Sequence[str]) -> str:
        """Return kept rows, in brackets, as a part of a plan reads them: NULL in the columns that nobody reads, no rows without names."""
        kept = self.kept if names else ()
        values = (column(place) if place in kept else f"CAST(NULL AS {name})" for place, name in enumerate(self.types))
        items = _list(f"{value} AS {quoted_name(each.identifier)}" for value, each in zip(values, output, strict=True))
        return f"(SELECT {items} FROM ({self._every(names)}))" if names else f"(SELECT {items} WHERE false)"

    def found(self, branches: Sequence[str], known: Sequence[str], level: int) -> str:
        """Return the rows of branches that are none of the known ones, each once; only those that are best among both, if that is asked."""
        rows = " UNION ALL ".join(branches)
        if self.best is not None:
            return self._best(self.best, rows, known, level)
        found = self._different(rows)
        return self._leveled(self._without(found, self._every(known)) if known else found, level)

    def made(self, branches: Sequence[str]) -> str:
        """Return the rows of branches, each once, known or not."""
        return self._different(" UNION ALL ".join(branches))

    def unknown(self, made: str, known: Sequence[str], level: int) -> str:
        """Return those of a few rows, kept under a name, that are none of many known ones: these are looked through where they lie."""
        met = f"SELECT {self._columns} FROM ({self._every(known)}) LEFT SEMI JOIN ({self._others(self._every([made]))}) ON {self._is_same}"
        return self._leveled(self._without(self._every([made]), met), level)

    def merged(self, names: Sequence[str]) -> str:
        """Return rows that are kept under several names."""
        # They are distinct; asked for so, they come in no more parts than any other result.
        return f"SELECT DISTINCT {self._columns}, {LEVEL} FROM ({self._every(names, LEVEL)})"

    def leveled(self, names: Sequence[str]) -> str:
        """Return kept rows with their levels; no rows without names."""
        if names:
            return self._every(names, LEVEL)
        return f"SELECT {_list(f'CAST(NULL AS {self.types[place]}) AS {column(place)}' for place in self.kept)}, 0 AS {LEVEL} WHERE false"

    def changed(self, names: Sequence[str], changes: str) -> list[str]:
        """Return what kept rows are after changes that are kept under a name: rows at other levels, at -1 where they are gone."""
        if not names:
            return [f"(SELECT {self._columns}, {LEVEL} FROM {changes} WHERE {LEVEL} >= 0)"]
        before = f"SELECT {self._columns}, {LEVEL} FROM ({self._every(names, LEVEL)})"
        left = (
            f"(SELECT {self._columns}, {LEVEL} FROM ({before}) LEFT ANTI JOIN ({self._others(self._every([changes]))}) ON {self._is_same})"
        )
        return [left, f"(SELECT {self._columns}, {LEVEL} FROM {changes} WHERE {LEVEL} >= 0)"]

    def levels_of(self, rows: str, names: Sequence[str]) -> str:
        """Return those of a few rows that are among kept ones, with the levels of these."""
        few = self._others(self._every([rows]))
        met = f"({self.leveled(names)}) AS many INNER JOIN ({few}) AS few ON {self._is_same}"
        return f"SELECT /*+ BROADCAST(few) */ {self._columns}, {LEVEL} FROM {met}"

    def _different(self, rows: str) -> str:
        return f"SELECT DISTINCT {self._columns} FROM ({rows})"

    def _without(self, rows: str, known: str) -> str:
        return f"SELECT {self._columns} FROM ({rows}) LEFT ANTI JOIN ({self._others(known)}) ON {self._is_same}"

    def _leveled(self, rows: str, level: int) -> str:
        return f"SELECT {self._columns}, {level} AS {LEVEL} FROM ({rows})"

    def _others(self, rows: str) -> str:
        """Return rows under names that those beside them do not have."""
        return f"SELECT {_list(f'{column(place)} AS k{place}' for place in self.kept)} FROM ({rows})"

    @property
    def _is_same(self) -> str:
        # NULL is one value of a set.
        return " AND ".join(f"{column(place)} <=> k{place}" for place in self.kept)

    def _best(self, best: Best, rows: str, known: Sequence[str], level: int) -> str:
        marked = f"SELECT {self._columns}, 1 AS imp_new FROM ({rows})"
        if known:
            marked += f" UNION ALL SELECT {self._columns}, 0 AS imp_new FROM ({self._every(known)})"
        each = f"SELECT {self._columns}, min(imp_new) AS imp_new FROM ({marked}) GROUP BY {self._columns}"
        groups = f"PARTITION BY {_list(map(column, best.group))} " if best.group else ""
        order = f"{column(best.measure)} {'DESC' if best.greatest else 'ASC'} NULLS {'FIRST' if best.nulls_first else 'LAST'}"
        ranked = f"SELECT *, dense_rank() OVER ({groups}ORDER BY {order}) AS imp_rank FROM ({each})"
        return f"SELECT {self._columns}, {level} AS {LEVEL} FROM ({ranked}) WHERE imp_new = 1 AND imp_rank <= {best.most}"

    def _every(self, names: Sequence[str], *others: str) -> str:
        columns = _list([self._columns, *others])
        return " UNION ALL ".join(f"SELECT {columns} FROM {name}" for name in names)

    @property
    def _columns(self) -> str:
        return _list(map(column, self.kept))


def column(place: int) -> str:
    """Return the name of a column of kept rows."""
    return f"c{place}"


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)
