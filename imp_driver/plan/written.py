"""Blocks as texts over their source and back, for states that outlive the process: which groups they are of, and what these hold."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import pyarrow as pa
from sqlglot import exp

from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock, with_groups_of
from imp_driver.plan.conditions import parsed, written_nodes
from imp_driver.plan.convert import row_expression
from imp_driver.values.aggregates import AccumulatorKind, AggregateSpecification, Share, ValueForm


@dataclass(frozen=True, slots=True)
class WrittenAggregate:
    """``kind`` and ``form`` are names of theirs, ``type`` is that of the argument as an Arrow schema; ``share`` as of a percentile."""

    kind: str
    form: str
    type: str | None
    argument: str | None
    share: Mapping[str, float | bool] | None = None


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    keys: tuple[str, ...]
    conditions: tuple[str, ...]
    aggregates: tuple[WrittenAggregate, ...]


def written_block(block: BoundBlock) -> WrittenBlock | None:
    """Return a block as texts; None where the parser would not read exactly its expressions back."""
    arguments = [each.argument_node for each in block.aggregates if each.argument_node is not None]
    is_read_back = all(written_nodes(nodes) is not None for nodes in (block.key_nodes, block.where_nodes, arguments))
    return as_texts(block) if is_read_back else None


def as_texts(block: BoundBlock) -> WrittenBlock:
    """Return a block as texts, whether the parser would read them back or not."""
    return WrittenBlock(block.keys_sql, block.where_texts, tuple(map(_written, block.aggregates)))


def _written(aggregate: BoundAggregate) -> WrittenAggregate:
    found = aggregate.specification
    share = None if found.share is None else asdict(found.share)
    return WrittenAggregate(found.kind.name, found.form.name, _text_of(found.argument_type), aggregate.argument_sql, share)


def block_of(written: WrittenBlock, like: BoundBlock, types: Mapping[str, pa.DataType | None]) -> BoundBlock | None:
    """Return a written block over the source of another one, all groups of it; None where it cannot be read.

    What it is of is certain only where its identity is that of the written one (maintain/identity.py).
    """
    keys, conditions = parsed(written.keys), parsed(written.conditions)
    arguments = parsed([each.argument for each in written.aggregates if each.argument is not None])
    if keys is None or conditions is None or arguments is None:
        return None
    nodes = iter(arguments)
    try:
        aggregates = tuple(_bound(each, None if each.argument is None else next(nodes), types) for each in written.aggregates)
    except (KeyError, TypeError, ValueError, pa.ArrowException):
        return None
    return with_groups_of(like, keys, conditions, aggregates, types)


def _bound(written: WrittenAggregate, argument: exp.Expr | None, types: Mapping[str, pa.DataType | None]) -> BoundAggregate:
    share = None if written.share is None else Share(**written.share)  # type: ignore[arg-type]
    kind, form = AccumulatorKind[written.kind], ValueForm[written.form]
    specification = AggregateSpecification(kind, form, _type_of(written.type), share)
    return BoundAggregate(specification, written.argument, None if argument is None else row_expression(argument, types), argument)


def _text_of(data_type: pa.DataType | None) -> str | None:
    return None if data_type is None else base64.b64encode(pa.schema([("value", data_type)]).serialize().to_pybytes()).decode("ascii")


def _type_of(text: str | None) -> pa.DataType | None:
    return None if text is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text))).field("value").type
