"""Parameters of TPC-H's queries as qgen draws them: uniformly from the values of each query's clause 2.4.x.3 of the specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

Values: TypeAlias = Mapping[str, object]

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = {
    **dict.fromkeys(("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"), "AFRICA"),
    **dict.fromkeys(("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"), "AMERICA"),
    **dict.fromkeys(("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"), "ASIA"),
    **dict.fromkeys(("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"), "EUROPE"),
    **dict.fromkeys(("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"), "MIDDLE EAST"),
}
"""Region of each nation."""
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
SHIP_MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
"""Syllables of p_type."""
CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
_COLORS = (
    "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral "
    "cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey "
    "honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty "
    "moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon "
    "sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow"
)
COLORS = tuple(_COLORS.split())
"""Words of p_name."""


def type_of(chance: Random, syllables: int = 3) -> str:
    return " ".join(map(chance.choice, TYPES[:syllables]))


def brand(chance: Random) -> str:
    return f"Brand#{chance.randint(1, 5)}{chance.randint(1, 5)}"


def _year(chance: Random) -> str:
    return f"{chance.randint(1993, 1997)}-01-01"


def _month(chance: Random, first: tuple[int, int], last: tuple[int, int]) -> str:
    """Return the first day of a month between two, each given as year and month."""
    number = chance.randint(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
    return f"{number // 12}-{number % 12 + 1:02}-01"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def q1(chance: Random, scale: float) -> Values:
    return {"days": chance.randint(60, 120)}


def q2(chance: Random, scale: float) -> Values:
    return {"size": chance.randint(1, 50), "type": chance.choice(TYPES[2]), "region": chance.choice(REGIONS)}


def q3(chance: Random, scale: float) -> Values:
    return {"segment": chance.choice(SEGMENTS), "date": date(1995, 3, 1) + timedelta(chance.randrange(31))}


def q4(chance: Random, scale: float) -> Values:
    return {"date": _month(chance, (1993, 1), (1997, 10))}


def q5(chance: Random, scale: float) -> Values:
    return {"region": chance.choice(REGIONS), "date": _year(chance)}


def q6(chance: Random, scale: float) -> Values:
    return {"date": _year(chance), "discount": f"0.0{chance.randint(2, 9)}", "quantity": chance.randint(24, 25)}


def q7(chance: Random, scale: float) -> Values:
    return dict(zip(("one", "two"), chance.sample(list(NATIONS), 2), strict=True))


def q8(chance: Random, scale: float) -> Values:
    nation = chance.choice(list(NATIONS))
    return {"nation": nation, "region": NATIONS[nation], "type": type_of(chance)}


def q9(chance: Random, scale: float) -> Values:
    return {"color": chance.choice(COLORS)}


def q10(chance: Random, scale: float) -> Values:
    return {"date": _month(chance, (1993, 2), (1995, 1))}


def q11(chance: Random, scale: float) -> Values:
    return {"nation": chance.choice(list(NATIONS)), "fraction": f"{0.0001 / scale:.10f}".rstrip("0")}


def q12(chance: Random, scale: float) -> Values:
    return {"modes": _quoted(chance.sample(SHIP_MODES, 2)), "date": _year(chance)}


def q13(chance: Random, scale: float) -> Values:
    one = chance.choice(("special", "pending", "unusual", "express"))
    return {"one": one, "two": chance.choice(("packages", "requests", "accounts", "deposits"))}


def q14(chance: Random, scale: float) -> Values:
    return {"date": _month(chance, (1993, 1), (1997, 12))}


def q15(chance: Random, scale: float) -> Values:
    return {"date": _month(chance, (1993, 1), (1997, 10))}


def q16(chance: Random, scale: float) -> Values:
    sizes = ", ".join(map(str, chance.sample(range(1, 51), 8)))
    return {"brand": brand(chance), "type": type_of(chance, syllables=2), "sizes": sizes}


def q17(chance: Random, scale: float) -> Values:
    return {"brand": brand(chance), "container": " ".join(map(chance.choice, CONTAINERS))}


def q18(chance: Random, scale: float) -> Values:
    return {"quantity": chance.randint(312, 315)}


def q19(chance: Random, scale: float) -> Values:
    least = dict(zip(("one", "two", "three"), (chance.randint(low, low + 10) for low in (0, 10, 20)), strict=True))
    least["one"] = max(1, least["one"])
    return least | {f"brand_{name}": brand(chance) for name in least}


def q20(chance: Random, scale: float) -> Values:
    return {"color": chance.choice(COLORS), "date": _year(chance), "nation": chance.choice(list(NATIONS))}


def q21(chance: Random, scale: float) -> Values:
    return {"nation": chance.choice(list(NATIONS))}


def q22(chance: Random, scale: float) -> Values:
    return {"codes": _quoted([str(code) for code in chance.sample(range(10, 35), 7)])}
