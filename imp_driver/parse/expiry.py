"""``WITH EXPIRY link AFTER INTERVAL 10 MINUTES ON ts``: the rows of a table that a view reads, without those that are too old.

Source: windows over base tuples, sections 3.1 and 4.3.3 of the paper on recursive views. A row that is too old is as one that was deleted.
The clock is the newest time in the table, so that a view depends on its tables alone; BY CLOCK it is that of whoever reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from imp_driver.errors import ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.statement import parse, table_name, tables_in
from imp_driver.values.quoting import qualified
from imp_driver.values.types import LENGTHS, LOCAL, sql_name

_WHOLE_DAYS = {"day": 1, "week": 7}
"""Units in which the age of a date is counted."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Rows of a table leave a view when a time of theirs is ``count`` units old (a key of ``LENGTHS``).

    By the newest time a day has 24 hours, by the clock it is one of the session's zone.
    """

    table: tuple[str, ...]
    count: int
    unit: str
    column: str
    by_clock: bool

    def condition(self, table: exp.Table, kind: pa.DataType) -> exp.Expr:
        """Return what holds for the rows of a table that are not too old; one without a time is. ``kind`` is the type of the column.

        Raises ProgrammingError for a column of another type, or a unit that it does not count.
        """
        own = exp.column(exp.to_identifier(self.column, quoted=True))
        begin = f"{self.column} of {qualified(self.table)} is"
        if pa.types.is_date32(kind):
            if self.unit not in _WHOLE_DAYS:
                raise ProgrammingError(f"{begin} a DATE, whose age is counted in DAYS or WEEKS, not in {self.unit.upper()}S.")
            return self._younger(own, exp.CurrentDate() if self.by_clock else _newest(own, table), _WHOLE_DAYS[self.unit], "day")
        if not pa.types.is_timestamp(kind):
            raise ProgrammingError(f"{begin} {sql_name(kind)}; rows expire by a TIMESTAMP, a TIMESTAMP_NTZ or a DATE.")
        if self.by_clock:
            found = self._younger(own, exp.CurrentTimestamp())
            if kind == LOCAL:
                found.set("expression", exp.Cast(this=found.expression, to=exp.DType.TIMESTAMPNTZ.into_expr()))
            return found
        if kind == LOCAL:
            return self._younger(own, _newest(own, table))
        micros = exp.UnixMicros(this=own)
        age = exp.Literal.number(self.count * LENGTHS[self.unit])
        return exp.GT(this=micros, expression=exp.Sub(this=_newest(micros, table), expression=age))

    def _younger(self, own: exp.Expr, clock: exp.Expr, times: int = 1, unit: str = "") -> exp.GT:
        """Return whether a time is after what the clock showed before; an age may be counted in another unit."""
        age = exp.Interval(this=exp.Literal.string(str(self.count * times)), unit=exp.var((unit or self.unit).upper()))
        return exp.GT(this=own, expression=exp.Sub(this=clock, expression=age))


def _newest(own: exp.Expr, table: exp.Table) -> exp.Expr:
    return exp.select(exp.Max(this=own.copy())).from_(table.copy()).subquery()


def with_expiries(query: str, expiries: Sequence[Expiry], kind_of: Callable[[Expiry], pa.DataType]) -> str:
    """Return a query that reads only such rows of some tables as are not too old.

    Args:
        kind_of: returns the Arrow type of a column by which rows expire.

    Raises ProgrammingError where it does not read one of these tables, or rows cannot expire by a column.
    """
    if not expiries:
        return query
    tree = parse(query).tree
    if tree is None:
        raise ProgrammingError("A view WITH EXPIRY needs a query that can be read in process.")
    tree = tree.copy()
    for expiry in expiries:
        common = {each.alias.lower() for each in tree.find_all(exp.CTE)}
        found = [each for each in tables_in(tree) if _is_of(each, expiry, common)]
        others = [each for each in tables_in(tree) if _is_alike(each, expiry, common)]
        if others:
            told = f"The view reads {qualified(expiry.table)} as {qualified(table_name(others[0]))} too"
            raise ProgrammingError(f"{told}. Write its name in one way, in the query and in WITH EXPIRY.")
        if not found:
            raise ProgrammingError(f"The query of the view does not read {qualified(expiry.table)}, whose rows are to expire.")
        kind = kind_of(expiry)
        for table in found:
            _replace(table, expiry, kind)
    return tree.sql(dialect=SparkText)


def _is_of(table: exp.Table, expiry: Expiry, common: set[str]) -> bool:
    if not isinstance(table.this, exp.Identifier) or (len(table.parts) == 1 and table.name.lower() in common):
        return False
    return tuple(map(str.lower, table_name(table))) == tuple(map(str.lower, expiry.table))


def _is_alike(table: exp.Table, expiry: Expiry, common: set[str]) -> bool:
    """Say whether a table that is written otherwise may be the same one."""
    if not isinstance(table.this, exp.Identifier) or (len(table.parts) == 1 and table.name.lower() in common):
        return False
    one, other = (tuple(map(str.lower, each)) for each in (table_name(table), expiry.table))
    shorter = min(len(one), len(other))
    return one != other and one[-shorter:] == other[-shorter:]


def _replace(table: exp.Table, expiry: Expiry, kind: pa.DataType) -> None:
    unfit = [name for name, value in table.args.items() if value and name not in ("this", "db", "catalog", "alias", "joins")]
    if unfit:
        raise ProgrammingError(
            f"{qualified(table_name(table))} is read with {unfit[0].upper()} in the view; rows of such a reading do not expire."
        )
    own = table.args.get("alias")
    plain = table.copy()
    plain.set("alias", None)
    plain.set("joins", None)
    kept = exp.select("*").from_(plain).where(expiry.condition(plain, kind)).subquery()
    kept.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)) if own is None else own.copy())
    if table.args.get("joins"):
        kept.set("joins", table.args["joins"])
    table.replace(kept)
