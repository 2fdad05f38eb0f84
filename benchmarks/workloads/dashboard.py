"""A dashboard that is looked at by one to eight people while a writer commits every second: how long each of its tiles takes.

In a window of some seconds every thread asks the twelve tiles in an order of its own, again and again; windows of plain Spark stand between
some of those of answers, under the same writer. After a window some of its answers are compared with those of plain Spark at the versions
that they stand for. A measurement is one tile once, so series of the two systems are not pairs.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random

import imp_driver
from benchmarks.answering import ANSWERS, PLAIN, answered, is_answered, why_not
from benchmarks.comparing import up_to_ties
from benchmarks.dashboard_tiles import ORDERS, TABLES, TILES, Tile, at
from benchmarks.harness import Answer, ask
from benchmarks.journal import EVERYONE, Journal, Page, Same
from benchmarks.protocol import Plan
from benchmarks.records import Quantity, Stage
from benchmarks.report import line

THREADS = (1, 2, 4, 8)
QUICK_THREADS = (1, 4)
SECONDS = 10.0
QUICK_SECONDS = 3.0
PAUSE = 1.0
"""Seconds between commits."""
PLAIN_WINDOWS = 3
ROWS = 20
"""Of a commit; each fifth one deletes the rows of an earlier one."""
CHECKS = 6
"""Answers of a window that are compared."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One tile, asked once."""

    tile: Tile
    text: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Systems:
    """Opens connections; those that answer have one store, and so the same states."""

    warehouse: str
    store: str

    def connect(self, system: str) -> imp_driver.Connection:
        options = {"sketch": "off"} if system == PLAIN else {"answers": "on", "store": self.store}
        return imp_driver.connect(warehouse=self.warehouse, **options)


@dataclass(slots=True)
class Writer:
    """Commits to one table after the other; ``ids`` are the next ones of each table."""

    connection: imp_driver.Connection
    ids: list[int]
    commits: int = 0
    written: list[tuple[int, int]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Commit every second until the block ends; raises what a commit raised."""
        done = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(self._commit_until, done)
            try:
                yield
            finally:
                done.set()
            work.result()

    def _commit_until(self, done: threading.Event) -> None:
        while not done.is_set():
            begin = time.perf_counter()
            self.commit()
            spent = time.perf_counter() - begin
            self.milliseconds.append(spent * 1000)
            done.wait(max(0.0, PAUSE - spent))

    def commit(self) -> None:
        if self.commits % 5 == 4:
            place, first = self.written.pop(0)
            text = TABLES[place].deleted(first, ROWS)
        else:
            place = self.commits % len(TABLES)
            first, self.ids[place] = self.ids[place], self.ids[place] + ROWS
            self.written.append((place, first))
            text = TABLES[place].inserted(first, ROWS)
        self.connection.execute(text).close()
        self.commits += 1


@dataclass(slots=True)
class Board:
    """The pages of one number of threads, and how many measurements each system has there."""

    pages: dict[str, Page]
    threads: int
    seconds: float
    counts: Counter[tuple[str, str, Stage]] = field(default_factory=Counter)
    reasons: dict[str, dict[str, None]] = field(default_factory=dict)

    def note(self, system: str, stage: Stage, each: Asked) -> None:
        name, turn = each.tile.name, answered(each.answer)
        number = self.counts[name, system, stage]
        self.counts[name, system, stage] += 1
        self.pages[name].add(system, stage, number, turn.spent)
        if stage is Stage.MEASURED and system == ANSWERS:
            self.pages[name].decide(system, turn.decision)
            if not is_answered(each.answer.report):
                self.reasons.setdefault(name, {})[why_not(each.answer.report)] = None


def run(journal: Journal, plan: Plan, warehouse: str, rows: int, *, is_quick: bool) -> None:
    """Measure one case per tile and number of threads."""
    with ExitStack() as stack:
        store = stack.enter_context(tempfile.TemporaryDirectory())
        systems = Systems(warehouse, store)
        plain, writing, answering = (stack.enter_context(systems.connect(system)) for system in (PLAIN, PLAIN, ANSWERS))
        writer = Writer(writing, [table.create(plain, rows) for table in TABLES])
        for count in QUICK_THREADS if is_quick else THREADS:
            pages = {tile.name: journal.page({"threads": count, "tile": tile.name}) for tile in TILES}
            board = Board(pages, count, QUICK_SECONDS if is_quick else SECONDS)
            answering.execute("DROP SKETCH ALL").close()
            chance = Random(count)
            _warm_up(board, plan, {PLAIN: plain, ANSWERS: answering}, writer, chance)
            for number in range(plan.repetitions):
                for system in (PLAIN, ANSWERS) if number < PLAIN_WINDOWS else (ANSWERS,):
                    with writer.at_work():
                        found = _window(board, systems, system, seed=number)
                    for each in found:
                        board.note(system, Stage.MEASURED, each)
                    if system == ANSWERS:
                        _check(board, plain, found, chance)
            _end(board, writer)


def _warm_up(board: Board, plan: Plan, connections: Mapping[str, imp_driver.Connection], writer: Writer, chance: Random) -> None:
    """Ask every tile once cold, and then some rounds of all tiles, with a commit after each; all answers are compared."""
    for number in range(1 + plan.settling + plan.warm_up):
        stage, repetition = (Stage.WARM_UP, number) if number else (Stage.COLD_START, 0)
        for tile in TILES:
            text = tile.instance(chance)
            asked = {system: _ask(connection, tile, text) for system, connection in connections.items()}
            for system, each in asked.items():
                board.note(system, stage, each)
            # Nothing is written meanwhile, so both stand for the same versions.
            board.pages[tile.name].compare({system: each.answer.rows for system, each in asked.items()}, _same(tile))
        writer.commit()
        print(f"{board.threads} threads, {stage} {repetition}", flush=True)


def _window(board: Board, systems: Systems, system: str, seed: int) -> list[Asked]:
    """Let each thread ask all tiles for some seconds, and the round that it is at to the end; each has a connection of its own."""
    begin = threading.Barrier(board.threads)

    def look(place: int) -> list[Asked]:
        chance, found = Random(f"{seed} {place}"), []
        try:
            with systems.connect(system) as connection:
                # A connection's first statement opens what the others find open.
                _ask(connection, TILES[0], TILES[0].instance(chance))
                begin.wait()
                end = time.monotonic() + board.seconds
                while time.monotonic() < end:
                    for tile in chance.sample(TILES, len(TILES)):
                        found.append(_ask(connection, tile, tile.instance(chance)))
        except BaseException:
            # The others would wait for this thread for ever.
            begin.abort()
            raise
        return found

    with ThreadPoolExecutor(board.threads) as pool:
        return [each for found in pool.map(look, range(board.threads)) for each in found]


def _ask(connection: imp_driver.Connection, tile: Tile, text: str) -> Asked:
    return Asked(tile, text, ask(connection, at(text, tile.table)))


def _check(board: Board, plain: imp_driver.Connection, found: Sequence[Asked], chance: Random) -> None:
    """Compare some answers with plain Spark's at the same version; answers of Spark itself say no version."""
    known = [each for each in found if is_answered(each.answer.report)]
    for each in chance.sample(known, min(CHECKS, len(known))):
        versions = {name.split(".")[-1].strip("`"): version for name, version in each.answer.report.versions.items()}
        right = ask(plain, at(each.text, each.tile.table, versions[each.tile.table])).rows
        board.pages[each.tile.name].compare({PLAIN: right, ANSWERS: each.answer.rows}, _same(each.tile))


def _same(tile: Tile) -> Same:
    return up_to_ties(*ORDERS.get(tile.name, ((), None)))


def _end(board: Board, writer: Writer) -> None:
    for name, page in board.pages.items():
        page.facts["commits until now"] = writer.commits
        if name in board.reasons:
            page.facts["not from a state"] = "; ".join(board.reasons[name])
        print(line(page.case), flush=True)
    for number, spent in enumerate(writer.milliseconds):
        board.pages[TILES[0].name].add(EVERYONE, Stage.MEASURED, number, {Quantity.UPDATE: spent})
    writer.milliseconds.clear()
