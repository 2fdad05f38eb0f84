"""What a block is cut by: a group key that the files are clustered by, else another column that is safe and clustered; then more of them.

Source: sketch-safety rules 4 and 1.9, heuristic order: a group key lies in one fragment, is safe for every condition and serves other
constants.
"""

from __future__ import annotations

from dataclasses import replace

from imp_driver.capture.clustering import FEW_FILES, LARGEST_OVERLAP, cut_files, may_save, overlap, overlap_of
from imp_driver.maintain.data_skipping import own_share
from imp_driver.maintain.facts import SnapshotFacts
from imp_driver.maintain.request import Request
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.blocks import Block
from imp_driver.reasons import Reason
from imp_driver.safety.cuts import Cut
from imp_driver.safety.partial import PartialCuts, candidates, judge_partial
from imp_driver.values.cuts import CutName
from imp_driver.values.refusal import Refused

FEW_LEFT = 0.25
"""Share of a table that its own conditions may leave for a sketch of its rows to be worth a capture."""

LEAST_SAVING = 0.1
"""Share of the bytes of a block's tables that a sketch of one average value must save."""
MOST_CUTS = 3
"""Of one block: each beside a group key costs a query at capture."""


def choose(request: Request) -> tuple[CutName, ...]:
    """Choose what a block is cut by: the one attribute that saves most, and columns of its other tables that are safe beside it.

    Raises:
        Refused: the files are clustered by no safe attribute.
    """
    first = _first(request)
    return _with_others(request, first)


def _first(request: Request) -> CutName:
    analysis = request.analysis
    files = {key: cut_files(cuts, request.snapshots) for key, cuts in analysis.cuts.items()}
    savings = {key: may_save(each, request.bytes) for key, each in files.items()}
    best = max(savings, key=lambda key: round(savings[key], 3), default=None)
    is_clustered = best is not None and overlap_of(files[best]) <= LARGEST_OVERLAP
    if best is not None and is_clustered and savings[best] >= LEAST_SAVING:
        return CutName(request.fragments, best)
    for _, cut in sorted(_clustered(request), key=lambda each: each[0]):
        name = _name_of(request, cut)
        if _partial(request, (name,)) is not None:
            return name
    if best is None:
        assert analysis.refused is not None
        raise Refused.on(analysis.refused)
    raise Refused(Reason.NOT_CLUSTERED, _why_not(analysis.attribute(best), overlap_of(files[best]), savings[best]))


def is_clustered(request: Request, name: CutName) -> bool:
    """Say whether the files are clustered by a cut as they are now; few files always are."""
    files = cut_files(request.cuts_of(name), request.snapshots)
    return sum(len(each.sizes) for each, _ in files) < FEW_FILES or overlap_of(files) <= LARGEST_OVERLAP


def _with_others(request: Request, first: CutName) -> tuple[CutName, ...]:
    """Add a column of each other table, the best clustered first, as long as the proof holds for all together (paper, example 5.1)."""
    names: tuple[CutName, ...] = (first,)
    if len(request.analysis.scans) > 1:
        for _, cut in sorted(_clustered(request), key=lambda each: each[0]):
            taken = {each.scan.occurrence for name in names for each in request.cuts_of(name)}
            more = (*names, _name_of(request, cut))
            if cut.scan.occurrence not in taken and len(names) < MOST_CUTS and _partial(request, more) is not None:
                names = more
    return names


def _name_of(request: Request, cut: Cut) -> CutName:
    return CutName(request.fragments, None, request.analysis.scans.index(cut.scan), cut.attribute.name)


def _why_not(name: str, overlap: float, saving: float) -> str:
    if overlap <= LARGEST_OVERLAP:
        return f"{name} cuts only small tables: at most {saving:.1%} of the bytes that the query reads"
    return f"{name}: an average value is in {overlap:.0%} of the files; try CLUSTER BY or ZORDER BY {name}"


def applied(names: tuple[CutName, ...], request: Request) -> Request:
    """Return the request with its cuts: those on columns that are no keys may cover fewer of the conditions.

    Where the proof for all together fails with these constants, or with the values that the tables have now, the first is cut alone.

    Raises:
        Refused: that is not safe either.
    """
    for some in dict.fromkeys((names if _are_apart(names, request) else names[:1], names[:1])):
        if all(name.key is not None for name in some):
            return replace(request, names=some)
        partial = _partial(request, some)
        if partial is not None:
            lifted = None if request.lifted is None else _covered(request.lifted, partial)
            return replace(request, block=_covered(request.block, partial), lifted=lifted, names=some, partial=partial)
    detail = f"{request.attribute_of(names[0])} is no group key, and with these constants and values a cut on it proves nothing"
    raise Refused(Reason.NOT_SAFE, detail)


def _are_apart(names: tuple[CutName, ...], request: Request) -> bool:
    """Say whether no occurrence is cut twice, and not by two keys: what is proven together is one column of each."""
    occurrences = [cut.scan.occurrence for name in names for cut in request.cuts_of(name)]
    return len(set(occurrences)) == len(occurrences) and sum(name.key is not None for name in names) <= 1


def check_again(request: Request) -> None:
    """Prove the cuts of an applied request anew after its snapshots were replaced.

    Raises:
        Refused: with the values that the tables have now they are not safe, or their sketches must cover something else.
    """
    known = request.partial
    if known is not None:
        found = _partial(request, request.names)
        if found is None or (found.conditions, found.has_limit) != (known.conditions, known.has_limit):
            raise Refused(Reason.NOT_SAFE, "with the values that another change has just brought, the cut on another column proves nothing")


def _covered(block: BoundBlock, partial: PartialCuts) -> BoundBlock:
    # Conditions that were lifted from the rows come first; they are on group keys, which are exact.
    lifted = len(block.having) - partial.conjuncts
    kept = [place for place in range(len(block.having)) if place < lifted or place - lifted in partial.conditions]
    return replace(
        block,
        having_nodes=tuple(block.having_nodes[place] for place in kept),
        having=tuple(block.having[place] for place in kept),
        limit=block.limit if partial.has_limit else None,
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


def _partial(request: Request, names: tuple[CutName, ...]) -> PartialCuts | None:
    """Judge cuts with the constants of this request and the facts of its snapshots; None when they are not safe with them."""
    analysis, facts = request.analysis, SnapshotFacts(request.snapshots)
    keys = next((analysis.by_key[name.key] for name in names if name.key is not None), None)
    cuts = [cut for name in names if name.key is None for cut in request.cuts_of(name)]
    found = judge_partial(analysis.plan, cuts, facts, checks_overflow=request.is_ansi, keys=keys)
    # Whether the first groups are decided is asked of the state, which must then be asked for the first groups.
    is_checked = found is not None and (found.has_limit if analysis.may_tie else not found.may_tie)
    return found if is_checked else None
