"""A field of sensors and the regions that grow in it from seeds (recursive-view paper, section 7.1, workload 2; query 3).

The paper gives a grid of 100 m by 100 m, five seeds and a reach of 20 m, and not how many sensors there are: here one each 10 m, 100 in
all. As its query is written, a region also has the sensors around a triggered one that are not triggered themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

Sensor: TypeAlias = int

SIDE = 100
SPACING = 10
SEEDS = 5
REACH = 20
"""All but SEEDS in metres; two sensors are near when they are less than REACH apart."""


@dataclass(frozen=True, slots=True)
class Field:
    """The tables of the query.

    Attributes:
        sensor: where each sensor stands: metres to the east and to the north.
        mains: rows of ``mainsensorinregion``: region and the sensor it begins with.
        triggered: rows of ``istriggered`` in the order in which they are inserted: the seeds, then others up to half of all sensors.
    """

    sensor: Mapping[Sensor, tuple[int, int]]
    mains: tuple[tuple[int, Sensor], ...]
    triggered: tuple[tuple[Sensor], ...]

    def near(self) -> dict[Sensor, tuple[Sensor, ...]]:
        """Return the sensors near each sensor, itself among them, as the query has it."""
        return {
            one: tuple(two for two, (x, y) in self.sensor.items() if (x - east) ** 2 + (y - north) ** 2 < REACH**2)
            for one, (east, north) in self.sensor.items()
        }


def field(seed: int = 1, spacing: int = SPACING) -> Field:
    """Return a field with sensors so many metres apart."""
    chance = Random(seed)
    places = [(east, north) for east in range(0, SIDE, spacing) for north in range(0, SIDE, spacing)]
    sensor = dict(enumerate(places))
    order = chance.sample(range(len(places)), len(places))
    mains = tuple(enumerate(order[:SEEDS]))
    return Field(sensor, mains, tuple((each,) for each in order[: max(SEEDS, len(order) // 2)]))
