"""Sums of up to 128 bits over slots, against Python's integers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.aggregate.decimals import _MOST_DIVIDED, _quotients
from imp_driver.dataflow.aggregate.limbs import Limbs, limbs_of
from imp_driver.dataflow.aggregate.roll_up import RollUp
from imp_driver.dataflow.aggregate.wide_sums import WideSums
from imp_driver.values.codes import Codec

DECIMAL = pa.decimal128(38, 0)
EDGES = st.sampled_from([sign * 2**bits + more for bits in (31, 32, 62, 63, 64, 96) for sign in (1, -1) for more in (-1, 0, 1)])
SMALL = st.integers(-3, 3)
NUMBERS = SMALL | EDGES | st.integers(1 - 10**38, 10**38 - 1)


def limbs(numbers: list[int]) -> Limbs:
    codes = np.empty(len(numbers), dtype=object)
    codes[:] = numbers
    return limbs_of(Codec(DECIMAL).decode(codes, np.zeros(len(numbers), dtype=bool)))


@given(st.data())
def test_numbers_are_those_that_were_put(data: st.DataObject) -> None:
    twin = data.draw(st.lists(data.draw(st.sampled_from([SMALL, NUMBERS])), max_size=5))
    sums = WideSums(limbs(twin))
    for _ in range(data.draw(st.integers(0, 6))):
        more = data.draw(st.lists(data.draw(st.sampled_from([SMALL, EDGES, NUMBERS])), min_size=1, max_size=3))
        first = data.draw(st.integers(0, len(twin)))
        twin += [0] * len(more)
        sums.grow(len(twin))
        sums.put(np.arange(first, first + len(more)), limbs(more))
        twin[first : first + len(more)] = more
        places = np.array(data.draw(st.lists(st.integers(0, len(twin) - 1), max_size=4)), dtype=np.int64)
        for slots, expected in ((slice(len(twin)), twin), (places, [twin[place] for place in places])):
            assert sums.integers(slots).tolist() == expected
            assert WideSums(sums.at(slots)).integers(slice(len(expected))).tolist() == expected
            assert np.allclose(sums.floats(slots), np.array(expected, dtype=np.float64), rtol=1e-15, atol=0)
        numbers = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(places), max_size=len(places))), dtype=np.int64)
        together = sums.rolled_up(places, RollUp(numbers, 3)).integers(slice(3)).tolist()
        assert together == [sum(twin[place] for place, group in zip(places, numbers, strict=True) if group == each) for each in range(3)]


@given(st.data())
def test_one_number_that_does_not_fit_widens_all(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 100))
    sums = WideSums(limbs([1] * count))
    assert sums.memory == 8 * count
    sums.put(np.array([0]), limbs([2**63]))
    assert sums.memory == 32 * count
    assert sums.integers(slice(count)).tolist() == [2**63] + [1] * (count - 1)


@given(
    st.lists(
        st.tuples(SMALL | st.integers(-(2**63), 2**63 - 1) | st.integers(-_MOST_DIVIDED, _MOST_DIVIDED), st.integers(1, 9)), min_size=1
    )
)
def test_averages_round_halves_away_from_zero(pairs: list[tuple[int, int]]) -> None:
    sums, counts = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    expected = [(2 * abs(value) * 10**4 + count) // (2 * count) * (-1 if value < 0 else 1) for value, count in pairs]
    assert _quotients(sums, counts).tolist() == expected
    assert _quotients(sums.astype(object), counts).tolist() == expected
