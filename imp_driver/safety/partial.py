"""Cuts on columns that are no group key: groups may be there in part, and the sketch covers what the proof asks for (rules 1.5, 1.6).

Such a cut may stand beside others of the same block, each with fragments of its own (IMP paper 4.1, example 5.1; rules 1.9): they are
judged together, since what one leaves of a group is what the others find there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from imp_driver.plan.blocks import Block
from imp_driver.plan.linear import is_linear
from imp_driver.plan.nodes import Aggregate, Filter, Plan, Scan, TopK, scans
from imp_driver.safety.cuts import Cut, KeyCuts, assignment_of, can_be_cut
from imp_driver.safety.intervals import Interval
from imp_driver.safety.setting import Assignment, Facts, Setting
from imp_driver.safety.verdict import judge


@dataclass(frozen=True, slots=True, eq=False)
class PartialCuts:
    """Cuts that are safe together, with what the sketch of each must cover.

    Attributes:
        conjuncts: how many conditions on groups the block has.
        conditions: indexes of the block's conditions on groups that the sketches are made for; the others are left out (relaxed capture).
        has_limit: the sketches are for the first groups only.
        may_tie: the proof holds while no row ties where the first groups end.
        facts: what the proof rests on beside the query; they held when it was made.
    """

    conjuncts: int
    conditions: frozenset[int]
    has_limit: bool
    may_tie: bool
    facts: frozenset[str]
    derivation: tuple[str, ...]


def candidates(block: Block) -> Iterator[Cut]:
    """Yield every column that can be cut of the tables whose rows reach the groups one by one, with the column still there."""
    source = block.query.source
    visible = {attribute.identifier for attribute in source.output}
    for scan in scans(source):
        if is_linear(source, scan.occurrence):
            cuts = (Cut(scan, attribute) for attribute in scan.output if attribute.identifier in visible)
            yield from filter(can_be_cut, cuts)


def judge_partial(
    block: Block, cuts: Iterable[Cut], facts: Facts, *, checks_overflow: bool, keys: KeyCuts | None = None
) -> PartialCuts | None:
    """Return what cuts must cover that are safe together; None where they are not, or where the block's groups do not say that.

    ``keys`` are cut too, by one common set of fragments: those of a key that all of them equal in every row.
    """
    if keys is not None and not keys.is_equal:
        return None
    own = {cut.scan.occurrence: cut.attribute.identifier for cut in cuts}
    common = Assignment({}) if keys is None else assignment_of(keys.cuts)
    assignment = Assignment({**common.columns, **own}, common.common)
    verdict = judge(block.top, Setting(assignment, facts, checks_overflow))
    covered = _covered(block, verdict.needs.pins) if verdict.is_safe else None
    if covered is None:
        return None
    return PartialCuts(len(block.query.having), *covered, bool(verdict.needs.undecided), verdict.needs.facts, verdict.derivation)


def may_be_partial(block: Block) -> bool:
    """Say whether some column may be cut with the right facts about the data."""
    return any(judge_partial(block, [cut], _AllFacts(), checks_overflow=True) is not None for cut in candidates(block))


class _AllFacts:
    """Everything is as a proof would have it: neither negative nor positive."""

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        return Interval(Decimal(0), Decimal(0))


def _covered(block: Block, pins: tuple[Plan, ...]) -> tuple[frozenset[int], bool] | None:
    """Return which conditions and whether the order decide what is covered; None when the proof covers something else."""
    top = block.top
    if block.of_rows:
        return (frozenset(), False) if all(pin is top for pin in pins) else None
    filtered = top.child if isinstance(top, TopK) else top
    conjuncts = filtered.conjuncts if isinstance(filtered, Filter) else ()
    groups = filtered.child if isinstance(filtered, Filter) else filtered
    if not isinstance(groups, Aggregate):
        return None
    if all(pin is top for pin in pins):
        return frozenset(range(len(conjuncts))), isinstance(top, TopK)
    if all(isinstance(pin, Filter) and pin.child is groups for pin in pins):
        # Several pins are covered by what each of them asks for.
        kept = [{id(each) for each in pin.conjuncts} for pin in pins if isinstance(pin, Filter)]
        return frozenset(place for place, each in enumerate(conjuncts) if all(id(each) in own for own in kept)), False
    return None


def name_in(block: Block, cut: Cut) -> str:
    """Return what the block in its one form calls the column."""
    return cut.attribute.name if isinstance(block.query.source, Scan) else cut.attribute.identifier
