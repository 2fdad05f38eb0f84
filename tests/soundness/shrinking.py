"""The smallest script that still goes wrong: steps, rows of steps and parts of the query are left out for as long as it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import sqlglot
from sqlglot import exp

from tests.soundness.nested_data import Append, Ask, Script, Step

MOST_TRIALS = 600


def shrunk(script: Script, is_wrong: Callable[[Script], bool], trials: int = MOST_TRIALS) -> Script:
    """Return a script of which no part can be left out, or what is found of it in so many trials; ``script`` goes wrong."""
    for leave_out in (_queries, _steps, _rows, _texts, _steps):
        place = 0
        while trials > 0 and (smaller := next(islice(leave_out(script), place, None), None)) is not None:
            trials -= 1
            if is_wrong(smaller):
                # What stood behind the part that has gone stands in its place now.
                script = smaller
            else:
                place += 1
    return script


def _queries(script: Script) -> Iterator[Script]:
    """Yield the script with one of its queries alone, the last one first: with it ended the script."""
    asked = list(dict.fromkeys(step for step in script if isinstance(step, Ask)))
    for query in reversed(asked if len(asked) > 1 else []):
        yield tuple(step for step in script if not isinstance(step, Ask) or step == query)


def _steps(script: Script) -> Iterator[Script]:
    for size in (16, 8, 4, 2, 1):
        for place in range(0, len(script), size):
            yield script[:place] + script[place + size :]


def _rows(script: Script) -> Iterator[Script]:
    for place, step in enumerate(script):
        for other in _smaller_rows(step):
            yield (*script[:place], other, *script[place + 1 :])


def _texts(script: Script) -> Iterator[Script]:
    """Yield the script with smaller versions of one of its queries, wherever it is asked."""
    for asked in dict.fromkeys(step for step in script if isinstance(step, Ask)):
        for text in _smaller_texts(asked.text):
            yield tuple(replace(asked, text=text) if step == asked else step for step in script)


def _smaller_rows(step: Step) -> Iterator[Step]:
    if not isinstance(step, Append) or len(step.rows) < 2:
        return
    for size in (len(step.rows) // 2, 4, 1):
        for place in range(0, len(step.rows), max(size, 1)):
            rows = step.rows[:place] + step.rows[place + max(size, 1) :]
            if rows:
                yield replace(step, rows=rows)


def _smaller_texts(text: str) -> Iterator[str]:
    """Yield the query without one of its conditions, columns or factors."""
    count = sum(1 for _ in sqlglot.parse_one(text, read="spark").walk())
    for place in range(count):
        for way in (0, 1):
            tree = sqlglot.parse_one(text, read="spark")
            node = list(tree.walk())[place]
            if _is_cut(node, way):
                found = tree.sql(dialect="spark")
                if found != text:
                    yield found


def _is_cut(node: exp.Expr, way: int) -> bool:
    """Leave out a part below a node, and say whether there was one."""
    if isinstance(node, (exp.And, exp.Or, exp.Mul, exp.Add, exp.Sub)) and node.parent is not None:
        node.replace(node.right if way else node.left)
        return True
    if way:
        return False
    if isinstance(node, (exp.Not, exp.Neg, exp.Paren)) and node.parent is not None and not isinstance(node.this, exp.Select):
        node.replace(node.this)
        return True
    if isinstance(node, (exp.Where, exp.Having)):
        node.pop()
        return True
    if isinstance(node, exp.Alias) and isinstance(node.parent, exp.Select) and len(node.parent.expressions) > 1:
        node.pop()
        return True
    return False
