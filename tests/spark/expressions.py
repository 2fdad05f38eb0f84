"""Expressions, and rows with values at the edges of each type, for the comparison of values computed in process with Spark's."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pyarrow as pa


def _each(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(";"))


def _filled(pattern: str, *values: Iterable[str]) -> tuple[str, ...]:
    """Return the pattern with every combination of values in its places."""
    return tuple(pattern.format(*each) for each in itertools.product(*values))


COLUMNS = {
    "y": ("TINYINT", pa.int8()),
    "h": ("SMALLINT", pa.int16()),
    "a": ("INT", pa.int32()),
    "b": ("BIGINT", pa.int64()),
    "m": ("DECIMAL(12, 2)", pa.decimal128(12, 2)),
    "q": ("DECIMAL(38, 4)", pa.decimal128(38, 4)),
    "w": ("DECIMAL(38, 18)", pa.decimal128(38, 18)),
    "z": ("DECIMAL(5, 5)", pa.decimal128(5, 5)),
    "f": ("DOUBLE", pa.float64()),
    "g": ("FLOAT", pa.float32()),
    "s": ("STRING", pa.string()),
    "t": ("STRING", pa.string()),
    "d": ("DATE", pa.date32()),
    "e": ("DATE", pa.date32()),
    "n": ("TIMESTAMP_NTZ", pa.timestamp("us")),
    "p": ("BOOLEAN", pa.bool_()),
}
_ROWS = r"""
    0; 0; 0; 0; 0; 0; 0; 0; 0; 0; ''; ''; '1970-01-01'; '1970-01-01'; '1970-01-01 00:00:00'; true
/
    1; -1; 3; -7; 12.35; 1234.5678; 1.5; 0.5; 2.5; 1.5; 'abc '; 'b'; '2024-02-29'; '2023-12-31'; '1969-12-31 23:59:59.999999'; false
/
    -128; -32768; -2147483648; -9223372036854775808; -9999999999.99; -9999999999999999999999999999999999.9999;
    -99999999999999999999.999999999999999999; -0.99999; -0.0D; -0.0; '  äö\t'; 'ö'; '0001-01-01'; '9999-12-31'; '0001-01-01 00:00:00';
    true
/
    127; 32767; 2147483647; 9223372036854775807; 9999999999.99; 9999999999999999999999999999999999.9999;
    99999999999999999999.999999999999999999; 0.99999; 1.7976931348623157E308D; 3.4E38; 'ABC%_d'; '%'; '9999-12-31'; '0001-01-01';
    '9999-12-31 23:59:59.999999'; false
/
    5; 7; -7; 5; -0.05; -0.0001; 0.000000000000000001; -0.00005; 0.125D; 0.1; 'x' || chr(10); 'x'; '1582-10-04'; '1582-10-15';
    '1582-10-14 12:34:56.5'; NULL
/
    -5; -7; 25; 9007199254740993; 0.15; 7; -2.4999999999999999995; 0.12345; CAST('NaN' AS DOUBLE); 2; 'a😀b'; '😀'; '2020-12-31';
    '2021-01-01'; '2021-01-03 01:02:03.25'; true
/
    2; 3; -25; -3; 2.50; 3; 0.333333333333333333; 0.00005; CAST('-Infinity' AS DOUBLE); -3; 'PROMO tin'; 'PROMO'; '2000-12-31';
    '2024-01-31'; '2024-12-29 23:00:00'; false
/
    3; -2; 1994; 2; -2.50; 100; 2.5; 0.00001; 2.675D; 0.5; 'xxabcxx'; 'xx'; '1900-03-31'; '1899-12-31'; '1900-02-28 00:00:00.000001';
    NULL
/
    4; 2; 15; 10; 1000000.00; 123456789012345678.9; -0.5; 0.25; 1e15D; 4; ' '; ' a '; '2023-01-29'; '2024-02-29'; '2038-01-19 03:14:08';
    true
/
    -1; 1; -1; -1; 0.01; 0.00005; 3; 0.5; -3.5D; -0.5; 'a  b'; 'a'; '1582-10-15'; '1582-10-04'; '1582-10-04 23:59:59'; false
"""
ROWS = (("NULL",) * len(COLUMNS), *map(_each, _ROWS.split("\n/\n")))
"""Literals of a row, in the order of the columns."""

_PARTS = ("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear")
_FIELDS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DAYOFWEEK", "DAYOFWEEK_ISO", "DOW_ISO", "DOY")
_UNITS = ("year", "YYYY", "yy", "quarter", "month", "MM", "mon", "week")
_DECIMAL_TYPES = ("DECIMAL(20, 0)", "DECIMAL(20, 3)", "DECIMAL(38, 10)", "DECIMAL(5, 1)", "DECIMAL")

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "decimals": _each(r"""
        m / 7.0; m / 3; m / m; q / q; q / m; m / q; w / w; w / 3; z / z; m / z; z / m; m / b; b / m; a / m; m / a; 100.00 * q / q;
        100.00 * m / m; 0.2 * m; 0.2 * q; q * 0.0001; m * m; q * q; w * w; q * w; m * (1 - m); m * (1 + z) * (1 - z); m + q; q + q;
        q - w; w + w; w - z; m + 1; 1 - m; m - 1000000; m * 10; 10 * z; m + a; a + m; b * m; m * y; h - m; m + f; f * m; m / f; f / m;
        q * f; w + f; m % 0.7; m % 3; q % m; m % q; w % z; m % a; a % m; a / NULL; a + NULL; m * -5; -5 * m; 0.05; 100.00; 1.; .5;
        -0.50; m * CAST('1.50' AS DECIMAL(12, 2)); m < 0.2 * m; q > m; q = w; w < q; q > q * 0.0001; m = 2.5; m < a; m > b; w > b;
        q < f; m <=> z; m IN (2.50, 12.35, 7); m BETWEEN 0.05 + 0.01 AND 12.35; z * 100 > m; CASE WHEN m > 1 THEN m / 2 ELSE 0 END;
        CASE WHEN a <> 0 THEN m / a END; m / NULLIF(a, 0); CASE WHEN m > 0 THEN m ELSE z END; COALESCE(m, z, 0); COALESCE(m, 0) / 3;
        CASE WHEN a > 0 THEN 1 ELSE 0 END * m; m * 1 / 3.00; -m; -q; - -m; -(5) * m; - -5 * m; m * a / b; m - f - a; (m + m) / 2.0;
        CASE WHEN m > 0 THEN m ELSE f END; m * 0.1234567890123456789
    """),
    "dates": (
        *_filled("{}({})", _PARTS, "dn"),
        *_filled("EXTRACT({} FROM {})", _FIELDS, "dn"),
        *_filled("{}(n)", ("hour", "minute", "second")),
        *_filled("trunc(d, '{}')", _UNITS),
        *_filled("date_format(n, '{}')", ("yyyy", "MMMM", "MMM", "MM", "dd", "EEEE", "EEE", "E", "HH", "mm", "ss", "yyyy-MM-dd HH:mm:ss")),
        *_each(r"""
        EXTRACT(HOUR FROM n); EXTRACT(MINUTE FROM n); date_part('year', d); date_part('doy', n); last_day(d); last_day(e);
        datediff(d, e); datediff(e, d); date_diff(d, e); datediff(DATE'1998-12-01', d); date_add(d, 5); date_add(d, a); date_add(d, y);
        date_sub(d, 90); date_sub(d, h); d + 5; d - 5; 5 + d; d + y; dateadd(d, 3); add_months(d, 1); add_months(d, -13);
        d + INTERVAL '1' DAY; d - INTERVAL '90' DAY; d + INTERVAL 3 MONTHS; d - INTERVAL '1' YEAR; d + INTERVAL '1' MONTH;
        try_add(d, 5); try_subtract(d, a); INTERVAL '2' YEAR + d; d + INTERVAL '-1' DAY; d + INTERVAL 2 DAYS;
        n + INTERVAL '1' DAY; n - INTERVAL 26 HOURS; n - INTERVAL 10 MINUTES; INTERVAL 2 WEEKS + n; n - INTERVAL '90' SECOND;
        DATE'1998-12-01' - INTERVAL '90' DAY;
        CAST('1995-01-01' AS DATE) + INTERVAL '1' YEAR; d >= DATE'1994-01-01'; d < DATE'1994-01-01' + INTERVAL '1' YEAR;
        d BETWEEN e AND DATE'2024-02-29'; d IN (DATE'2024-02-29', DATE'1582-10-04'); d = e; n >= TIMESTAMP_NTZ'1970-01-01 00:00:00';
        CAST(n AS DATE); to_date(d); to_date(n); date(n); year(d) * 100 + month(d); CASE WHEN quarter(d) = 1 THEN d ELSE e END;
        COALESCE(d, e); greatest(d, e); least(d, e, DATE'2000-01-01'); CASE WHEN month(d) = 12 THEN trunc(d, 'year') END;
        datediff(last_day(d), d)
    """),
    ),
    "texts": _each(r"""
        upper(s); lower(s); ucase(t); lcase(t); length(s); char_length(s); character_length(t); len(s); substring(s, 1, 2);
        substring(s, 0, 2); substring(s, 2); substr(s, -2); substring(s, -2, 1); substring(s, -5, 3); substring(s, -9, 3);
        substring(s, -4, 9); substring(s, 3, 0); substring(s, 2, -1); substring(s, 100, 2); substring(s FROM 2 FOR 3); left(s, 2);
        left(s, 0); left(s, -1); right(s, 2); right(s, 0); right(s, -1); right(s, 100); concat(s, t); concat(s, '-', t, ''); concat(s);
        s || t; s || '|' || t; trim(s); ltrim(s); rtrim(s); trim(t); trim('x', s); ltrim('x', s); rtrim('x', s); trim(BOTH 'ax' FROM s);
        trim(LEADING 'x' FROM s); trim(TRAILING FROM t); replace(s, 'a', 'bb'); replace(s, 'xx'); replace(s, '', 'y');
        regexp_replace(concat('"', s, '"@en'), '^"|"[^"]*$', ''); regexp_replace(concat('<', t, '>'), '^["<]|"[^"]*$|>$', '');
        regexp_replace(concat(s, '"', t), '^["<]|"[^"]*$|>$', ''); regexp_replace(concat(t, '"', s), '(?s)^.*"', '');
        regexp_extract(s, 'x*(a?)b', 1); regexp_extract(concat(s, '"'), '^([^"]*)"', 1); regexp_extract(t, '(?:x|PR)(?=O|x)[A-Zx]{1,3}', 0);
        try_cast(CAST(a AS STRING) AS BIGINT); try_cast(concat(CAST(a AS STRING), '.55') AS DECIMAL(8, 1)); try_cast(left(s, 0) AS DOUBLE);
        try_cast(concat(CAST(a AS STRING), '.5e2') AS DOUBLE); try_cast(CAST(a AS STRING) AS FLOAT); try_cast(CAST(d AS STRING) AS DATE);
        try_cast(concat(CAST(CAST(n AS DATE) AS STRING), ' 23:59:58.5') AS TIMESTAMP_NTZ);
        try_cast(concat(left(s, 0), '2023-02-29') AS DATE);
        replace(s, 'ä', ''); replace(t, ' ', '_'); startswith(s, 'a'); startswith(s, ''); endswith(s, 'x'); endswith(s, ' ');
        contains(s, 'ä'); contains(s, '%'); lpad(s, 5, '*'); lpad(s, 2, '*'); lpad(s, 0, '*'); lpad(s, -1, '*'); rpad(s, 5, 'ä');
        rpad(s, 5); lpad(s, 12); rpad(s, 1, ' '); s LIKE 'a%'; s LIKE '%b%'; s NOT LIKE '%x'; s LIKE '_b_'; s LIKE ''; s LIKE '%';
        s LIKE 'PROMO%'; s LIKE '%o_i%'; NOT s LIKE 'a%'; s IN ('abc ', '', 'PROMO tin'); s NOT IN ('abc ', 'x'); s IN ('a', NULL);
        s = 'abc'; s < t; s >= 'PROMO'; s <> ''; s = t; COALESCE(s, 'none'); CASE WHEN s = '' THEN t ELSE s END; NULLIF(s, '');
        nvl(s, t); IF(contains(s, 'a'), upper('a'), 'no'); greatest(s, t); least(s, t); substring(s, 1, 1) IN ('a', 'x');
        length(trim(s)) > 3; isnull(s); isnotnull(s); nvl2(s, 1, 0); upper(left(t, 1)) || 'z'; s BETWEEN 'a' AND 'b';
        s BETWEEN 'b' AND 'a'; s IS NULL
    """),
    "numbers": (
        *_filled("abs({})", "yhabmqwzf"),
        *_filled("-{}", "yhabmqwzfg"),
        *_filled("sign({})", "yabmqwf"),
        *_filled("{}({})", ("floor", "ceil", "round", "bround"), "yhabmqwzf"),
        *_filled("{}({}, {})", ("round", "bround"), "abmqwzf", ("1", "2", "-1", "-3", "5")),
        *_filled("try_{}({}, {})", ("add", "subtract", "multiply", "divide"), "yabmqf", "yabmf"),
        *_each(r"""
        y + 100Y; 0Y - y; 4Y * y; h + 32767S; (y + 10Y) * 2Y; y - -128Y;
        nullifzero(a); nullifzero(m); nullifzero(f); zeroifnull(y); zeroifnull(m); zeroifnull(f); try_divide(m, 0); try_divide(a, 2L);
        negative(a); signum(f); ceiling(m); round(f, 0); round(m, 20); round(a, -9); round(b, -18); round(q, -37); round(m / 3, 2);
        round(100.0 * m / a, 1); a % 3; a % b; b % a; y % h; mod(b, 10); f % 2; f % 0.3D; f % a; pmod(a, 7); pmod(a, b); pmod(b, -3);
        pmod(y, h); pmod(m, 0.3); pmod(m, a); pmod(z, 2); a div 2; a div b; b div a; y div h; b div -1; greatest(a, b);
        greatest(y, a, CAST(NULL AS INT)); least(a, m); greatest(m, q); least(f, a); greatest(f, 0D); least(f, m); greatest(m, 0);
        least(z, 1); a + y; y + h; b - a; a * b; y * y; y + 1; h * 2; a * 2L; b + 1S; 5 - y; a / b; y / h; f / a; f - a; f * f; f + 0.1;
        f + b; a + b * 2 - y; a > 1 AND b < 5 OR y = 1; a IN (3, 25, NULL); a NOT IN (3); a BETWEEN 5 AND -5; f > 2.5; f = a; b = f;
        b IN (1, 9007199254740993); a IS NOT NULL; p; NOT p; p AND a > 0; p IS TRUE; p IS FALSE; p IS NOT TRUE; p = (a > 0); p <=> NULL;
        CASE WHEN b = 0 THEN 0 ELSE a / b END; CASE WHEN b <> 0 THEN a % b ELSE -1 END; IF(a = 0, NULL, b div a); a / NULLIF(b, 0);
        COALESCE(a / NULLIF(b, 0), 0); COALESCE(y, a, b); CASE WHEN a > 0 THEN y WHEN a < 0 THEN m ELSE f END; 1.5D + 1; 3 / 2; 1e2 + a;
        7 % 4; CASE y WHEN 1 THEN 'one' ELSE 'other' END
    """),
    ),
    "casts": (
        *_filled("CAST({} AS {})", "yhabmqzfp", ("TINYINT", "SMALLINT", "INT", "BIGINT")),
        *_filled("CAST({} AS DOUBLE)", "yabmqwzfg"),
        *_filled("CAST({} AS {})", "yhabmqwz", _DECIMAL_TYPES),
        *_filled("CAST({} AS STRING)", "yhabmqzsdp"),
        *_filled("CAST({} AS BOOLEAN)", "yhab"),
        *_each(r"""
        CAST(NULL AS INT); CAST(NULL AS DECIMAL(7, 1)); try_cast(a AS TINYINT); try_cast(m AS DECIMAL(4, 1)); try_cast(b AS INT);
        a::string; int(m); string(d); double(a); CAST(d AS DATE); CAST(CAST(m AS INT) AS STRING); CAST(a AS DECIMAL(12, 2)) / 3;
        CAST(m AS DOUBLE) / 3; 1.0 * a / 3; CAST(a AS DOUBLE) / b; CAST(1 AS BIGINT) + a; CAST(5 AS TINYINT); 1L + y;
        CAST('2024-02-29' AS DATE); CAST(a AS STRING) || '-' || CAST(b AS STRING); CAST(year(d) AS STRING);
        CAST('1.50' AS DECIMAL(12, 2)) / 3
    """),
    ),
}
