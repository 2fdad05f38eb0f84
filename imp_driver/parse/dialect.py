"""Spark's SQL as this Spark reads it, where the parser's own reading of it differs."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from imp_driver.values.quoting import quoted_text


class SparkText(Spark):
    """In a string a doubled quote is one quote (Spark 4; before, ``'it''s'`` was two strings, put together)."""

    class Tokenizer(Spark.Tokenizer):
        # Spark has no operators of these characters: what looks like one is a marker and what follows it.
        KEYWORDS = {text: kind for text, kind in Spark.Tokenizer.KEYWORDS.items() if "?" not in text}  # noqa: RUF012 - as below
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - the parser's classes are made from plain lists

    class Parser(SparkParser):
        """Units of TRUNC and DATE_TRUNC as they are written.

        The library takes 'Q' for QUARTER, of which Spark makes NULL, and the name of a column for a unit.
        """

        FUNCTIONS = {  # noqa: RUF012 - as above
            **SparkParser.FUNCTIONS,
            "TRUNC": lambda args: _with_unit("TRUNC", args, args[1:2]),
            "DATE_TRUNC": lambda args: _with_unit("DATE_TRUNC", args, args[:1]),
        }

    class Generator(SparkGenerator):
        """Texts as ``quoted_text`` writes them: the library's short escape of NUL means another character before digits.

        -128Y is one number, the least of its type; the library reads it as the negative of 128, which its type has not.
        """

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
