"""What an attack by pairs reaches: its cases, each a choice of the grammar, and the interactions that met in them.

``python -m tests.pairs.cover driver|calculus`` searches cases that reach all that can be reached, and writes those that are enough to
driver.json or calculus.json.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from tests.pairs.grammar import Choice, Interaction, every_interaction, interactions_of, random_choice, wanted_for, why_none

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a sketch was used, the dimensions whose value had no effect in that, and what was wrong if something was."""

    is_used: bool
    idle: frozenset[str] = frozenset()
    difference: str = ""


@dataclass(frozen=True, slots=True)
class Attack:
    """``play`` tries a choice; ``dimensions`` are those that it looks at.

    ``out_of_reach`` has reasons why no sketch is ever used for a query that has values of some dimensions.
    """

    name: str
    play: Callable[[Choice, random.Random], Outcome]
    dimensions: tuple[str, ...]
    out_of_reach: Sequence[tuple[str, Mapping[str, frozenset[str]]]]

    @property
    def known(self) -> Path:
        return FOLDER / f"{self.name}.json"

    def known_cases(self) -> list[str]:
        """Return the cases that reach every interaction that can be reached."""
        return [json.dumps(case) for case in json.loads(self.known.read_text(encoding="utf-8"))]

    def every_interaction(self) -> Iterator[Interaction]:
        return every_interaction(self.dimensions)

    def interactions_of(self, case: str) -> set[Interaction]:
        return set(interactions_of(choice_of(case), self.dimensions))

    def why_out_of_reach(self, interaction: Interaction) -> str | None:
        """Return why no sketch is ever used for a query that has these values; None where one may be."""
        return why_none(dict(interaction), self.out_of_reach)


@dataclass(slots=True)
class Reached:
    """``cases`` are those that reached an interaction first, with all that they reached.

    ``tried`` counts all, ``used`` those whose sketch was used.
    """

    attack: Attack
    interactions: set[Interaction] = field(default_factory=set)
    cases: dict[str, set[Interaction]] = field(default_factory=dict)
    tried: int = 0
    used: int = 0
    differences: list[str] = field(default_factory=list)

    def play(self, case: str) -> None:
        """Try a case and note what it reached."""
        outcome = self.attack.play(choice_of(case), random.Random(f"{case} rows"))
        self.tried += 1
        if outcome.difference:
            self.differences.append(f"{case}: {outcome.difference}")
        elif outcome.is_used:
            self.used += 1
            met = {each for each in self.attack.interactions_of(case) if not outcome.idle.intersection(dict(each))}
            new = met - self.interactions
            if new:
                self.interactions |= new
                self.cases[case] = met

    def missed(self) -> list[Interaction]:
        """Return the interactions that were not reached and can be."""
        every = self.attack.every_interaction()
        return [each for each in every if each not in self.interactions and self.attack.why_out_of_reach(each) is None]


def case_name(seed: int, number: int, interaction: Interaction = ()) -> str:
    """Name a case: its seed, its number, and the interaction that it must have."""
    return json.dumps([seed, number, interaction])


def choice_of(case: str) -> Choice:
    seed, number, interaction = json.loads(case)
    chance = random.Random(f"{seed} {number}")
    return random_choice(chance, wanted_for(interaction, chance))


def attack_numbers(attack: Attack, seed: int, numbers: Iterable[int]) -> Reached:
    """Try the cases of these numbers until there is a difference."""
    found = Reached(attack)
    for number in numbers:
        found.play(case_name(seed, number))
        if found.differences:
            break
    return found


def search(attack: Attack, rounds: int, tries: int) -> Reached:
    """Try so many random cases, then so many with each interaction that was not reached."""
    found = Reached(attack)
    for number in range(rounds):
        found.play(case_name(0, number))
    for interaction in attack.every_interaction():
        for number in range(tries):
            if interaction in found.interactions:
                break
            try:
                found.play(case_name(0, number, interaction))
            except ValueError:
                break
    return found


def smallest(cases: Mapping[str, set[Interaction]]) -> list[str]:
    """Return cases that reach all that these do, each with many of those that are left."""
    left = {case: set(met) for case, met in cases.items()}
    chosen = []
    while left:
        best = max(left, key=lambda case: len(left[case]))
        covered = left.pop(best)
        if not covered:
            break
        chosen.append(best)
        for each in left.values():
            each -= covered
    return chosen


def main(name: str) -> int:
    """Search anew and write; return 1 when a difference was found."""
    attack: Attack = import_module(f"tests.pairs.{name}").ATTACK
    found = search(attack, 3_000, 40)
    every = list(attack.every_interaction())
    print(f"{found.tried} cases, {found.used} with a sketch, {len(found.interactions)} interactions of {len(every)}; not reached:")
    print(*(f"{each}: {attack.why_out_of_reach(each)}" for each in every if each not in found.interactions), sep="\n")
    print(*found.differences, sep="\n")
    lines = ",\n".join(smallest(found.cases))
    attack.known.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return bool(found.differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
