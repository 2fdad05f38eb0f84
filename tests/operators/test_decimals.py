"""Decimals computed in 64 bits where they fit, against the same in Python's integers."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.expression import decimals
from imp_driver.dataflow.expression.decimals import combined, with_type
from imp_driver.dataflow.expression.refusal import NotEvaluable

KINDS = st.builds(
    lambda precision, scale: pa.decimal128(precision, min(scale, precision)),
    st.integers(1, 38) | st.sampled_from([15, 18, 19]),
    st.integers(0, 20),
)


def arrays(data: st.DataObject, kind: pa.Decimal128Type, count: int) -> pa.Array:
    digits = st.integers(0, kind.precision).flatmap(lambda few: st.integers(1 - 10**few, 10**few - 1))
    numbers = data.draw(st.lists(st.none() | digits, min_size=count, max_size=count))
    return pa.array([None if number is None else Decimal(number).scaleb(-kind.scale) for number in numbers], kind)


def found(compute: str, left: pa.Array, right: pa.Array, kind: pa.Decimal128Type) -> pa.Array | str:
    try:
        return with_type(left, kind) if compute == "cast" else combined(compute, left, right, kind)
    except NotEvaluable as error:
        return str(error)


@given(st.data())
def test_results_are_the_same_in_64_bits_and_beyond(data: st.DataObject) -> None:
    compute, count = data.draw(st.sampled_from(["*", "+", "-", "/", "%", "cast"])), data.draw(st.integers(0, 4))
    left, right = (arrays(data, data.draw(KINDS), count) for _ in range(2))
    kind = data.draw(KINDS)
    narrow = found(compute, left, right, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decimals, "_MOST_NARROW", 0)
        assert found(compute, left, right, kind) == narrow


def test_money_is_multiplied_in_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = pa.array([Decimal("104949.50"), None], pa.decimal128(15, 2))
    shares = pa.array([Decimal("0.95"), Decimal("1.00")], pa.decimal128(16, 2))
    kinds = []
    decode = decimals.decimals_of

    def seen(values: decimals.Whole, *others: object) -> pa.Array:
        kinds.append(values.dtype.name)
        return decode(values, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(decimals, "decimals_of", seen)
    assert combined("*", prices, shares, pa.decimal128(32, 4)).to_pylist() == [Decimal("99702.0250"), None]
    assert kinds == ["int64"]
