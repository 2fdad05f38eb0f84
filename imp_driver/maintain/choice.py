"""Which attribute a block is cut on: a group key that the files are clustered by, else another column that is safe and clustered.

Source: sketch-safety rules 4, heuristic order: a group key lies in one fragment, is safe for every condition and serves other constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from imp_driver.capture.clustering import FEW_FILES, LARGEST_OVERLAP, cut_files, may_save, overlap, overlap_of
from imp_driver.maintain.facts import SnapshotFacts
from imp_driver.maintain.request import Request
from imp_driver.maintain.skipping import own_share
from imp_driver.parse.supported import Refused
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.blocks import Block
from imp_driver.reasons import Reason
from imp_driver.safety.cuts import Cut
from imp_driver.safety.partial import PartialCut, candidates, judge_partial, name_in

FEW_LEFT = 0.25
"""Share of a table that its own conditions may leave for a sketch of its rows to be worth a capture."""

LEAST_SAVING = 0.1
"""Share of the bytes of a block's tables that a sketch of one average value must save."""


@dataclass(frozen=True, slots=True)
class Choice:
    """``key`` is the index of a group key, whose cuts the analysis has; None for ``column``, which is no key.

    ``place`` is that of its scan among the block's own: another reading of the same text has other occurrences in the same order.
    """

    key: int | None
    place: int = -1
    column: str = ""

    def fits(self, request: Request) -> bool:
        """Say whether the block has this attribute; a choice of a former process may be of another reading of the text."""
        if self.key is not None:
            return self.key in request.analysis.cuts
        scans = request.analysis.scans
        return 0 <= self.place < len(scans) and any(each.name == self.column for each in scans[self.place].output)

    def cuts(self, request: Request) -> tuple[Cut, ...]:
        if self.key is not None:
            return request.analysis.cuts[self.key]
        scan = request.analysis.scans[self.place]
        return (Cut(scan, next(each for each in scan.output if each.name == self.column)),)


def choose(request: Request) -> Choice:
    """Choose the attribute of a block.

    Raises:
        Refused: the files are clustered by no safe attribute.
    """
    analysis = request.analysis
    files = {key: cut_files(cuts, request.snapshots) for key, cuts in analysis.cuts.items()}
    savings = {key: may_save(each, request.bytes) for key, each in files.items()}
    best = max(savings, key=lambda key: round(savings[key], 3), default=None)
    is_clustered = best is not None and overlap_of(files[best]) <= LARGEST_OVERLAP
    if best is not None and is_clustered and savings[best] >= LEAST_SAVING:
        return Choice(best)
    for _, cut in sorted(_clustered(request), key=lambda each: each[0]):
        if _partial_cut(request, cut) is not None:
            return Choice(None, analysis.scans.index(cut.scan), cut.attribute.name)
    if best is None:
        assert analysis.refused is not None
        raise Refused.on(analysis.refused)
    raise Refused(Reason.NOT_CLUSTERED, _why_not(analysis.attribute(best), overlap_of(files[best]), savings[best]))


def _why_not(name: str, overlap: float, saving: float) -> str:
    if overlap <= LARGEST_OVERLAP:
        return f"{name} cuts only small tables: at most {saving:.1%} of the bytes that the query reads"
    return f"{name}: an average value is in {overlap:.0%} of the files; try CLUSTER BY or ZORDER BY {name}"


def applied(choice: Choice, request: Request) -> Request:
    """Return the request as the choice changes it: a cut on another column may cover fewer of the conditions.

    Raises:
        Refused: with these constants, or with the values that the tables have now, the cut is not safe.
    """
    if choice.key is not None:
        return request
    cut = choice.cuts(request)[0]
    partial = _partial_cut(request, cut)
    if partial is None:
        raise Refused(
            Reason.NOT_SAFE, f"{cut.attribute.name} is no group key, and with these constants and values a cut on it proves nothing"
        )
    column = name_in(request.analysis.plan, cut)
    lifted = None if request.lifted is None else _covered(request.lifted, partial, column)
    return replace(request, block=_covered(request.block, partial, column), lifted=lifted, partial=partial, column=column)


def check_again(choice: Choice, request: Request) -> None:
    """Prove the cut of an applied request anew after its snapshots were replaced.

    Raises:
        Refused: with the values that the tables have now the cut is not safe, or the sketch must cover something else.
    """
    known = request.partial
    if known is not None:
        found = _partial_cut(request, choice.cuts(request)[0])
        if found is None or (found.conditions, found.has_limit) != (known.conditions, known.has_limit):
            raise Refused(Reason.NOT_SAFE, "with the values that another change has just brought, the cut on another column proves nothing")


def _covered(block: BoundBlock, partial: PartialCut, column: str) -> BoundBlock:
    # Conditions that were lifted from the rows come first; they are on group keys, which are exact.
    lifted = len(block.having) - partial.conjuncts
    kept = [place for place in range(len(block.having)) if place < lifted or place - lifted in partial.conditions]
    return replace(
        block,
        having_nodes=tuple(block.having_nodes[place] for place in kept),
        having=tuple(block.having[place] for place in kept),
        limit=block.limit if partial.has_limit else None,
        columns=tuple(dict.fromkeys((*block.columns, column))),
    )


def _clustered(request: Request) -> list[tuple[float, Cut]]:
    """Return the columns that the files of a table are clustered by, with their overlap."""
    found = []
    plan = request.analysis.plan
    # Rows that Delta finds by the query's own conditions need no sketch.
    few_left = {scan.occurrence for scan in request.analysis.scans if plan.of_rows and own_share(request, scan) <= FEW_LEFT}
    for cut in candidates(plan):
        files = request.snapshots[cut.scan.table].files
        if len(files.sizes) < FEW_FILES or cut.scan.occurrence in few_left or (plan.of_rows and _is_compared(plan, cut)):
            continue
        share = overlap(files, cut.attribute.name)
        if share <= LARGEST_OVERLAP and may_save([(files, cut.attribute.name)], request.bytes) >= LEAST_SAVING:
            found.append((share, cut))
    return found


def _is_compared(plan: Block, cut: Cut) -> bool:
    """Say whether a condition compares the column with constants."""
    return any(identifiers(each) == {cut.attribute.identifier} for each in plan.query.where)


def _partial_cut(request: Request, cut: Cut) -> PartialCut | None:
    """Judge a cut with the constants of this request and the facts of its snapshots; None when it is not safe with them."""
    # Unset it is on, since Spark 4.
    checks_overflow = dict(request.settings).get("spark.sql.ansi.enabled", "None") in ("true", "None")
    found = judge_partial(request.analysis.plan, cut, SnapshotFacts(request.snapshots), checks_overflow=checks_overflow)
    may_tie = request.analysis.may_tie
    # Whether the first groups are decided is asked of the state, which must then be asked for the first groups.
    is_checked = found is not None and (found.has_limit if may_tie else not found.may_tie)
    return found if is_checked else None
