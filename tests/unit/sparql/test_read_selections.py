"""SELECT: expressions, groups, aggregates, modifiers; ASK, CONSTRUCT and DESCRIBE."""

from __future__ import annotations

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.algebra import (
    Aggregate,
    Call,
    Constant,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Form,
    Group,
    Join,
    OrderBy,
    Pattern,
    Project,
    Query,
    Read,
    Slice,
    Union,
    Values,
    Variable,
)
from imp_driver.sparql.read import read_query
from imp_driver.sparql.terms import XSD, Term, iri
from tests.unit.sparql.shapes import EMPTY, PREFIXES, G, bgp, call, ex, integer, names, selected, triple, value, var

A = bgp("?a :p ?b")
COUNT = Aggregate("COUNT")


def key(name: str, expression: Expression | None = None) -> tuple[Variable, Expression]:
    return var(name), Read(var(name)) if expression is None else expression


def groups(keys: str, *aggregates: tuple[str, Aggregate], pattern: Pattern = A) -> Group:
    return Group(pattern, tuple(key(name) for name in keys.split()), tuple((var(name), aggregate) for name, aggregate in aggregates))


def sums(of: str = "?b") -> Aggregate:
    return Aggregate("SUM", value(of))


CASES: dict[str, tuple[str, Pattern]] = {
    "columns": ("?b ?a { ?a :p ?b }", Project(A, names("b a"))),
    "a column twice": ("?b ?b { ?a :p ?b }", Project(A, names("b"))),
    "a column that nothing binds": ("?z { ?a :p ?b }", Project(A, names("z"))),
    "DISTINCT": ("DISTINCT ?a { ?a :p ?b }", Distinct(Project(A, names("a")))),
    "REDUCED may leave all": ("REDUCED ?a { ?a :p ?b }", Project(A, names("a"))),
    "an expression": ("?a (?b + 1 AS ?c) { ?a :p ?b }", Project(Extend(A, var("c"), call("+", "?b", integer(1))), names("a c"))),
    "an expression of another": (
        "(1 AS ?c) (?c AS ?d) { ?a :p ?b }",
        Project(Extend(Extend(A, var("c"), value(integer(1))), var("d"), value("?c")), names("c d")),
    ),
    "order, limit and offset": (
        "?a { ?a :p ?b } ORDER BY ?b DESC(?a + 1) ASC(?a) OFFSET 2 LIMIT 1",
        Slice(Project(OrderBy(A, ((value("?b"), False), (call("+", "?a", integer(1)), True), (value("?a"), False))), names("a")), 2, 1),
    ),
    "offset alone": ("* { ?a :p ?b } OFFSET 2", Slice(Project(A, names("a b")), 2, None)),
    "distinct, then limit": ("DISTINCT * { ?a :p ?b } LIMIT 0", Slice(Distinct(Project(A, names("a b"))), 0, 0)),
    "order by a column that is made": (
        "(1 AS ?c) { ?a :p ?b } ORDER BY ?c",
        Project(OrderBy(Extend(A, var("c"), value(integer(1))), ((value("?c"), False),)), names("c")),
    ),
    "VALUES at the end": ("* { ?a :p ?b } VALUES ?a { :x }", Project(Join(A, Values(names("a"), ((ex("x"),),))), names("a b"))),
    "count of all": ("(COUNT(*) AS ?n) { ?a :p ?b }", Project(groups("", ("n", COUNT)), names("n"))),
    "groups": ("?a (SUM(?b) AS ?s) { ?a :p ?b } GROUP BY ?a", Project(groups("a", ("s", sums())), names("a s"))),
    "groups without aggregates": ("?a { ?a :p ?b } GROUP BY ?a", Project(groups("a"), names("a"))),
    "a key in brackets is the variable": ("?a { ?a :p ?b } GROUP BY (?a)", Project(groups("a"), names("a"))),
    "a named key": (
        "?k { ?a :p ?b } GROUP BY (STR(?a) AS ?k)",
        Project(Group(A, (key("k", call("STR", "?a")),), ()), names("k")),
    ),
    "a key without a name": (
        "(COUNT(*) AS ?n) { ?a :p ?b } GROUP BY STR(?a) ?b",
        Project(Group(A, (key("_:.1", call("STR", "?a")), key("b")), ((var("n"), COUNT),)), names("n")),
    ),
    "aggregates within expressions, equal ones once": (
        "(SUM(?b) / COUNT(?b) + SUM(?b) AS ?m) { ?a :p ?b }",
        Project(
            Extend(
                groups("", ("_:.1", sums()), ("_:.2", Aggregate("COUNT", value("?b")))),
                var("m"),
                call("+", call("/", "?_:.1", "?_:.2"), "?_:.1"),
            ),
            names("m"),
        ),
    ),
    "the same aggregate under two names": (
        "(SUM(?b) AS ?s) (SUM(?b) AS ?t) { ?a :p ?b }",
        Project(Extend(groups("", ("s", sums())), var("t"), value("?s")), names("s t")),
    ),
    "HAVING": (
        "?a { ?a :p ?b } GROUP BY ?a HAVING (SUM(?b) > 1) (?a)",
        Project(Filter(groups("a", ("_:.1", sums())), call("&&", call(">", "?_:.1", integer(1)), "?a")), names("a")),
    ),
    "HAVING by an aggregate that is selected": (
        "(SUM(?b) AS ?s) { ?a :p ?b } HAVING (SUM(?b) > 1)",
        Project(Filter(groups("", ("s", sums())), call(">", "?s", integer(1))), names("s")),
    ),
    "HAVING without groups is a filter": ("?a { ?a :p ?b } HAVING (?b = 1)", Project(Filter(A, call("=", "?b", integer(1))), names("a"))),
    "HAVING of what is not grouped reads one of them": (
        "?a { ?a :p ?b } GROUP BY ?a HAVING (?b = 1)",
        Project(Filter(groups("a", ("_:.1", Aggregate("SAMPLE", value("?b")))), call("=", "?_:.1", integer(1))), names("a")),
    ),
    "ORDER BY aggregates, keys and names": (
        "?a (SUM(?b) AS ?s) { ?a :p ?b } GROUP BY ?a ORDER BY DESC(COUNT(*)) ?s ?a",
        Project(
            OrderBy(groups("a", ("s", sums()), ("_:.1", COUNT)), ((value("?_:.1"), True), (value("?s"), False), (value("?a"), False))),
            names("a s"),
        ),
    ),
    "an expression of a key": (
        "(STR(?a) AS ?k) { ?a :p ?b } GROUP BY ?a",
        Project(Extend(groups("a"), var("k"), call("STR", "?a")), names("k")),
    ),
    "all aggregates": (
        "(COUNT(DISTINCT ?b) AS ?n) (MIN(?b) AS ?l) (MAX(?b) AS ?h) (AVG(DISTINCT ?b) AS ?m) (SAMPLE(?b) AS ?o) { ?a :p ?b }",
        Project(
            groups(
                "",
                ("n", Aggregate("COUNT", value("?b"), is_distinct=True)),
                ("l", Aggregate("MIN", value("?b"))),
                ("h", Aggregate("MAX", value("?b"))),
                ("m", Aggregate("AVG", value("?b"), is_distinct=True)),
                ("o", Aggregate("SAMPLE", value("?b"))),
            ),
            names("n l h m o"),
        ),
    ),
    "GROUP_CONCAT": (
        '(GROUP_CONCAT(?b) AS ?x) (GROUP_CONCAT(DISTINCT STR(?b) ; SEPARATOR = ", 5\\t") AS ?y) { ?a :p ?b }',
        Project(
            groups(
                "",
                ("x", Aggregate("GROUP_CONCAT", value("?b"))),
                ("y", Aggregate("GROUP_CONCAT", call("STR", "?b"), is_distinct=True, separator=", 5\t")),
            ),
            names("x y"),
        ),
    ),
    "distinct solutions are counted without hidden variables": (
        "(COUNT(DISTINCT *) AS ?n) { ?a :p [] }",
        Project(groups("", ("n", Aggregate("COUNT", is_distinct=True)), pattern=Project(bgp("?a :p ?_:.1"), names("a"))), names("n")),
    ),
    "EXISTS beside an aggregate": (
        "(IF(EXISTS { ?c :p ?d }, COUNT(*), 0) AS ?n) { ?a :p ?b }",
        Project(
            Extend(groups("", ("_:.1", COUNT)), var("n"), Call("IF", (Exists(bgp("?c :p ?d")), value("?_:.1"), value(integer(0))))),
            names("n"),
        ),
    ),
    "an aggregate of a subquery is that of the subquery": (
        "?n { { SELECT (COUNT(*) AS ?n) { ?a :p ?b } } }",
        Project(Project(groups("", ("n", COUNT)), names("n")), names("n")),
    ),
    "groups and VALUES": (
        "?a { ?a :p ?b } GROUP BY ?a VALUES ?a { :x }",
        Project(Join(groups("a"), Values(names("a"), ((ex("x"),),))), names("a")),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_selections(case: str) -> None:
    text, expected = CASES[case]
    assert selected(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a = ?b && ?a != ?b || !?a", call("||", call("&&", call("=", "?a", "?b"), call("!=", "?a", "?b")), call("!", "?a"))),
        ("?a < ?b", call("<", "?a", "?b")),
        ("?a <= ?b", call("<=", "?a", "?b")),
        ("?a >= ?b", call(">=", "?a", "?b")),
        ("?a - ?b + 1", call("+", call("-", "?a", "?b"), integer(1))),
        ("?a * ?b / 2", call("/", call("*", "?a", "?b"), integer(2))),
        ("?a + ?b * 2", call("+", "?a", call("*", "?b", integer(2)))),
        ("?a IN (1, ?b)", call("IN", "?a", integer(1), "?b")),
        ("?a IN (1)", call("IN", "?a", integer(1))),
        ("?a NOT IN ()", call("NOT IN", "?a")),
        ("?a not in (:x)", call("NOT IN", "?a", ":x")),
        ("bound(?a)", call("BOUND", "?a")),
        ("IF(?a, ?b, 1)", call("IF", "?a", "?b", integer(1))),
        ("COALESCE(?a)", call("COALESCE", "?a")),
        ("COALESCE()", call("COALESCE")),
        ('CONCAT(?a, "x", ?b)', call("CONCAT", "?a", '"x"', "?b")),
        ('REGEX(?a, "x")', call("REGEX", "?a", '"x"')),
        ('REGEX(?a, "x", "i")', call("REGEX", "?a", '"x"', '"i"')),
        ('REPLACE(?a, "x", "y", "i")', call("REPLACE", "?a", '"x"', '"y"', '"i"')),
        ("SUBSTR(?a, 2)", call("SUBSTR", "?a", integer(2))),
        ("SUBSTR(?a, 2, 3)", call("SUBSTR", "?a", integer(2), integer(3))),
        ("sameTerm(?a, ?b)", call("SAMETERM", "?a", "?b")),
        ("isURI(?a)", call("ISIRI", "?a")),
        ("URI(?a)", call("IRI", "?a")),
        ("isNumeric(?a)", call("ISNUMERIC", "?a")),
        ("BNODE()", call("BNODE")),
        ("BNODE(?a)", call("BNODE", "?a")),
        ("NOW()", call("NOW")),
        ("STRUUID()", call("STRUUID")),
        ("ENCODE_FOR_URI(?a)", call("ENCODE_FOR_URI", "?a")),
        ("xsd:integer(?a)", call(iri(f"{XSD}integer"), "?a")),
    ],
)
def test_expressions(text: str, expected: Expression) -> None:
    assert selected(f"* {{ ?a :p ?b FILTER({text}) }}") == Project(Filter(A, expected), names("a b"))


OF_ONE = (
    "STRLEN UCASE LCASE ABS ROUND CEIL FLOOR YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 STR LANG "
    "DATATYPE IRI ISIRI ISBLANK ISLITERAL"
)
OF_TWO = "STRSTARTS STRENDS CONTAINS STRBEFORE STRAFTER LANGMATCHES STRDT STRLANG"


@pytest.mark.parametrize("name", OF_ONE.split())
def test_functions_of_one_argument(name: str) -> None:
    assert selected(f"({name.lower()}(?a) AS ?x) {{}}") == Project(Extend(EMPTY, var("x"), call(name, "?a")), names("x"))


@pytest.mark.parametrize("name", OF_TWO.split())
def test_functions_of_two_arguments(name: str) -> None:
    assert selected(f"({name.lower()}(?a, 1) AS ?x) {{}}") == Project(Extend(EMPTY, var("x"), call(name, "?a", integer(1))), names("x"))


def test_the_function_iri_knows_the_base() -> None:
    found = read_query('BASE <http://x/> SELECT (IRI("a") AS ?i) {}', G).pattern
    assert isinstance(found, Project)
    assert isinstance(found.pattern, Extend)
    assert found.pattern.expression == call("IRI", '"a"', "<http://x/>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?b (COUNT(*) AS ?n) { ?a :p ?b }", r"\?b is neither a key of GROUP BY nor within an aggregate"),
        ("(STR(?b) AS ?x) { ?a :p ?b } GROUP BY ?a", r"\?b is neither"),
        ("(STR(?a) AS ?x) { ?a :p ?b } GROUP BY (STR(?a) AS ?y)", r"\?a is neither"),
        ("* { ?a :p ?b } GROUP BY ?a", r"SELECT \* of groups"),
        ("(1 AS ?a) { ?a :p ?b }", r"there is a \?a already"),
        ("(1 AS ?x) (2 AS ?x) {}", r"there is a \?x already"),
        ("(SUM(?b) AS ?b) { ?a :p ?b }", r"there is a \?b already"),
        ("(1 AS ?a) { { SELECT ?a { ?a :p ?b } } }", r"there is a \?a already"),
        ("(1 AS ?x) {} VALUES ?x { 2 }", r"there is a \?x already"),
        ("(SUM(?b) AS ?s) { ?a :p ?b } HAVING (?s > 1)", r"HAVING reads \?s, which SELECT makes after it"),
        ("?b { ?a :p ?b } GROUP BY (1 AS ?b)", r"there is a \?b already"),
        ("(SUM(COUNT(?b)) AS ?s) { ?a :p ?b }", "COUNT can only stand in SELECT"),
        ("?a { ?a :p ?b FILTER(SUM(?b) > 1) }", "SUM can only stand in SELECT"),
        ("?a { ?a :p ?b } LIMIT 1.5", "natural number, not 1.5"),
    ],
)
def test_rules_of_the_language_that_its_grammar_does_not_know(text: str, message: str) -> None:
    with pytest.raises(ProgrammingError, match=message):
        selected(text)


def query(text: str) -> Query:
    return read_query(PREFIXES + text, G)


def test_ask() -> None:
    assert query("ASK { ?a :p ?b }") == Query(Form.ASK, A, ())
    assert query("ASK { ?a :p ?b } GROUP BY ?a HAVING (COUNT(*) > 1) OFFSET 1") == Query(
        Form.ASK, Slice(Filter(groups("a", ("_:.1", COUNT)), call(">", "?_:.1", integer(1))), 1), ()
    )


COLUMNS = names("subject predicate object")


def test_construct() -> None:
    found = query('CONSTRUCT { ?b :q ?z ; :q _:x . _:x :r [] } { ?a :p ?b . _:x :p "x" } LIMIT 2')
    pattern = Slice(Project(bgp("?a :p ?b", '?_:x :p "x"'), names("b z")), 0, 2)
    template = (triple("?b :q ?z"), triple("?b :q ?_:x"), triple("?_:x :r ?_:.1"))
    assert found == Query(Form.CONSTRUCT, pattern, COLUMNS, template)
    assert query("CONSTRUCT {} { ?a :p ?b }") == Query(Form.CONSTRUCT, Project(A, ()), COLUMNS)


def test_construct_where() -> None:
    assert query("CONSTRUCT WHERE { ?a :p ?b }") == Query(Form.CONSTRUCT, Project(A, names("a b")), COLUMNS, (triple("?a :p ?b"),))


def described(term: Term) -> Pattern:
    return Extend(bgp(f"{term} ?predicate ?object"), var("subject"), Constant(term))


def told(pattern: Pattern, name: str, hidden: str) -> Pattern:
    bound = Filter(Extend(pattern, var(hidden), value(f"?{name}")), call("BOUND", f"?{hidden}"))
    triples = bgp(f"?{hidden} ?predicate ?object")
    return Extend(Join(Distinct(Project(bound, names(hidden))), triples), var("subject"), value(f"?{hidden}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DESCRIBE :x", described(ex("x"))),
        ("DESCRIBE :x :y", Union(described(ex("x")), described(ex("y")))),
        ("DESCRIBE ?a { ?a :p ?b }", told(A, "a", "_:.1")),
        ("DESCRIBE ?b :x { ?a :p ?b } LIMIT 1", Union(told(Slice(A, 0, 1), "b", "_:.1"), described(ex("x")))),
        ("DESCRIBE * { ?a :p ?b }", Union(told(A, "a", "_:.1"), told(A, "b", "_:.2"))),
    ],
)
def test_describe_is_the_triples_of_its_resources(text: str, expected: Pattern) -> None:
    assert query(text) == Query(Form.DESCRIBE, Distinct(Project(expected, COLUMNS)), COLUMNS)
