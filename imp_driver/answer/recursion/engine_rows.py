"""The rows of a recursion that an engine keeps, asked for what a change touches (``dataflow/recursion/frontier.py``)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.answer.recursion.convert import as_rows, as_table
from imp_driver.answer.recursion.derivation_texts import HEADS, Asking, DerivationForm
from imp_driver.answer.recursion.kept_state import KeptRelation
from imp_driver.answer.recursion.round_texts import LEVEL, column
from imp_driver.answer.recursion.sorted_tables import ReadTables
from imp_driver.answer.recursion.sought import sought
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.frontier import Derivation, Fact, TooMuchChanges
from imp_driver.errors import cancelled
from imp_driver.ports import KeptRows, ResultTooLarge, Session
from imp_driver.values.execution import Execution
from imp_driver.values.tables import ZSet

MOST_BYTES = 256 << 20
"""Of one answer of the engine."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """What a question to the engine took: rows and bytes handed over to it, and fetched from it."""

    rows_over: int
    bytes_over: int
    rows_back: int
    bytes_back: int


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """Rows of a table that are gone and those that are new, each once with its weight and the columns that any rule reads."""

    net: ZSet

    @property
    def gone(self) -> pa.Table:
        return self.net.rows.filter(pa.array(self.net.weights < 0))

    @property
    def new(self) -> pa.Table:
        return self.net.rows.filter(pa.array(self.net.weights > 0))


@dataclass(slots=True, eq=False)
class EngineRows:
    """An Elsewhere. ``shipped`` has what each question took, ``seconds`` is of all; ``most`` is how many questions pay.

    Attributes:
        own: the relations, by their places, as they were before.
        changed: by the names of tables.
        before, after: tell where tables are read.
        names: new names.
    """

    session: Session
    kept: KeptRows
    execution: Execution
    forms: Sequence[DerivationForm]
    own: Sequence[KeptRelation]
    changed: Mapping[tuple[str, ...], ChangedTable]
    before: ReadTables
    after: ReadTables
    names: Iterator[str]
    most: int
    shipped: list[Shipped] = field(default_factory=list)
    seconds: float = 0.0
    _levels: dict[Fact, int] = field(default_factory=dict)

    def lost(self) -> Iterable[Derivation]:
        return self._by_tables({name: each.gone for name, each in self.changed.items()}, self.before)

    def won(self) -> Iterable[Derivation]:
        return self._by_tables({name: each.new for name, each in self.changed.items()}, self.after)

    def led_to(self, rows: Collection[Fact]) -> Iterable[Derivation]:
        return self._by_rows(rows, (), self.before)

    def leads_to(self, rows: Collection[Fact], more: Collection[Fact]) -> Iterable[Derivation]:
        return self._by_rows(rows, more, self.after)

    def of(self, rows: Collection[Fact], level: int) -> Iterable[Derivation]:
        found: list[Derivation] = []
        for place, own in _by_relation(rows).items():
            wanted = self._table(place, own)
            for form in self.forms:
                if form.head == place and (form.made or not level):
                    found += self._asked(form, HEADS, wanted, self.after, {})
        return found

    def levels(self, rows: Collection[Fact]) -> Mapping[Fact, int]:
        left = [fact for fact in rows if fact not in self._levels]
        for place, own in _by_relation(left).items():
            relation = self.own[place]
            if not relation.names:
                continue
            with _Handed(self, self._table(place, own)) as handed:
                found = handed.read(relation.form.levels_of(handed.name, relation.names))
            columns = [found.column(column(number)).cast(kind) for number, kind in enumerate(relation.kinds)]
            self._levels.update(zip(((place, row) for row in as_rows(columns)), found.column(LEVEL).to_pylist(), strict=True))
        return {fact: self._levels[fact] for fact in rows if fact in self._levels}

    def _by_tables(self, changed: Mapping[tuple[str, ...], pa.Table], tables: ReadTables) -> Iterator[Derivation]:
        for form in self.forms:
            for place, scan in form.scans.items():
                rows = changed.get(scan.table)
                if rows is not None and rows.num_rows:
                    yield from self._asked(form, place, rows, tables, {})

    def _by_rows(self, rows: Collection[Fact], more: Collection[Fact], tables: ReadTables) -> Iterator[Derivation]:
        found, beside = _by_relation(rows), _by_relation(more)
        for form in self.forms:
            for place, relation in form.made.items():
                if relation in found:
                    others = {other for at, other in form.made.items() if at != place}
                    needed = {other: self._table(other, beside[other]) for other in others & beside.keys()}
                    yield from self._asked(form, place, self._table(relation, found[relation]), tables, needed)

    def _asked(
        self, form: DerivationForm, few: int, rows: pa.Table, tables: ReadTables, more: Mapping[int, pa.Table]
    ) -> Iterator[Derivation]:
        """Ask for derivations by a rule, some rows standing at a place of it; ``more`` are beside the kept ones, by relation."""
        wanted = sought(form, few, rows)
        with _Handed(self, rows, more) as handed:

            def made(place: int) -> str:
                own = self.own[place].form.leveled(self.own[place].names)
                beside = handed.more.get(place)
                items = ", ".join(column(number) for number in range(len(self.own[place].kinds)))
                return own if beside is None else f"{own} UNION ALL SELECT {items}, CAST(NULL AS INT) AS {LEVEL} FROM {beside}"

            asking = Asking(form, few, handed.name, lambda place, scan: tables(scan, wanted.get(place)), made)
            found = handed.read(asking.query())
        yield from self._derivations(form, found)

    def _derivations(self, form: DerivationForm, found: pa.Table) -> Iterator[Derivation]:
        heads = self._facts(form.head, "h", found)
        bodies = []
        for place, relation in form.made.items():
            facts = self._facts(relation, f"b{place}_", found)
            levels = found.column(f"l{place}").to_pylist()
            self._levels.update((fact, level) for fact, level in zip(facts, levels, strict=True) if level is not None)
            bodies.append(facts)
        for number, head in enumerate(heads):
            yield Derivation(head, tuple(facts[number] for facts in bodies))

    def _facts(self, relation: int, prefix: str, found: pa.Table) -> list[Fact]:
        kinds = self.own[relation].kinds
        columns = [found.column(f"{prefix}{number}").cast(kind) for number, kind in enumerate(kinds)]
        return [(relation, row) for row in as_rows(columns)]

    def _table(self, relation: int, rows: Collection[Row]) -> pa.Table:
        return rows_table(rows, self.own[relation].kinds)


class _Handed:
    """Rows that the engine has for one question."""

    def __init__(self, engine: EngineRows, rows: pa.Table, more: Mapping[int, pa.Table] | None = None) -> None:
        if len(engine.shipped) >= engine.most:
            raise TooMuchChanges(f"it takes more than {engine.most} questions")
        if engine.execution.token.is_cancelled:
            raise cancelled(engine.execution.tag)
        self._engine = engine
        self._tables = [rows, *(more or {}).values()]
        self.name = next(engine.names)
        self.more = {place: next(engine.names) for place in more or {}}

    def __enter__(self) -> _Handed:
        try:
            for name, rows in zip([self.name, *self.more.values()], self._tables, strict=True):
                self._engine.kept.hand_over(name, rows)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for name in (self.name, *self.more.values()):
            self._engine.kept.drop(name)

    def read(self, query: str) -> pa.Table:
        engine, begin = self._engine, time.perf_counter()
        try:
            found = engine.session.read(query, engine.execution, MOST_BYTES)
        except ResultTooLarge as error:
            raise TooMuchChanges(f"what a change touches is more than {MOST_BYTES >> 20} MB") from error
        engine.seconds += time.perf_counter() - begin
        over = [(each.num_rows, each.nbytes) for each in self._tables]
        engine.shipped.append(Shipped(sum(rows for rows, _ in over), sum(size for _, size in over), found.num_rows, found.nbytes))
        return found


def rows_table(rows: Collection[Row], kinds: Sequence[pa.DataType]) -> pa.Table:
    """Return rows as a table under ``c0``, ``c1`` .."""
    return as_table(rows, pa.schema([(column(number), kind) for number, kind in enumerate(kinds)]))


def _by_relation(facts: Collection[Fact]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for relation, row in facts:
        found.setdefault(relation, []).append(row)
    return found
