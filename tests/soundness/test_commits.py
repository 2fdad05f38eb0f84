"""Random commits on tables with and without the change feed, read side by side; no JVM."""

from __future__ import annotations

from imp_driver.reasons import DeltaSource
from tests.seeds import SEED, WIDE
from tests.soundness.commit_attack import CommitTally, attack_commits

COMMITS = 20_000 if WIDE else 300
IN_PROCESS = [each for each in DeltaSource if not each.name.startswith("SPARK") and each is not DeltaSource.SUPPOSED]


def test_changes_are_the_same_with_and_without_the_feed() -> None:
    tally, number = CommitTally(), 0
    while tally.commits < COMMITS and not tally.differences:
        attack_commits(SEED, number, tally)
        number += 1
    assert not tally.differences, "\n".join(tally.differences)
    assert not tally.unavailable
    # Both ways were tried, and each of the ways without a feed.
    assert all(tally.sources[source] > COMMITS / 20 for source in IN_PROCESS), tally.sources
