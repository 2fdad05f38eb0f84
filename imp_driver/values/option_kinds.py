"""Options that are one of a few words."""

from __future__ import annotations

from enum import Enum


class SketchMode(Enum):
    """off: never sketch. lazy: maintain before use. eager: lazy, and maintain in the background what was used lately.
    shadow: lazy, and run the plain query too and raise on any difference.
    """

    OFF = "off"
    LAZY = "lazy"
    EAGER = "eager"
    SHADOW = "shadow"


class Floats(Enum):
    """rounded: sums of DOUBLE that the driver answers itself are the correctly rounded ones; Spark's own differ from run to run.
    spark: they are left to Spark.
    """

    ROUNDED = "rounded"
    SPARK = "spark"


class Policy(Enum):
    """auto: bring a sketch up to date when that is estimated to cost less than it saves. incremental: whenever it can be."""

    AUTO = "auto"
    INCREMENTAL = "incremental"


class RecursionPlace(Enum):
    """auto: WITH RECURSIVE by UNION is computed in process, and by Spark, round by round, where it is too large or not known there.
    process: in process alone. spark: by Spark alone.
    """

    AUTO = "auto"
    PROCESS = "process"
    SPARK = "spark"


class RowRules(Enum):
    """engine: where the engine may have rules of its own about who sees which rows, nothing is answered without it.
    none: the promise that it has none: who may read a table sees all of its rows, as they are.
    """

    ENGINE = "engine"
    NONE = "none"


class Terms(Enum):
    """text: terms in results of SPARQL as people read them. typed: numbers, truth values, dates and times as such. n3: as N-Triples."""

    TEXT = "text"
    TYPED = "typed"
    N3 = "n3"
