"""The 13 queries of the Star Schema Benchmark (O'Neil, O'Neil, Chen, revision 3) in Spark SQL, their constants drawn anew.

The paper's constants are fixed; what is drawn here is of the same kind and selectivity: years, discounts, brands, regions, nations, cities.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from benchmarks.templates import Template
from benchmarks.tpch_parameters import NATIONS, REGIONS

_CITIES = 10
_BRANDS = 40
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DISCOUNT = (
    "SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM lineorder, dates WHERE lo_orderdate = d_datekey AND {when} "
    "AND lo_discount BETWEEN {{discount}} - 1 AND {{discount}} + 1 AND {quantity}"
)
_BY_BRAND = (
    "SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, dates, part, supplier WHERE lo_orderdate = d_datekey "
    "AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey AND {parts} AND s_region = '{{region}}' "
    "GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"
)
_BY_PLACE = (
    "SELECT c_{place}, s_{place}, d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, dates "
    "WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey AND {where} "
    "GROUP BY c_{place}, s_{place}, d_year ORDER BY d_year ASC, revenue DESC"
)
_PROFIT = (
    "SELECT {keys}, sum(lo_revenue - lo_supplycost) AS profit FROM dates, customer, supplier, part, lineorder "
    "WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey AND {where} "
    "GROUP BY {keys} ORDER BY {keys}"
)
_TWO_CITIES = "(c_city = '{city}' OR c_city = '{other}') AND (s_city = '{city}' OR s_city = '{other}')"
_SIX_YEARS = "d_year >= {year} AND d_year <= {year} + 5"
_TWO_YEARS = "(d_year = {year} OR d_year = {year} + 1)"
_MAKERS = "(p_mfgr = 'MFGR#{maker}' OR p_mfgr = 'MFGR#{other_maker}')"


def city(nation: str, number: int) -> str:
    """Return the name of one of a nation's ten cities."""
    return f"{nation[:9]:9}{number}"


def _constants(chance: Random, scale: float) -> Mapping[str, object]:
    """Draw what any of the queries may ask for; each has the places that it needs."""
    nation = chance.choice(list(NATIONS))
    one, two = chance.sample(range(_CITIES), 2)
    maker, other_maker = chance.sample(range(1, 6), 2)
    category = f"{chance.randint(1, 5)}{chance.randint(1, 5)}"
    brand = chance.randint(1, _BRANDS - 7)
    return {
        "year": chance.randint(1992, 1993),
        "one_year": chance.randint(1993, 1997),
        "month": f"{chance.randint(1993, 1997)}{chance.randint(1, 12):02}",
        "month_name": f"{chance.choice(_MONTHS)}{chance.randint(1993, 1997)}",
        "week": chance.randint(1, 52),
        "discount": chance.randint(2, 9),
        "quantity": chance.randint(24, 26),
        "region": chance.choice(REGIONS),
        "nation": nation,
        "city": city(nation, one),
        "other": city(nation, two),
        "maker": maker,
        "other_maker": other_maker,
        "category": category,
        "brand": f"{category}{brand:02}",
        "last_brand": f"{category}{brand + 7:02}",
    }


def _template(name: str, text: str, *order: int) -> Template:
    return Template(name, text, _constants, order)


TEMPLATES = (
    _template("Q1.1", _DISCOUNT.format(when="d_year = {one_year}", quantity="lo_quantity < {quantity}")),
    _template("Q1.2", _DISCOUNT.format(when="d_yearmonthnum = {month}", quantity="lo_quantity BETWEEN {quantity} AND {quantity} + 9")),
    _template(
        "Q1.3",
        _DISCOUNT.format(
            when="d_weeknuminyear = {week} AND d_year = {one_year}", quantity="lo_quantity BETWEEN {quantity} AND {quantity} + 9"
        ),
    ),
    _template("Q2.1", _BY_BRAND.format(parts="p_category = 'MFGR#{category}'"), 1, 2),
    _template("Q2.2", _BY_BRAND.format(parts="p_brand1 BETWEEN 'MFGR#{brand}' AND 'MFGR#{last_brand}'"), 1, 2),
    _template("Q2.3", _BY_BRAND.format(parts="p_brand1 = 'MFGR#{brand}'"), 1, 2),
    _template(
        "Q3.1", _BY_PLACE.format(place="nation", where=f"c_region = '{{region}}' AND s_region = '{{region}}' AND {_SIX_YEARS}"), 2, 3
    ),
    _template("Q3.2", _BY_PLACE.format(place="city", where=f"c_nation = '{{nation}}' AND s_nation = '{{nation}}' AND {_SIX_YEARS}"), 2, 3),
    _template("Q3.3", _BY_PLACE.format(place="city", where=f"{_TWO_CITIES} AND {_SIX_YEARS}"), 2, 3),
    _template("Q3.4", _BY_PLACE.format(place="city", where=f"{_TWO_CITIES} AND d_yearmonth = '{{month_name}}'"), 2, 3),
    _template(
        "Q4.1", _PROFIT.format(keys="d_year, c_nation", where=f"c_region = '{{region}}' AND s_region = '{{region}}' AND {_MAKERS}"), 0, 1
    ),
    _template(
        "Q4.2",
        _PROFIT.format(
            keys="d_year, s_nation, p_category", where=f"c_region = '{{region}}' AND s_region = '{{region}}' AND {_TWO_YEARS} AND {_MAKERS}"
        ),
        *(0, 1, 2),
    ),
    _template(
        "Q4.3",
        _PROFIT.format(
            keys="d_year, s_city, p_brand1", where=f"s_nation = '{{nation}}' AND {_TWO_YEARS} AND p_category = 'MFGR#{{category}}'"
        ),
        *(0, 1, 2),
    ),
)
