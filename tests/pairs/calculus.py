"""Attack on the calculus by pairs of features: the queries of the grammar, cut in ways that it calls safe."""

from __future__ import annotations

import random

from tests.pairs.cover import Attack
from tests.pairs.grammar import OUT_OF_REACH, QUERY, Choice, text_of
from tests.soundness.attack import attack_text


def play(choice: Choice, chance: random.Random) -> bool | str:
    """Cut the query of a choice; return whether some cut was safe and left rows out, or what was wrong."""
    tally = attack_text(text_of(choice, chance), chance)
    return str(tally.differences[0]) if tally.differences else tally.triples + tally.by_key > 0


ATTACK = Attack("calculus", play, QUERY, OUT_OF_REACH)
