"""Mutants in processes of their own, none of which copies a file: the changed source is compiled where the module is imported.

``python -m tests.soundness.mutated`` reads tasks, one JSON object a line, and writes an outcome for each.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from pkgutil import walk_packages
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from tests.forks import run_forked
from tests.soundness.answer_mutants import ANSWER_MUTANTS
from tests.soundness.driver_mutants import DRIVER_MUTANTS
from tests.soundness.mutants import MUTANTS, Mutant
from tests.soundness.nested_mutants import NESTED_MUTANTS
from tests.soundness.recursion_mutants import RECURSION_MUTANTS
from tests.soundness.supposed_mutants import SUPPOSED_MUTANTS
from tests.soundness.view_mutants import VIEW_MUTANTS
from tests.soundness.window_mutants import WINDOW_MUTANTS

if TYPE_CHECKING:
    from tests.soundness.nested_attack import NestedTally

ROOT = Path(__file__).parents[2]
CALCULUS, PAIRS, ABOVE, TYPES, SUPPOSED, VIEWS, NESTED = (
    "calculus",
    "pairs",
    "above groups",
    "types",
    "supposed",
    "views",
    "nested aggregates",
)
NESTED_CASES = "cases of nested aggregates"
RECURSIONS = "recursions"
_PAIRS_A_TURN = 100
_LIBRARIES = ("deltalake", "duckdb", "numpy", "pandas", "pyarrow.compute", "pyroaring", "sqlglot.optimizer", "z3")
_PACKAGES = (
    "values",
    "parse",
    "delta",
    "dataflow",
    "plan",
    "sketch",
    "state",
    "snapshot",
    "reuse",
    "rewrite",
    "persist",
    "observe",
    "maintain",
    "answer",
    "what_if",
    "commands",
)
MUTANT_OF: Mapping[str, Mutant] = {
    mutant.name: mutant
    for mutant in (
        *(*MUTANTS, *DRIVER_MUTANTS, *ANSWER_MUTANTS, *SUPPOSED_MUTANTS, *VIEW_MUTANTS, *WINDOW_MUTANTS),
        *(*RECURSION_MUTANTS, *NESTED_MUTANTS),
    )
}


@dataclass(frozen=True, slots=True)
class Killer:
    """What can be tried alone: a query of the attack on the calculus or of that on what stands above groups, a case of the one by pairs,
    a warehouse of those on the driver.
    """

    kind: str
    seed: int
    number: int


@dataclass(frozen=True, slots=True)
class Task:
    """Try cases, or attack until there is a difference if there are none; no mutant is the product as it is."""

    mutant: str
    cases: tuple[Killer, ...] = ()
    seconds: int = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The first case with a difference; ``output`` is what was different, or the error that ended the process."""

    task: Task
    found: Killer | None
    crashed: bool
    output: str


def outcomes(tasks: Sequence[Task]) -> list[Outcome]:
    """Run tasks, two at a time, each in a process of its own with the same order of sets."""
    lines = "".join(json.dumps(asdict(task)) + "\n" for task in tasks)
    # What is loaded before the processes part starts no threads.
    environment = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.soundness.mutated"]
    result = subprocess.run(command, cwd=ROOT, env=environment, input=lines, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    found = [json.loads(line) for line in filter(None, result.stdout.splitlines())]
    return [Outcome(task, _killer(each["found"]), each["crashed"], each["output"]) for task, each in zip(tasks, found, strict=True)]


def _killer(fields: Mapping[str, object] | None) -> Killer | None:
    return None if fields is None else Killer(**fields)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Finder(MetaPathFinder):
    """Finds the module of a mutant with its changed source."""

    name: str
    code: CodeType

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname == self.name else None
        if found is not None and found.origin is not None:
            found.loader = _Loader(fullname, found.origin, self.code)
        return found


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


def change(mutant: Mutant) -> None:
    """Let the module of a mutant be imported with its changed text.

    Raises:
        ValueError: the text to change is not there exactly once.
    """
    path, name = (ROOT / "imp_driver" / "safety" / mutant.file).resolve(), _module_of(mutant)
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: the rule stands {source.count(mutant.old)} times in {mutant.file}")
    if name in sys.modules:
        raise ValueError(f"{mutant.name}: {name} was imported already")
    sys.meta_path.insert(0, _Finder(name, compile(source.replace(mutant.old, mutant.new), str(path), "exec")))


def load_what_no_mutant_changes(mutants: Iterable[Mutant]) -> None:
    """Import libraries, and what of the driver needs no module of a mutant: done once, since it takes longer than most tasks."""
    for name in _LIBRARIES:
        import_module(name)
    unready = _Unready({_module_of(mutant) for mutant in mutants})
    sys.meta_path.insert(0, unready)
    for package in _PACKAGES:
        for module in walk_packages([str(ROOT / "imp_driver" / package)], f"imp_driver.{package}."):
            with suppress(_UnreadyError):
                import_module(module.name)
    sys.meta_path.remove(unready)


def _module_of(mutant: Mutant) -> str:
    return ".".join((ROOT / "imp_driver" / "safety" / mutant.file).resolve().relative_to(ROOT).with_suffix("").parts)


class _UnreadyError(ImportError):
    """A module of a mutant, or one that needs it."""


@dataclass(frozen=True, slots=True)
class _Unready(MetaPathFinder):
    """Finds no module of a mutant."""

    names: Set[str]

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname in self.names:
            raise _UnreadyError(fullname)
        return None


def _tried(task: Task) -> tuple[Killer | None, str]:
    """Return the first case with a difference, and the difference."""
    if task.mutant:
        change(MUTANT_OF[task.mutant])
    if not task.cases:
        return _searched(MUTANT_OF.get(task.mutant))
    for case in task.cases:
        differences = _differences(case)
        if differences:
            return case, differences[0]
    return None, ""


def _differences(case: Killer) -> Sequence[str]:
    # Imported only when the source was changed.
    if case.kind == CALCULUS:
        from tests.soundness.attack import attack_query

        return [str(each) for each in attack_query(case.seed, case.number).differences]
    if case.kind == ABOVE:
        from tests.soundness.answer_attack import attack_query as attack_above

        return attack_above(case.seed, case.number).differences
    if case.kind == PAIRS:
        from tests.pairs.cover import attack_numbers
        from tests.pairs.driver import ATTACK

        return attack_numbers(ATTACK, case.seed, [case.number]).differences
    if case.kind == TYPES:
        return _differences_of_types(case.seed, case.number)
    if case.kind == SUPPOSED:
        from tests.soundness.supposed_attack import attack as attack_supposed

        return attack_supposed(case.seed, [case.number]).differences
    if case.kind == VIEWS:
        from tests.soundness.view_attack import attack as attack_views

        return attack_views(case.seed, [case.number]).differences
    if case.kind == RECURSIONS:
        from tests.soundness.recursion_attack import attack as attack_recursions

        return attack_recursions(case.seed, [case.number]).differences
    if case.kind == NESTED_CASES:
        return _differences_of_case(case.number)
    if case.kind == NESTED:
        return _differences_of_nested(case.seed, [case.number]).differences
    from tests.soundness.driver_attack import attack_kind

    return attack_kind(case.kind, case.seed, [case.number]).differences


def _differences_of_types(seed: int, number: int) -> Sequence[str]:
    from tests.soundness.typed_attack import TypedTally, attack_types

    tally = TypedTally()
    attack_types(seed, number, tally)
    return tally.differences


def _differences_of_case(number: int) -> Sequence[str]:
    from tests.soundness.nested_attack import FEW_BYTES, NestedTally, difference
    from tests.soundness.nested_cases import CASES, FOLLOWED_CASES, bucketed_cases

    own = [*CASES.values(), *FOLLOWED_CASES.values()]
    if number < len(own):
        found = difference(own[number], NestedTally(), follows=number >= len(CASES))
    else:
        found = difference([*bucketed_cases().values()][number - len(own)], NestedTally(), memory=FEW_BYTES)
    return [] if found is None else [found]


def _differences_of_nested(seed: int, numbers: Sequence[int]) -> NestedTally:
    from tests.soundness.nested_attack import NestedTally, attack_nested

    tally = NestedTally()
    attack_nested(seed, numbers, tally, shrinks=False)
    return tally


def _searched(mutant: Mutant | None) -> tuple[Killer | None, str]:
    """Attack at random until there is a difference."""
    if mutant in ANSWER_MUTANTS:
        from tests.soundness.answer_attack import attack as attack_above

        above = attack_above(60_000, 0)
        return (None, "") if above.found_in is None else (Killer(ABOVE, 0, above.found_in), above.differences[0])
    if mutant in SUPPOSED_MUTANTS:
        from tests.soundness.supposed_attack import attack as attack_supposed

        supposed = attack_supposed(0, range(400))
        return (None, "") if supposed.found_in is None else (Killer(SUPPOSED, 0, supposed.found_in), supposed.differences[0])
    if mutant in VIEW_MUTANTS:
        from tests.soundness.view_attack import attack as attack_views

        views = attack_views(0, range(400))
        return (None, "") if views.found_in is None else (Killer(VIEWS, 0, views.found_in), views.differences[0])
    if mutant in RECURSION_MUTANTS:
        from tests.soundness.recursion_attack import attack as attack_recursions

        recursions = attack_recursions(0, range(600))
        return (None, "") if recursions.found_in is None else (Killer(RECURSIONS, 0, recursions.found_in), recursions.differences[0])
    if mutant in WINDOW_MUTANTS:
        from tests.soundness.driver_attack import attack_kind

        for turn in range(60):
            for kind in ("windows", "windows below", "absent"):
                windows = attack_kind(kind, 0, range(turn * 5, turn * 5 + 5))
                if windows.found_in is not None:
                    return Killer(kind, 0, windows.found_in), windows.differences[0]
        return None, ""
    if mutant in NESTED_MUTANTS:
        from tests.soundness.nested_cases import CASES, FOLLOWED_CASES, bucketed_cases

        for number in range(len(CASES) + len(FOLLOWED_CASES) + len(bucketed_cases())):
            of_case = _differences_of_case(number)
            if of_case:
                return Killer(NESTED_CASES, 0, number), of_case[0]
        nested = _differences_of_nested(0, range(200))
        return (None, "") if nested.found_in is None else (Killer(NESTED, 0, nested.found_in), nested.differences[0])
    if mutant in MUTANTS:
        from tests.soundness.attack import attack

        differences = attack(60_000, 0).differences
        return (Killer(CALCULUS, 0, differences[0].number), str(differences[0])) if differences else (None, "")
    from tests.pairs.cover import attack_numbers
    from tests.pairs.driver import ATTACK
    from tests.soundness.driver_attack import rounds

    for turn, (kind, tally) in enumerate(rounds(400, 0)):
        if tally.found_in is not None:
            return Killer(kind, 0, tally.found_in), tally.differences[0]
        found = attack_numbers(ATTACK, 0, range(turn * _PAIRS_A_TURN, (turn + 1) * _PAIRS_A_TURN))
        if found.differences:
            return Killer(PAIRS, 0, turn * _PAIRS_A_TURN + found.tried - 1), found.differences[0]
        of_types = _differences_of_types(0, turn)
        if of_types:
            return Killer(TYPES, 0, turn), of_types[0]
    return None, ""


def _try(task: Task, output: Path) -> None:
    """Run a task in this process and write its outcome."""
    signal.alarm(task.seconds)
    try:
        found, text = _tried(task)
        output.write_text(json.dumps({"found": found and asdict(found), "crashed": False, "output": text}), encoding="utf-8")
    except BaseException:
        output.write_text(json.dumps({"found": None, "crashed": True, "output": traceback.format_exc()}), encoding="utf-8")


def _run(tasks: Sequence[Task]) -> list[str]:
    """Return the outcomes of tasks in their order."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder, str(place)) for place in range(len(tasks))]
        run_forked(partial(_try, task, output) for task, output in zip(tasks, outputs, strict=True))
        lost = json.dumps({"found": None, "crashed": True, "output": "the process was ended, or took too long"})
        return [output.read_text(encoding="utf-8") if output.exists() else lost for output in outputs]


def main() -> None:
    """Run the tasks of the standard input."""
    tasks = [json.loads(line) for line in sys.stdin]
    load_what_no_mutant_changes(MUTANT_OF.values())
    given = [Task(task["mutant"], tuple(Killer(**each) for each in task["cases"]), task["seconds"]) for task in tasks]
    print("\n".join(_run(given)))


if __name__ == "__main__":
    main()
