"""What is known of a query's text while its names stand for the same tables: its plan, and what each reader makes of it when it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from imp_driver.parse.moment import NAMES, with_moment
from imp_driver.parse.statement import Statement
from imp_driver.parse.template import VIEW_MARK, template_text
from imp_driver.plan.bags import with_bags
from imp_driver.plan.best import with_best
from imp_driver.plan.bind import BoundBlock, Once
from imp_driver.plan.check import checked_tree
from imp_driver.plan.context import Definition, Tables, ViewDefinition
from imp_driver.plan.early_groups import with_early_groups
from imp_driver.plan.groupings import groupings, ungrouped, with_groups
from imp_driver.plan.keys_above import with_keys_above
from imp_driver.plan.memberships import with_joins
from imp_driver.plan.nested import with_nested
from imp_driver.plan.nodes import Aggregate, Plan, Project, Scan, Sort, TopK, scans
from imp_driver.plan.products import with_products
from imp_driver.plan.recursion import has_recursion
from imp_driver.plan.resolve import resolve
from imp_driver.plan.scalars import with_constants
from imp_driver.plan.shared import with_shared
from imp_driver.plan.tops import Top, with_top
from imp_driver.plan.zones import Times
from imp_driver.reasons import Reason
from imp_driver.safety.analysis import Analysis, analyse, analysed_groups
from imp_driver.safety.cuts import Cut
from imp_driver.values.refusal import FoundT, Grounds, Refused

Blocks: TypeAlias = tuple[BoundBlock, BoundBlock | None]


@dataclass(frozen=True, slots=True, eq=False)
class CutBlocks:
    """The blocks of a query that may be cut.

    Attributes:
        numbers: one per block; blocks that are readings of one text have the same, and so one state where all else is equal.
    """

    analyses: tuple[Analysis, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """A query with rows from groups: its plan with the order of its rows, and the aggregations that are maintained.

    Attributes:
        others: the occurrences of tables whose rows reach it otherwise.
        bags: those aggregations that have equal rows for groups, and that the plan reads as so many rows.
        constants: subqueries that are computed first, each with the marker that has its value in the plan.
        otherwise: the same query with these subqueries inside its groups, where they are no constants that can be had.
        first: the number of the first of ``parts`` among those of the whole query, the constants' included.
        top: how the only one of ``parts`` is kept up to a threshold; ``otherwise`` is the same query with all rows.
    """

    plan: Plan
    parts: tuple[tuple[Aggregate, Analysis], ...]
    others: tuple[Scan, ...]
    bags: tuple[Aggregate, ...] = ()
    constants: tuple[tuple[str, Grouped], ...] = ()
    otherwise: Grouped | None = None
    first: int = 0
    top: Top | None = None

    @property
    def count(self) -> int:
        """Parts of the whole query."""
        return len(self.parts) + sum(each.count for _, each in self.constants)

    @property
    def has_rows(self) -> bool:
        """Whether rows of tables are kept as groups of equal rows for it."""
        return bool(self.bags) or any(each.has_rows for _, each in self.constants)


@dataclass(slots=True, eq=False)
class Text:
    """A text when its names stood for ``definitions``.

    Attributes:
        plan: with the order of its rows, unless ``unordered`` says why that is not understood.
        scans: every occurrence of a table, one per place in the text.
        times_read: how many occurrences a place in the text has, by its ``id``.
        blocks: those that have no markers, bound, by the ``id`` of their analyses and the zone of the session.
        without_markers: those that are answered from, likewise; the grounds of one that cannot be bound without values.
        times: how times are read in expressions of plans and analyses, likewise; ``once`` has what was made of those without markers.
        with_values: the plans that are answered from, by their own ``id``, likewise, where no marker is in them.
        signatures: what tells the rows of the aggregations of these plans from others' (plan/signature.py), by the ``id`` of a plan, then
            of the aggregation, which the plan keeps.
        asked: the markers of the plan for the day and the time at which it is run.
    """

    definitions: Mapping[tuple[str, ...], Definition]
    template_text: str
    plan: Plan | Grounds
    unordered: Grounds | None
    scans: tuple[Scan, ...]
    times_read: Mapping[int, int]
    blocks: dict[tuple[int, str], Blocks] = field(default_factory=dict)
    without_markers: dict[tuple[int, str], Blocks | Grounds] = field(default_factory=dict)
    times: dict[tuple[int, str], Times] = field(default_factory=dict)
    once: dict[tuple[int, str], Once] = field(default_factory=dict)
    with_values: dict[tuple[int, str], Plan] = field(default_factory=dict)
    signatures: dict[int, Mapping[int, str]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    _has_recursion: bool | None = None
    _plan_of_groups: Plan | None = None
    _cut: CutBlocks | Grounds | None = None
    _grouped: Grouped | Grounds | None = None
    _above: Grouped | Grounds | None = None
    _with_rows: Grouped | Grounds | None = None
    _inner: Grouped | Grounds | None = None

    @property
    def has_recursion(self) -> bool:
        """Whether it has a recursive relation, which this driver alone computes."""
        if self._has_recursion is None:
            self._has_recursion = not isinstance(self.plan, Grounds) and has_recursion(self.plan)
        return self._has_recursion

    @property
    def views_text(self) -> str:
        """The part of the template's text that the views of the query are; empty without any."""
        return self.template_text.partition(VIEW_MARK)[2]

    def whole(self) -> Plan:
        """Return the plan of the query with the order of its rows. Raises Refused where that is not understood."""
        return self._ordered()

    def cut(self) -> CutBlocks:
        """Return the blocks that may be cut. Raises Refused where there is none."""
        if self._cut is None:
            self._cut = _found(self._cut_blocks)
        return _given(self._cut)

    def grouped(self) -> Grouped:
        """Return the query as operators above maintained groups. Raises Refused where no rows come from groups."""
        if self._grouped is None:
            self._grouped = _found(self._groups)
        return _given(self._grouped)

    def above(self) -> Grouped | None:
        """Return the query as ``grouped`` with all conditions on keys above the groups; None where it needs more than groups for that."""
        if self._above is None:
            self._above = _found(self._groups_alone)
        return None if isinstance(self._above, Grounds) else self._above

    def with_rows(self) -> Grouped | None:
        """Return the query as ``grouped``, with rows that are not grouped as groups of equal rows; None where it has no such rows."""
        if self._with_rows is None:
            self._with_rows = _found(lambda: self._first_rows() or self._rows())
        return None if isinstance(self._with_rows, Grounds) else self._with_rows

    def inner(self) -> Grouped | None:
        """Return the query as ``with_rows``, with groups of groups evaluated above these and the rows that they meet; None without any."""
        if self._inner is None:
            self._inner = _found(self._inner_groups)
        return None if isinstance(self._inner, Grounds) else self._inner

    def _inner_groups(self) -> Grouped:
        found, known = _over_groups(self._ordered(), with_rows=True, beside_groups=True), self.with_rows()
        if not found.bags or found.constants or (known is not None and len(known.bags) == len(found.bags)):
            raise Refused(Reason.ROWS_WITHOUT_GROUPS)
        return found

    def _resolved(self) -> Plan:
        if isinstance(self.plan, Grounds):
            raise Refused.on(self.plan)
        return self.plan

    def _cut_blocks(self) -> CutBlocks:
        plan = self._resolved()
        if has_recursion(plan):
            raise Refused(Reason.RECURSION, "no sketch is made of a query with WITH RECURSIVE by UNION")
        if self.asked:
            # Spark would read the clock again.
            raise Refused(Reason.NON_DETERMINISTIC, ", ".join(sorted(self.asked)))
        if len({scan.occurrence for scan in scans(plan)}) < len(scans(plan)):
            # The same rows are grouped several times: no rule covers a cut of one of these groups.
            raise Refused(Reason.GROUPING_SETS)
        found = analyse(_without_order(plan))
        analyses = tuple(analysis for analysis in found if _may_be_cut(analysis, found, self.times_read))
        if not analyses or any(analysis.may_tie and analysis not in analyses for analysis in found):
            raise Refused(Reason.READ_TWICE)
        return CutBlocks(analyses, _numbers(analyses))

    def _groups(self) -> Grouped:
        if self.has_recursion:
            if self.scans:
                raise Refused(Reason.RECURSION, "no column is read of one of its tables, or none whose values are told apart in process")
            return Grouped(self._ordered(), (), ())
        return _over_groups(self._ordered(), with_rows=False)

    def _groups_alone(self) -> Grouped:
        plan = self._ordered()
        above = with_keys_above(plan)
        found = self.grouped() if above is plan else _over_groups(above, with_rows=False)
        if found.constants or found.others:
            raise Refused(Reason.ROWS_WITHOUT_GROUPS)
        return found

    def _rows(self) -> Grouped:
        found = _over_groups(self._ordered(), with_rows=True)
        if not found.has_rows:
            # All rows come from groups.
            self._grouped = found
            raise Refused(Reason.ROWS_WITHOUT_GROUPS)
        return found

    def _first_rows(self) -> Grouped | None:
        """Return the query with the rows that it takes its first ones from; None where they are taken from several places, or groups."""
        found = with_top(self._ordered())
        if found is None:
            return None
        whole, first = self._rows(), _over_groups(found[0], with_rows=True)
        is_whole = all(len(each.bags) == len(each.parts) == 1 and not each.constants and not each.others for each in (whole, first))
        return replace(first, top=found[1], otherwise=whole) if is_whole else None

    def _ordered(self) -> Plan:
        plan = self._resolved()
        if self.unordered is not None:
            raise Refused.on(self.unordered)
        if self._plan_of_groups is None:
            # What is merged from finer groups is this driver's alone, and rounds of a recursion may be Spark's.
            apart = plan if self.has_recursion else with_products(plan)
            joined = with_early_groups(with_joins(apart, is_nested=not self.has_recursion))
            self._plan_of_groups = with_groups(joined if self.has_recursion else with_shared(with_nested(joined)))
        return self._plan_of_groups


def _over_groups(plan: Plan, *, with_rows: bool, first: int = 0, beside_groups: bool = False) -> Grouped:
    whole = _with_parts(plan, with_rows=with_rows, first=first, beside_groups=beside_groups)
    if has_recursion(plan):
        # Values of its subqueries change what it is given, which is followed; as constants they would have rows captured again.
        return whole
    plan, subqueries = with_constants(plan)
    constants: list[tuple[str, Grouped]] = []
    try:
        for each in subqueries:
            constants.append((each.marker, _over_groups(each.subquery, with_rows=with_rows, first=first, beside_groups=beside_groups)))
            first += constants[-1][1].count
        found = _with_parts(plan, with_rows=with_rows, first=first, beside_groups=beside_groups) if constants else whole
    except Refused:
        return whole
    return replace(found, constants=tuple(constants), otherwise=whole) if constants else whole


def _with_parts(plan: Plan, *, with_rows: bool, first: int, beside_groups: bool) -> Grouped:
    plan, bags = with_bags(plan, beside_groups=beside_groups) if with_rows else (plan, ())
    found = groupings(plan)
    if not {id(bag) for bag in bags} <= {id(each.aggregate) for each in found}:
        # Below groups that are captured as a whole each of these rows would be there once.
        raise Refused(Reason.ROWS_WITHOUT_GROUPS, "rows that can be kept stand beside others below the same groups")
    parts = tuple((each.aggregate, analysed_groups(each.block)) for each in found)
    return Grouped(plan, parts, ungrouped(plan, [each.aggregate for each in found]), bags, first=first)


def known_text(statement: Statement, tables: Tables, definitions: Mapping[tuple[str, ...], Definition]) -> Text:
    """Resolve a text; what it is refused for is kept with it. ``definitions`` has those of its names once these were found."""
    unordered = None
    try:
        tree, asked_here = with_moment(checked_tree(statement))
        asked = set(asked_here)
        try:
            plan = with_best(resolve(tree, tables, keeps_order=True, asked=asked))
        except Refused as refused:
            unordered = refused.grounds
            plan = resolve(tree, tables, asked=asked)
        if asked:
            _check_no_column(definitions)
    except Refused as refused:
        return Text(definitions, "", refused.grounds, None, (), {})
    every = tuple({scan.occurrence: scan for scan in scans(plan)}.values())
    places = {id(scan.place): scan for scan in every}
    times_read = Counter(id(scan.place) for scan in every)
    text = template_text(tree) + _views_text(every)
    return Text(definitions, text, plan, unordered, tuple(places.values()), times_read, asked=frozenset(asked))


def _check_no_column(definitions: Mapping[tuple[str, ...], Definition]) -> None:
    """Raise Refused where a table or a view has a column that is written as the day or the time is."""
    for name, found in definitions.items():
        columns = found.view.columns if isinstance(found, ViewDefinition) else found.schema
        written_alike = NAMES & {column.name.lower() for column in columns}
        if written_alike:
            raise Refused(Reason.NON_DETERMINISTIC, f"{', '.join(written_alike)}, which is a column of {'.'.join(name)} too")


def _found(find: Callable[[], FoundT]) -> FoundT | Grounds:
    try:
        return find()
    except Refused as refused:
        return refused.grounds


def _given(found: FoundT | Grounds) -> FoundT:
    if isinstance(found, Grounds):
        raise Refused.on(found)
    return found


def _without_order(plan: Plan) -> Plan:
    """Return the plan without the order of its last rows. Raises Refused where a LIMIT takes any of them."""
    match plan:
        case Sort():
            return plan.child
        case TopK() if not plan.order:
            raise Refused(Reason.LIMIT_WITHOUT_ORDER)
        case Project() if isinstance(plan.child, Sort):
            return Project(plan.child.child, plan.output, plan.expressions)
        case _:
            return plan


def _may_be_cut(analysis: Analysis, found: Sequence[Analysis], times_read: Mapping[int, int]) -> bool:
    """Say whether some key of a block cuts only places that the blocks cut as often as they are read.

    A block without such a key may read no place more than once.
    """

    def is_cut_often(cut: Cut) -> bool:
        cuts = [each for other in found for every in other.cuts.values() for each in every if each.scan.place is cut.scan.place]
        return len({each.scan.occurrence for each in cuts if each.attribute.name == cut.attribute.name}) == times_read[id(cut.scan.place)]

    if not analysis.cuts:
        return all(times_read[id(scan.place)] == 1 for scan in analysis.scans)
    return any(all(map(is_cut_often, cuts)) for cuts in analysis.cuts.values())


def _numbers(analyses: Sequence[Analysis]) -> tuple[int, ...]:
    names = [(frozenset(id(scan.place) for scan in each.scans), tuple(key.sql() for key in each.block.keys)) for each in analyses]
    return tuple(names.index(name) for name in names)


def _views_text(every: Iterable[Scan]) -> str:
    """Render the views that a query looks through: the same text over a redefined view is another template (rules 7, case 31)."""
    views = {reference.name: reference.view for scan in every for reference in scan.views}
    return "".join(
        f"{VIEW_MARK}{'.'.join(name)} ({', '.join(f'{each.source} AS {each.name} {each.type_name}' for each in view.columns)}) "
        f"IN {'.'.join(view.namespace)} AS {view.text}"
        for name, view in sorted(views.items(), key=lambda item: item[0])
    )
