"""Strings made to break out of where they are put, and a reading of Spark's quotes that is written apart from the driver's.

``spark_text`` and ``spark_name`` follow the lexer and the unescaping of Spark 4.2; tests/spark/test_hostile.py compares them with it.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

CHOSEN = (
    "'", "''", "'''", "\"", "\"\"", "`", "``", "`;`", "\\", "\\\\", "\\'", "\\\\'", "'\\", "\\\"", "\\`", "a\\", "\\n", "\\\n", "\\0",
    "\\u0027", "\\u005c'", "\\U00000027", "\\047", "\\x27", "%27", "&#39;", "\\%", "\\_", "%_", "\\\\%", "';--", "'; DROP TABLE t; --",
    "' OR '1'='1", "' OR 1=1 -- ", "') UNION SELECT * FROM secret -- ", "1; SELECT 2", ";", "; ;", "--", "-- ", "--\n", "-- \\\n", "/*",
    "*/", "/* */", "*/ --", "/*+ BROADCAST(t) */", "*/ OR /*", "/*/", "/**/", "/* /* */", "#", "{# #}", "{{ x }}", "{% x %}", "{}", "{",
    "}", "{0}", "{x!r}", "%s", "%(x)s", "%%", "?", "??", ":name", ":1", "::int", "@x", "$1", "$", "$$", "$$ ' $$", "$tag$ ' $tag$", "${",
    "${}", "${x}", "${env:HOME}", "${env:PATH}", "${system:user.name}", "${spark:spark.app.name}", "${spark.app.name}", "${spark.master}",
    "${hiveconf:x}", "$${x}", "\\${spark.master}", "$\\{spark.master}", "${spark.${x}}", "${spark.master", "$ {spark.master}", "r'x'",
    "R'x'", "r\"x\"", "r'", "N'x'", "X'27'", "x'", "b'x'", "date'2020-01-01'", "q'[x]'", "e'x'", "u&'\\0027'", "\x00", "\x0001", "\x00'",
    "'\x00", "\x001", "\x011", "\x01", "\x07", "\x08", "\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x1a", "\x1b[31m", "\x7f", "\x85",
    "\xa0", "\xad", "\u200b", "\u200d", "\u202e'drop'\u202c", "\u2066", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff",
    "\u02bc", "\u2018", "\u2019", "\u201b", "\u2032", "\uff07", "\uff02", "\uff40", "\uff3c", "\u2216", "\uff1b", "\u037e", "\xb4",
    "\u0301", "'\u0301", "\u05d0'", "\u0661", "\u0130", "\u0131", "\xdf", "\U0001f600", "\U0001f600'", "'\U0001f600", "\U0010ffff",
    "\ud7ff", "\ue000", "", " ", "  ", "' '", "NULL", "null", "true", "1", "-1", "1e5", "0x27", "SELECT", "t.c", "`t`.`c`", "a.b", "*",
    "t.*", "(", ")", "()", "(SELECT 1)", "a b", "a,b", "a;b", "a=b", "=", "<>", "||", "&&", "->", "=>", "<", ">", "<int>",
    "struct<a:int>", "array<", "IDENTIFIER('x')", "VALUES", "_metadata", "__imp_weight", "__imp_0", ":__imp_0", "imp_0", "SHOW SKETCHES",
    "DROP SKETCH ALL", "EXPLAIN SKETCH SELECT 1", "imp:///x?sketch=off", "a?sketch=off", "a&sketch=off", "a#b", "../..", "/etc/passwd",
    "~", "~root", "file:///x", "s3a://u:p@b/x", "%00", "%2e%2e", "%", "CON", "-", "--help", "-javaagent:x", "4g -Xrun", "$(id)", "`id`",
    "|id", "&", "\\\\host\\share", "x" * 3_000, "'" * 999, "`" * 999, "\\" * 999, "${" * 500, "/*" * 500, "(" * 900, "a\n", "\u017f",
    "\u212a",
)  # fmt: skip
_PIECES = (*(each for each in CHOSEN if len(each) <= 12), *"abz09_ ")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))", re.DOTALL)
_SHORT = {"0": "\x00", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_TEXT = re.compile(r"'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
_NAME = re.compile(r"`((?:[^`]|``)*)`", re.DOTALL)
_VARIABLE = re.compile(r"\$\{[^}$ ]+\}")


def strings(count: int, seed: int = 7) -> Iterator[str]:
    """Yield so many different strings: the chosen ones, then pieces of them put together at random."""
    chance = random.Random(seed)
    drawn = ("".join(chance.choices(_PIECES, k=chance.randint(2, 9))) for _ in itertools.count())
    return itertools.islice(dict.fromkeys(itertools.chain(CHOSEN, itertools.islice(drawn, 2 * count))), count)


def spark_text(literal: str) -> str | None:
    """Return what Spark reads in one literal of a text; None where that is not one text, or depends on a variable."""
    match = _TEXT.fullmatch(literal)
    if match is None or _VARIABLE.search(literal):
        return None
    return _ESCAPE.sub(_unescaped, match[1].replace("''", "'"))


def _unescaped(escape: re.Match[str]) -> str:
    code, long_code, octal, character = escape.groups()
    if code or long_code:
        return chr(int(code or long_code, 16))
    return chr(int(octal, 8)) if octal else _SHORT.get(character, character)


def spark_name(identifier: str) -> str | None:
    """Return the name that Spark reads in backticks; None where that is not one name, or depends on a variable."""
    match = _NAME.fullmatch(identifier)
    return None if match is None or _VARIABLE.search(identifier) else match[1].replace("``", "`")
