"""Whatever a value, a name or a constant holds, the statement keeps its shape: 12,000 hostile strings at every place that writes SQL."""

from __future__ import annotations

from functools import cache

import pytest
import sqlglot
from sqlglot import TokenType, exp

from imp_driver.delta.relations import change_feed_relation, files_relation
from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.parse.batch_insert import batch_insert
from imp_driver.parse.bounds import bound_sql
from imp_driver.parse.clustering import Clustering, read_clustering
from imp_driver.parse.literals import bind_text, literal_node, rendered
from imp_driver.parse.markers import by_name
from imp_driver.parse.statement import DIALECT, parse
from imp_driver.parse.template import make_template, template_text, text_without_constants
from imp_driver.plan.check import checked_tree
from imp_driver.rewrite.splice import find_reference
from imp_driver.values.quoting import has_variable, qualified, quoted_name, quoted_text
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.hostile import spark_name, spark_text, strings

MANY, SOME, FEW = 12_000, 1_000, 400
SPARK = sqlglot.Dialect.get_or_raise(DIALECT)


@cache
def hostile(count: int) -> tuple[str, ...]:
    return tuple(strings(count))


def names(count: int) -> list[str]:
    return [text for text in hostile(count) if text and not has_variable(text)]


def tokens(text: str) -> list[tuple[TokenType, str]]:
    return [(token.token_type, token.text) for token in SPARK.tokenize(text)]


def test_there_are_as_many_as_promised() -> None:
    assert len(set(hostile(MANY))) == MANY
    assert len(names(MANY)) > 10_000


def test_a_text_is_one_literal_of_that_value() -> None:
    for text in hostile(MANY):
        for written in {quoted_text(text), rendered(text), literal_node(text).sql(dialect=DIALECT), bound_sql(text, "string")}:
            assert spark_text(written) == text
            assert tokens(written) == [(TokenType.STRING, text)]


def test_a_name_is_one_identifier_of_that_name() -> None:
    for name in names(MANY):
        for written in {quoted_name(name), exp.to_identifier(name, quoted=True).sql(dialect=DIALECT)}:
            assert spark_name(written) == name
            assert tokens(written) == [(TokenType.IDENTIFIER, name)]


def test_a_name_that_spark_would_read_as_a_variable_is_an_error() -> None:
    for name in set(hostile(MANY)) - set(names(MANY)):
        with pytest.raises(ProgrammingError, match="Spark cannot be asked for"):
            qualified(("a", name))


def test_values_come_in_at_markers_alone() -> None:
    pieces = ("SELECT 'it''s ? :b', `:a ?`, ", " /* ? :a */ -- ? :b\n, (", ') AS "?" FROM t')
    kinds = [kind for kind, _ in tokens(pieces[0] + "''" + pieces[1] + "''" + pieces[2])]
    values = hostile(MANY)
    for one, other in zip(values, reversed(values), strict=True):
        expected = pieces[0] + rendered(one) + pieces[1] + rendered(other) + pieces[2]
        assert bind_text("?".join(pieces), [one, other]) == expected
        assert [kind for kind, _ in tokens(expected)] == kinds


def test_values_by_name_come_in_once() -> None:
    for one, other in zip(hostile(SOME), reversed(hostile(SOME)), strict=True):
        assert bind_text("SELECT ':a', :a, :b", {"a": one, "b": other}) == f"SELECT ':a', {rendered(one)}, {rendered(other)}"


def test_named_markers_take_the_values_as_they_are() -> None:
    for one, other in zip(hostile(SOME), reversed(hostile(SOME)), strict=True):
        text, values = by_name("SELECT ?, '?', ?", [one, other])
        assert (text, values) == ("SELECT :imp_0, '?', :imp_1", {"imp_0": one, "imp_1": other})


def test_a_batch_has_values_in_columns_and_none_in_its_text() -> None:
    rows = [[text, text[::-1]] for text in hostile(SOME)]
    batch = batch_insert("INSERT INTO t VALUES (?, concat(':x', ?))", rows)
    assert batch is not None
    assert batch.text.replace(batch.view, "rows") == "INSERT INTO t SELECT `p0`, concat(':x', `p1`) FROM rows"
    assert batch.rows.to_pylist() == [{"p0": one, "p1": other} for one, other in rows]


@pytest.mark.parametrize("text", ["SELECT $$ ? $$, ?", "SELECT $tag$ a ? $tag$, ?"])
def test_text_between_dollar_signs_has_no_markers(text: str) -> None:
    with pytest.raises(NotSupportedError, match="dollar signs"):
        bind_text(text, ["'", "'"])
    with pytest.raises(Refused):
        checked_tree(parse(text))


def test_a_statement_with_a_variable_is_not_sketched() -> None:
    for variable in ("${x}", "${env:HOME}", "'${spark.app.name}'", "`${x}`", "/* ${x} */", "$${x}"):
        with pytest.raises(Refused):
            checked_tree(parse(f"SELECT a, sum(b) FROM t WHERE c = 1 {variable} GROUP BY a"))


def test_a_template_has_no_constant_and_another_for_no_constant() -> None:
    text = "SELECT a, sum(b) FROM t WHERE c = {0} AND d IN ({0}, 'x') GROUP BY a HAVING max(e) > {0}"
    expected = "SELECT a, SUM(b) FROM t WHERE c = ? AND d IN (?) GROUP BY a HAVING MAX(e) > ?"
    for value in hostile(FEW):
        tree = parse(text.format(quoted_text(value))).tree
        assert tree is not None
        assert template_text(tree) == expected
        assert text_without_constants(tree) == expected.replace("(?) GROUP", "(?, ?) GROUP")


def test_parts_of_a_template_do_not_run_into_each_other() -> None:
    found = [make_template(text, (), ()).identifier for text in hostile(SOME)]
    found += [make_template("", ((text, ""),), ()).identifier for text in hostile(SOME) if text]
    found += [make_template("", (("", text),), ()).identifier for text in hostile(SOME) if text]
    found += [make_template("", (), ((text, ""),)).identifier for text in hostile(SOME) if text]
    found += [make_template("", (), (("", text),)).identifier for text in hostile(SOME) if text]
    assert len(set(found)) == len(found) == 5 * SOME - 4


def test_a_reference_is_found_where_it_stands_whatever_is_around_it() -> None:
    for text in names(SOME):
        around = f"SELECT /* {text.replace('*/', '').replace('/*', '')} */ {quoted_text(text)} AS {quoted_name(text)}, ? FROM `odd t`"
        statement = parse(around + " WHERE a = ? GROUP BY a")
        if statement.tree is not None:
            reference = find_reference(statement, next(statement.tree.find_all(exp.Table)))
            assert statement.text[reference.start : reference.end] == "`odd t`"


def test_names_of_a_command_are_read_as_they_are_written() -> None:
    for one, other in zip(names(SOME), reversed(names(SOME)), strict=True):
        read = read_clustering(f" {qualified((one, other))} BY ({quoted_name(other)}) FILES 3")
        assert read == Clustering((one, other), other, 3)


def test_changes_are_read_of_the_place_and_the_columns_meant() -> None:
    columns = [SchemaColumn("day", "date", True)]
    for text in names(SOME):
        feed = change_feed_relation(text, [SchemaColumn(text, "date", True), *columns], 1, 2)
        files = files_relation(text, [text], [(1, -1, [text])])
        found = [value for sql in (feed, files) for kind, value in tokens(sql) if kind is TokenType.STRING and value == text]
        assert len(found) == 2
        quoted = [value for kind, value in tokens(feed) if kind is TokenType.IDENTIFIER]
        assert quoted == [text, "day", text, "day", "__imp_weight"] if "day" not in text else len(quoted) == 5
        assert [value for kind, value in tokens(files) if kind is TokenType.IDENTIFIER] == [text, "__imp_weight", text]


def test_half_a_character_is_an_error_of_the_value() -> None:
    from imp_driver.dbapi.parameters import checked

    for value in ("\ud800", "a\udfff'", ["x", {"k": "\udc00"}]):
        with pytest.raises(DataError, match="half of a character"):
            checked([value])
