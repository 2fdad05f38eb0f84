"""Wrong versions of operators, each in a process of its own, which ends with 0 where cases find a difference."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from tests.forks import run_forked
from tests.soundness.mutants import Mutant
from tests.soundness.mutated import change, load_what_no_mutant_changes

_FOUND = 0


def _life(mutant: Mutant | None, differs: Callable[[], object]) -> None:
    if mutant is not None:
        change(mutant)
    if not differs():
        os._exit(2)


def print_unfound(mutants: Sequence[Mutant], differs: Callable[[], object]) -> None:
    """Print the names of those that the cases do not find, among them the product as it is.

    Args:
        differs: imports what it tries when it is called, which is changed before.
    """
    load_what_no_mutant_changes(mutants)
    codes = run_forked(partial(_life, mutant, differs) for mutant in (None, *mutants))
    names = ["the product as it is", *(mutant.name for mutant in mutants)]
    print(*(f"{name}: {code}" for name, code in zip(names, codes, strict=True) if code != _FOUND), sep="\n")
