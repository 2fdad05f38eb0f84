"""Functions on dates and times (section 17.4.5). Beyond xsd:dateTime they take the parts that an xsd:date or an xsd:time has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

from imp_driver.sparql.functions.durations import Duration, DurationKind
from imp_driver.sparql.functions.moments import Moment, MomentKind
from imp_driver.sparql.functions.values import term_of, value
from imp_driver.sparql.terms import XSD, Term, lexical, literal

Part = Callable[[Term], Term | None]


def _part(taken: Callable[[Moment], int | Decimal], without: MomentKind) -> Part:
    def part(term: Term) -> Term | None:
        found = value(term)
        return term_of(taken(found)) if isinstance(found, Moment) and found.kind is not without else None

    return part


year = _part(lambda moment: moment.year, MomentKind.TIME)
month = _part(lambda moment: moment.month, MomentKind.TIME)
day = _part(lambda moment: moment.day, MomentKind.TIME)
hours = _part(lambda moment: moment.hour, MomentKind.DATE)
minutes = _part(lambda moment: moment.minute, MomentKind.DATE)
seconds = _part(lambda moment: moment.second, MomentKind.DATE)


def time_zone(term: Term) -> Term | None:
    """TIMEZONE: an xsd:dayTimeDuration; an error where there is none."""
    found = value(term)
    if not isinstance(found, Moment) or found.zone is None:
        return None
    return term_of(Duration(DurationKind.DAY_TIME, 0, Decimal(found.zone * 60)))


def zone_text(term: Term) -> Term | None:
    """TZ: the time zone as it is written; empty where there is none."""
    found = value(term)
    if not isinstance(found, Moment):
        return None
    written = lexical(term)
    return literal("" if found.zone is None else "Z" if written[-1] == "Z" else written[-6:])


def now() -> Term:
    return literal(datetime.now(UTC).isoformat().replace("+00:00", "Z"), f"{XSD}dateTime")
