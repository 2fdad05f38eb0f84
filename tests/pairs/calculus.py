"""Attack on the calculus by pairs of features: the queries of the grammar, cut in ways that it calls safe."""

from __future__ import annotations

import random

from tests.pairs.cover import Attack, Outcome
from tests.pairs.grammar import OUT_OF_REACH, QUERY, Choice, text_of
from tests.soundness.attack import attack_text


def play(choice: Choice, chance: random.Random) -> Outcome:
    """Cut the query of a choice; what counts is a safe cut that leaves rows out."""
    tally = attack_text(text_of(choice, chance), chance)
    return Outcome(tally.triples + tally.by_key > 0, difference="".join(map(str, tally.differences[:1])))


ATTACK = Attack("calculus", play, QUERY, OUT_OF_REACH)
