"""Settings of Spark that give the text of a query its meaning, as the analysis reads it."""

from __future__ import annotations

ASSUMED = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.legacy.percentileDiscCalculation": "false",
    "spark.sql.legacy.statisticalAggregate": "false",
    # What the types of decimals, literals, intervals and quotients are.
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.legacy.interval.enabled": "false",
    "spark.sql.legacy.integralDivide.returnBigint": "true",
    # A rule of the optimizer has Spark average short decimals with doubles; without it the last digit is another.
    "spark.sql.optimizer.excludedRules": "",
    # Which rows set operations, joins, subqueries and CHAR columns give, and how text is read.
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.legacy.groupingIdWithAppendedUserGroupBy": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.legacy.allowNegativeScaleOfDecimal": "false",
    "spark.sql.legacy.scalarSubqueryCountBugBehavior": "false",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.legacy.noCharPaddingInPredicate": "false",
    "spark.sql.legacy.bangEqualsNot": "false",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "false",
}
"""Settings under which names, positions and aggregates mean what the analysis reads into them; an unset one has this default."""
