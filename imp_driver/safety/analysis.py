"""Resolved plan -> the blocks that may be cut, each with its safe attributes. Everything that decides soundness is asked here, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.plan.attributes import identifiers
from imp_driver.plan.blocks import Block, QueryBlock, find_blocks, lifted, over_columns
from imp_driver.plan.nodes import Plan, Scan, scans
from imp_driver.plan.outputs import output_types
from imp_driver.plan.render import read_identifiers
from imp_driver.plan.rows import row_blocks
from imp_driver.ports import COLLATED, NESTED_CHAR
from imp_driver.reasons import Reason
from imp_driver.safety.cuts import Cut, KeyCuts, find_cuts, refused_by
from imp_driver.safety.partial import may_be_partial
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import judge
from imp_driver.values.refusal import Grounds, Refused, accepted


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A block with its safe attributes.

    Attributes:
        plan: the same as a plan of its own.
        lifted: the same with its row conditions on keys made conditions on groups; None when it has none.
        scans: every occurrence that the block reads, cut or not.
        columns: types of the columns that the block is over.
        by_key: per safe group key, by its index, what it cuts; none where only a column that is no key may be cut.
        refused: why no key may be cut.
        may_tie: the block's top-k must be found decided at each use; when it is not, or the block is not in use, the query runs unchanged.
    """

    block: QueryBlock
    plan: Block
    lifted: QueryBlock | None
    scans: tuple[Scan, ...]
    columns: Mapping[str, pa.DataType | None]
    by_key: Mapping[int, KeyCuts]
    may_tie: bool = False
    refused: Grounds | None = None

    @property
    def safe(self) -> tuple[int, ...]:
        """Indexes of group keys, each a plain column."""
        return tuple(self.by_key)

    @property
    def cuts(self) -> Mapping[int, tuple[Cut, ...]]:
        """The occurrences that each safe key cuts."""
        return {index: each.cuts for index, each in self.by_key.items()}

    @property
    def derivation(self) -> tuple[str, ...]:
        """The proof for the first safe key; empty without one."""
        return next((each.verdict.derivation for each in self.by_key.values()), ())

    def attribute(self, index: int) -> str:
        return self.by_key[index].cuts[0].attribute.name


def analyse(plan: Plan) -> tuple[Analysis, ...]:
    """Return the blocks of a query that may be cut.

    Raises:
        Refused: the query's answer depends on chance, no block has a safe attribute, or a block whose top-k may tie has none.
    """
    whole = judge(plan, Setting(Assignment({})))
    if not whole.is_safe:
        raise refused_by(whole)
    undecided = whole.needs.undecided
    try:
        return _grouped(find_blocks(plan), undecided)
    except Refused:
        rows = () if undecided else row_blocks(plan)
        if not rows:
            raise
        return tuple(accepted(_of_rows, rows))


def _grouped(blocks: tuple[Block, ...], undecided: tuple[Plan, ...]) -> tuple[Analysis, ...]:
    ends = [block.ends_in for block in blocks]
    for top in undecided:
        if not any(top is end for end in ends):
            raise Refused(Reason.ORDER_NOT_TOTAL, "add a unique column, or all columns, at the end of ORDER BY")

    def may_tie(block: Block) -> bool:
        return any(top is block.ends_in for top in undecided)

    return tuple(accepted(lambda block: _analysed(block, may_tie(block)), blocks, may_tie))


def _analysed(block: Block, may_tie: bool) -> Analysis:
    by_key: dict[int, KeyCuts] = {}
    refused: Grounds | None = None
    for index in range(len(block.query.keys)):
        try:
            by_key[index] = find_cuts(block, index)
        except Refused as refusal:
            refused = refusal.grounds if refused is None or refused.reason is Reason.NO_PLAIN_GROUP_KEY else refused
    if not by_key and refused is not None and not may_be_partial(block):
        raise Refused.on(refused)
    check_collations(block)
    query = over_columns(block.query)
    may_tie = may_tie or any(each.verdict.needs.undecided for each in by_key.values())
    return Analysis(query, block, lifted(query), scans(query.source), _types(query.source), by_key, may_tie, None if by_key else refused)


def analysed_groups(block: Block) -> Analysis:
    """Return a block all groups of which are asked for, so that none of its attributes is cut. Raises Refused for text with a collation."""
    check_collations(block)
    query = over_columns(block.query)
    return Analysis(query, block, lifted(query), scans(query.source), _types(query.source), {})


def _of_rows(block: Block) -> Analysis:
    check_collations(block)
    query = over_columns(block.query)
    refused = Grounds(
        Reason.NOT_CLUSTERED,
        "rows without groups are cut on columns that the files are clustered by, if the query has no condition on them",
    )
    return Analysis(query, block, None, scans(query.source), _types(query.source), {}, refused=refused)


def check_collations(block: Block) -> None:
    """Refuse a block that computes with text which Spark compares by other rules than those of its value alone.

    Changed rows come without these rules, so Spark would group and compare them by their bytes.

    Raises:
        Refused: it names the column.
    """
    query = block.query
    expressions = (*query.keys, *query.functions, *query.where, *query.having, *(key.expression for key in query.order))
    read = read_identifiers(query.source).union(*map(identifiers, expressions))
    for attribute in (each for scan in scans(query.source) for each in scan.output):
        if attribute.identifier in read and attribute.type_name in (COLLATED, NESTED_CHAR):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"{attribute.name}: text with a collation, or CHAR inside a nested column")


def _types(source: Plan) -> dict[str, pa.DataType | None]:
    """Return Arrow types by the names that a block over the source uses."""
    types = output_types(source)
    by_name = isinstance(source, Scan)
    return {(each.name if by_name else each.identifier): types.get(each.identifier) for each in source.output}
