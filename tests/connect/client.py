"""A process with a connection of its own in shadow mode, which does what it is told line by line; and the side that tells it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any

import imp_driver
from imp_driver.reasons import Decision

ROOT = Path(__file__).parents[2]
GROUPS = 40


class Client:
    """Starts the process; it ends with the block. Raises RuntimeError when the process ended by itself."""

    def __init__(self, url: str, errors: Path) -> None:
        self._errors = errors
        command = [sys.executable, "-m", "tests.connect.client", url]
        with errors.open("wb") as output:
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True, bufsize=1
            )

    def tell(self, *command: object) -> None:
        """Have something done; ``answer`` waits for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")

    def answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The client ended: {self._errors.read_text(errors='replace')[-3000:]}")
        return json.loads(line)

    def do(self, *command: object) -> Any:
        self.tell(*command)
        return self.answer()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        # At the end of its input the process closes its connection, and saves what is left.
        self._process.communicate()


class Doing:
    """What the process can be told; every command returns what JSON can hold."""

    def __init__(self, cursor: imp_driver.Cursor) -> None:
        self._cursor = cursor

    def ask(self, query: str) -> list[Any]:
        """Return the decision (for one not to use a sketch the reason), its detail and the rows; the driver has compared them."""
        rows = self._cursor.execute(query).fetchall()
        report = self._cursor.sketch_report
        assert report is not None
        assert report.reason.name != "INTERNAL", report
        return [(report.reason if report.decision is Decision.NOT_USED else report.decision).name, report.detail, rows]

    def change(self, text: str) -> int:
        """Return how many rows were changed; none where another writer was first, of which Delta tells."""
        try:
            return self._cursor.execute(text).rowcount
        except imp_driver.OperationalError as error:
            if "CONCURRENT" not in str(error.error_class):
                raise
            return 0

    def mix(self, table: str, queries: list[str], first: int, steps: int) -> list[Any]:
        """Change and ask in turn; return how often each decision was made, and the rows and the sum that its changes have added."""
        chance = random.Random(first)
        decisions: Counter[str] = Counter()
        rows = total = 0
        for step in range(steps):
            value = chance.randint(1, 90)
            inserted = self.change(f"INSERT INTO {table} VALUES ({first + step}, {chance.randrange(GROUPS)}, {value})")
            rows, total = rows + inserted, total + value * inserted
            if step % 2:
                # Its own row of before; the other process may be writing to the same file.
                total += self.change(f"UPDATE {table} SET v = v + 1 WHERE id = {first + step - 1}")
            decisions.update(self.ask(query)[0] for query in queries)
        return [decisions, rows, total]

    def places(self) -> list[str]:
        """Return where the sketches live."""
        self._cursor.execute("SHOW SKETCHES")
        names = [column[0] for column in self._cursor.description or ()]
        return [row[names.index("lives_in")] for row in self._cursor.fetchall()]


def main(url: str) -> None:
    with imp_driver.connect(url) as connection:
        doing = Doing(connection.cursor())
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            sys.stdout.write(json.dumps(getattr(doing, name)(*arguments)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
