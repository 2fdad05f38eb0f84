"""Spark's SQL as this Spark reads it, where the parser's own reading of it differs."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from imp_driver.errors import NotSupportedError
from imp_driver.values.quoting import quoted_text

_BEFORE_A_VALUE = (TokenType.SELECT, TokenType.COMMA, TokenType.HAVING, TokenType.L_PAREN, TokenType.AND, TokenType.OR, TokenType.NOT)
"""After these ANY is a function, after comparisons and LIKE it is none."""


class OrderedPercentile(exp.Expression, exp.AggFunc):
    """``percentile_cont(quantile) WITHIN GROUP (ORDER BY this)``; ``order`` is a name, CONT or DISC, with _DESC.

    It is an expression, so that texts in any dialect tell these apart.
    """

    arg_types = {"this": True, "quantile": True, "order": True}  # noqa: RUF012 - as the library's classes

    @property
    def is_discrete(self) -> bool:
        return str(self.args["order"].name).startswith("DISC")

    @property
    def is_descending(self) -> bool:
        return str(self.args["order"].name).endswith("_DESC")


class TrySum(exp.Sum):
    """``try_sum(this)``: the sum, but NULL where it overflows."""


class TryAvg(exp.Avg):
    """``try_avg(this)``: the average, but NULL where its sum overflows."""


class DateFormat(exp.Expression, exp.Func):
    """``date_format(this, pattern)``; the library turns the pattern into one of its own, and not always back into the same."""

    arg_types = {"this": True, "pattern": True}  # noqa: RUF012 - as above


class AtUtc(exp.Cast):
    """A cast between TIMESTAMP and TIMESTAMP_NTZ in a session at UTC, where it changes no digit (plan/zones.py). No text is read as one."""


class InZone(exp.Cast):
    """A cast of a TIMESTAMP to the time without zone that it is in the session's ``zone`` (plan/zones.py). No text is read as one."""

    arg_types = {**exp.Cast.arg_types, "zone": True}  # noqa: RUF012 - as above


class TruncatedInZone(exp.Expression, exp.Func):
    """``date_trunc`` of a TIMESTAMP, in the session's ``zone``. No text is read as one."""

    arg_types = {"this": True, "unit": True, "zone": True}  # noqa: RUF012 - as above


def check_installation() -> None:
    """Raise NotSupportedError where the library's classes are compiled ones, none of which can be derived from."""
    try:
        OrderedPercentile()
    except TypeError:
        raise NotSupportedError(
            "The driver extends classes of sqlglot, which its compiled variant (sqlglot[c]) does not allow."
            " `pip uninstall sqlglotc` leaves sqlglot itself, which everything else can use as well."
        ) from None


def _percentile(arguments: list[exp.Expr]) -> exp.Expr:
    """The library drops the third argument, which says how often each value is meant."""
    first = arguments[0] if arguments else None
    if len(arguments) == 1 and isinstance(first, exp.Distinct) and len(first.expressions) == 2:
        return exp.Quantile(this=exp.Distinct(expressions=[first.expressions[0]]), quantile=first.expressions[1])
    if len(arguments) == 2:
        return exp.Quantile(this=arguments[0], quantile=arguments[1])
    return exp.Anonymous(this="percentile", expressions=arguments)


def _date_format(arguments: list[exp.Expr]) -> exp.Expr:
    if len(arguments) == 2:
        return DateFormat(this=arguments[0], pattern=arguments[1])
    return exp.Anonymous(this="date_format", expressions=arguments)


def _any(parser: SparkParser) -> exp.Expr:
    """``any(x)`` is ``bool_or(x)`` where no comparison with what a subquery or a list has is meant."""
    before = parser._tokens[parser._index - 2] if parser._index > 1 else None
    found = parser._parse_bitwise()
    if before is not None and before.token_type in _BEFORE_A_VALUE and type(found) is exp.Paren:
        return exp.LogicalOr(this=found.this)
    return exp.Any(this=found)


def _ordered(found: exp.Expr | None) -> exp.Expr | None:
    """Read percentiles with an order of one value, which the library writes as another function."""
    if isinstance(found, exp.Filter):
        found.set("this", _ordered(found.this))
        return found
    if not (isinstance(found, exp.WithinGroup) and isinstance(found.this, (exp.PercentileCont, exp.PercentileDisc))):
        return found
    function, order = found.this, found.expression.expressions if isinstance(found.expression, exp.Order) else []
    if function.args.get("expression") is not None or len(order) != 1 or not isinstance(order[0], exp.Ordered):
        return found
    name = f"{'DISC' if isinstance(function, exp.PercentileDisc) else 'CONT'}{'_DESC' if order[0].args.get('desc') else ''}"
    return OrderedPercentile(this=order[0].this, quantile=function.this, order=exp.var(name))


def _format_sql(generator: SparkGenerator, node: DateFormat) -> str:
    return f"DATE_FORMAT({generator.sql(node, 'this')}, {generator.sql(node, 'pattern')})"


def _truncated_sql(generator: SparkGenerator, node: TruncatedInZone) -> str:
    return str(generator.func("DATE_TRUNC", exp.Literal.string(node.args["unit"].name), node.this))


def _ordered_sql(generator: SparkGenerator, node: OrderedPercentile) -> str:
    name, direction = "PERCENTILE_DISC" if node.is_discrete else "PERCENTILE_CONT", " DESC" if node.is_descending else ""
    return f"{name}({generator.sql(node, 'quantile')}) WITHIN GROUP (ORDER BY {generator.sql(node, 'this')}{direction})"


class SparkText(Spark):
    """In a string a doubled quote is one quote (Spark 4; before, ``'it''s'`` was two strings, put together)."""

    class Tokenizer(Spark.Tokenizer):
        # Spark has no operators of these characters: what looks like one is a marker and what follows it.
        KEYWORDS = {text: kind for text, kind in Spark.Tokenizer.KEYWORDS.items() if "?" not in text}  # noqa: RUF012 - as below
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - the parser's classes are made from plain lists

    class Parser(SparkParser):
        """Names of aggregates that the library does not know, or reads otherwise, and units of TRUNC and DATE_TRUNC as they are written.

        The library takes 'Q' for QUARTER, of which Spark makes NULL, and the name of a column for a unit.
        """

        FUNCTIONS = {  # noqa: RUF012 - as above
            **SparkParser.FUNCTIONS,
            "EVERY": exp.LogicalAnd.from_arg_list,
            "MEAN": exp.Avg.from_arg_list,
            "SOME": exp.LogicalOr.from_arg_list,
            "STD": exp.Stddev.from_arg_list,
            "TRY_AVG": TryAvg.from_arg_list,
            "TRY_SUM": TrySum.from_arg_list,
            "PERCENTILE": _percentile,
            "TRUNC": lambda args: _with_unit("TRUNC", args, args[1:2]),
            "DATE_FORMAT": _date_format,
            "DATE_TRUNC": lambda args: _with_unit("DATE_TRUNC", args, args[:1]),
        }
        FUNCTION_PARSERS = {name: parse for name, parse in SparkParser.FUNCTION_PARSERS.items() if name != "PERCENTILE"}  # noqa: RUF012
        NO_PAREN_FUNCTION_PARSERS = {**SparkParser.NO_PAREN_FUNCTION_PARSERS, "ANY": _any}  # noqa: RUF012

        def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
            return _ordered(super()._parse_window(this, alias))

    class Generator(SparkGenerator):
        """Texts as ``quoted_text`` writes them: the library's short escape of NUL means another character before digits.

        -128Y is one number, the least of its type; the library reads it as the negative of 128, which its type has not.
        """

        # A WITH stays where it is written: what it names there may be the name of a table elsewhere.
        EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()
        TRANSFORMS = {  # noqa: RUF012 - as above
            **SparkGenerator.TRANSFORMS,
            OrderedPercentile: _ordered_sql,
            DateFormat: _format_sql,
            AtUtc: SparkGenerator.cast_sql,
            InZone: SparkGenerator.cast_sql,
            TruncatedInZone: _truncated_sql,
        }

        def neg_sql(self, expression: exp.Neg) -> str:
            cast = expression.this
            if isinstance(cast, exp.Cast) and cast.is_type(*exp.DataType.INTEGER_TYPES) and _is_integer(cast.this):
                return self.sql(exp.Cast(this=exp.Literal(this=f"-{cast.this.this}", is_string=False), to=cast.to.copy()))
            return super().neg_sql(expression)

        def literal_sql(self, expression: exp.Literal) -> str:
            return quoted_text(expression.this) if expression.is_string else super().literal_sql(expression)

        def rawstring_sql(self, expression: exp.RawString) -> str:
            return quoted_text(expression.this)


def _with_unit(function: str, arguments: list[exp.Expr], unit: list[exp.Expr]) -> exp.Expr:
    """Return a function with its unit, or one that is not known if that is no text."""
    if not (unit and isinstance(unit[0], exp.Literal) and unit[0].is_string):
        return exp.Anonymous(this=function, expressions=arguments)
    node: exp.Expr = SparkParser.FUNCTIONS[function](arguments)
    name = str(unit[0].this).upper()
    node.set("unit", exp.Literal.string(name) if isinstance(node, exp.DateTrunc) else exp.var(name))
    return node


def _is_integer(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_int
