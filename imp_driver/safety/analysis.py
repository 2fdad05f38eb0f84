"""Resolved plan -> the blocks that may be cut, each with its safe attributes. Everything that decides soundness is asked here, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from imp_driver.parse.supported import Refused, accepted
from imp_driver.parse.types import arrow_type
from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.blocks import Block, QueryBlock, find_blocks, lifted
from imp_driver.plan.nodes import Plan, Scan
from imp_driver.reasons import Reason
from imp_driver.safety.levels import Refusal
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A block with its safe attributes.

    Attributes:
        lifted: the same with its row conditions on keys made conditions on groups; None when it has none.
        safe: indexes of group keys, each a plain column.
        derivation: proof for the first of them.
    """

    block: QueryBlock
    lifted: QueryBlock | None
    scan: Scan
    columns: Mapping[str, pa.DataType | None]
    safe: tuple[int, ...]
    derivation: tuple[str, ...]

    def attribute(self, index: int) -> str:
        return self.block.keys[index].unnest().name


def analyse(plan: Plan) -> tuple[Analysis, ...]:
    """Return the blocks of a query that may be cut.

    Raises:
        Refused: the query's answer depends on chance, or no block has a safe attribute.
    """
    whole = judge(plan, Setting(Assignment({})))
    if not whole.is_safe:
        raise _refused(whole)
    return tuple(accepted(_analysed, find_blocks(plan)))


def _analysed(block: Block) -> Analysis:
    columns = {attribute.name: arrow_type(attribute.type_name or "") for attribute in block.scan.output}
    identifiers = {attribute.name: attribute.identifier for attribute in block.scan.output}
    safe: list[int] = []
    verdicts: list[Verdict] = []
    refusal: Verdict | None = None
    for index, key in enumerate(block.query.keys):
        if plain_identifier(key) is None or not _can_be_cut(columns.get(key.unnest().name)):
            continue
        assignment = Assignment({block.scan.occurrence: identifiers[key.unnest().name]})
        verdict = judge(block.top, Setting(assignment, may_pin=False))
        if verdict.is_safe:
            safe.append(index)
            verdicts.append(verdict)
        else:
            refusal = verdict
    if not safe:
        raise Refused(Reason.NO_PLAIN_GROUP_KEY) if refusal is None else _refused(refusal)
    return Analysis(block.query, lifted(block.query), block.scan, columns, tuple(safe), verdicts[0].derivation)


def _refused(verdict: Verdict) -> Refused:
    reason = Reason.ORDER_NOT_TOTAL if verdict.refusal is Refusal.ORDER_NOT_TOTAL else Reason.NOT_SAFE
    return Refused(reason, verdict.step.derived.note)


def _can_be_cut(kind: pa.DataType | None) -> bool:
    """Booleans have two values only; types without an Arrow form here have no order that both sides share."""
    return kind is not None and not pa.types.is_boolean(kind)
