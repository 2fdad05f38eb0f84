"""For each mutant a case of the attacks that finds it, so that every one is tried in a second.

``python -m tests.soundness.killers NAME ...`` searches the cases of these mutants anew, without names those that do not find theirs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.seeds import SEED, WIDE
from tests.soundness.mutants import Mutant
from tests.soundness.mutated import MUTANT_OF, Killer, Outcome, Task, outcomes

_FILE = Path(__file__).with_suffix(".json")
_SEARCH_SECONDS = 900


def recorded() -> Mapping[str, Killer]:
    """Return the known case of each mutant."""
    return {name: Killer(**fields) for name, fields in json.loads(_FILE.read_text(encoding="utf-8")).items()}


def problems(mutants: Sequence[Mutant], tried_elsewhere: Callable[[Killer], bool] = lambda case: False) -> list[str]:
    """Try the known case of each mutant with it and without it; say which does not tell it from the product.

    Without it only where no other test of the same run does so.
    """
    known = recorded()
    found = [f"{mutant.name}: no case is known{_ADVICE.format(mutant.name)}" for mutant in mutants if mutant.name not in known]
    tasks = [Task(mutant.name, (known[mutant.name],)) for mutant in mutants if mutant.name in known]
    cases = sorted(
        {task.cases[0] for task in tasks if not tried_elsewhere(task.cases[0])}, key=lambda case: (case.kind, case.seed, case.number)
    )
    unchanged = [Task("", tuple(cases[half::2])) for half in (0, 1) if cases[half::2]]
    # The longest first.
    for outcome in outcomes([*unchanged, *tasks]):
        found += _problem(outcome)
    return found


def _problem(outcome: Outcome) -> list[str]:
    name, case = outcome.task.mutant, outcome.found
    if outcome.crashed:
        return [f"{name or 'the product'}: {outcome.output}"]
    if not name:
        return [] if case is None else [f"the product differs in {case}: {outcome.output}"]
    return [] if case is not None else [f"{name}: {outcome.task.cases[0]} no longer finds it{_ADVICE.format(name)}"]


_DAYS = 3
_ADVICE = '; search another one with `python -m tests.soundness.killers "{}"`'


def of_today(mutants: Sequence[Mutant]) -> Sequence[Mutant]:
    """Return a third of some mutants, the others of which are those of other days; in a wide run all."""
    return mutants if WIDE else mutants[SEED % _DAYS :: _DAYS]


def searched(mutants: Iterable[Mutant]) -> list[Outcome]:
    """Attack with each mutant until it is found."""
    return outcomes([Task(mutant.name, seconds=_SEARCH_SECONDS) for mutant in mutants])


def _stale() -> list[str]:
    known = recorded()
    names = list(MUTANT_OF)
    kept = {outcome.task.mutant for outcome in outcomes([Task(name, (known[name],)) for name in names if name in known]) if outcome.found}
    return [name for name in names if name not in kept]


def main(names: Sequence[str]) -> int:
    """Search and record; return 1 when a mutant was not found, or not by its case alone."""
    known, failed = dict(recorded()), False
    for outcome in searched(MUTANT_OF[name] for name in names or _stale()):
        name = outcome.task.mutant
        known.pop(name, None)
        if outcome.found is not None:
            known[name] = outcome.found
        failed |= outcome.found is None
        print(f"{name}: {outcome.found or outcome.output or 'not found'}")
    _FILE.write_text(json.dumps({name: asdict(known[name]) for name in MUTANT_OF if name in known}, indent=1) + "\n", encoding="utf-8")
    tried = [mutant for name, mutant in MUTANT_OF.items() if name in known and (not names or name in names)]
    wrong = problems(tried)
    print(*wrong, sep="\n")
    return failed or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
