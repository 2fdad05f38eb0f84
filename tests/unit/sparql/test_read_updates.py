"""Updates: data, templates, whole graphs; several in one request."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Bgp,
    Clear,
    EachNamed,
    Join,
    LeftJoin,
    Load,
    Modify,
    Pattern,
    Project,
    Quad,
    Source,
    Triple,
    Update,
    Values,
)
from imp_driver.sparql.read import read_updates
from tests.unit.sparql.shapes import PREFIXES, bgp, integer, names, triple, var

G, H = Source("g"), Source("h")
X = "<http://x/a>"
IN_X = Source("g", X)
ONCE = Values((), ((),))
ALL = triple("?.subject ?.predicate ?.object")


def quad(text: str, source: Source = G, graph: str | None = None) -> Quad:
    return Quad(triple(text), source, None if graph is None else var(graph))


def solutions(pattern: Pattern, columns: str) -> Project:
    return Project(pattern, names(columns))


CASES: dict[str, tuple[str, tuple[Update, ...]]] = {
    "INSERT DATA": ("INSERT DATA { :s :p :o, 05 }", (Modify((), (quad(":s :p :o"), quad(f":s :p {integer('05')}")), ONCE),)),
    "a triple twice": ("INSERT DATA { :s :p :o . :s :p :o }", (Modify((), (quad(":s :p :o"),), ONCE),)),
    "data of several graphs": (
        f"INSERT DATA {{ :s :p 1 GRAPH <h> {{ :s :p 2 }} GRAPH {X} {{ :s :p 3 . }} }}",
        (Modify((), (quad(f":s :p {integer(1)}"), quad(f":s :p {integer(2)}", H), quad(f":s :p {integer(3)}", IN_X)), ONCE),),
    ),
    "blank nodes of data": ("INSERT DATA { _:x :p [ :q _:x ] }", (Modify((), (quad("?_:x :p ?_:.1"), quad("?_:.1 :q ?_:x")), ONCE),)),
    "DELETE DATA": ("DELETE DATA { :s :p :o }", (Modify((quad(":s :p :o"),), (), ONCE),)),
    "DELETE WHERE": (
        "DELETE WHERE { ?a :p ?b . ?b :q ?c }",
        (Modify((quad("?a :p ?b"), quad("?b :q ?c")), (), solutions(bgp("?a :p ?b", "?b :q ?c"), "a b c")),),
    ),
    "DELETE WHERE of several graphs": (
        "DELETE WHERE { ?a :p ?b GRAPH ?v { ?b :q ?c } GRAPH <h> { ?c :r ?d } }",
        (
            Modify(
                (quad("?a :p ?b"), quad("?b :q ?c", G, "v"), quad("?c :r ?d", H)),
                (),
                solutions(
                    Join(Join(bgp("?a :p ?b"), bgp("?b :q ?c", place=EachNamed(var("v"), ("g",)))), bgp("?c :r ?d", place=(H,))),
                    "a b c v d",
                ),
            ),
        ),
    ),
    "DELETE and INSERT": (
        "DELETE { ?a :p ?b } INSERT { ?a :q ?b . ?a :r _:x } WHERE { ?a :p ?b OPTIONAL { _:x :q ?c } }",
        (
            Modify(
                (quad("?a :p ?b"),),
                (quad("?a :q ?b"), quad("?a :r ?_:x")),
                # The blank node of the pattern is another one, and not among the solutions.
                solutions(LeftJoin(bgp("?a :p ?b"), bgp("?_:x :q ?c")), "a b"),
            ),
        ),
    ),
    "INSERT alone": ("INSERT { :s :p ?b } WHERE { ?a :p ?b }", (Modify((), (quad(":s :p ?b"),), solutions(bgp("?a :p ?b"), "b")),)),
    "WITH": (
        "WITH <h> DELETE { ?a :p ?b } INSERT { GRAPH <g> { ?a :p ?b } } WHERE { ?a :p ?b }",
        (Modify((quad("?a :p ?b", H),), (quad("?a :p ?b"),), solutions(bgp("?a :p ?b", place=(H,)), "a b")),),
    ),
    "WITH a named graph": (
        f"WITH {X} INSERT {{ ?a :p ?b }} WHERE {{ ?a :q ?b }}",
        (Modify((), (quad("?a :p ?b", IN_X),), solutions(bgp("?a :q ?b", place=(IN_X,)), "a b")),),
    ),
    "USING in the place of WITH": (
        "WITH <h> INSERT { ?a :p ?b } USING <g> USING <k> WHERE { ?a :q ?b }",
        (Modify((), (quad("?a :p ?b", H),), solutions(bgp("?a :q ?b", place=(G, Source("k"))), "a b")),),
    ),
    "USING NAMED": (
        "INSERT { GRAPH ?v { ?a :p ?b } } USING NAMED <h> WHERE { GRAPH ?v { ?a :q ?b } }",
        (
            Modify(
                (),
                (quad("?a :p ?b", G, "v"),),
                solutions(bgp("?a :q ?b", place=EachNamed(var("v"), (), (("<h>", H),))), "a b v"),
            ),
        ),
    ),
    "LOAD": ("LOAD <http://x/data.ttl>", (Load("http://x/data.ttl", G),)),
    "LOAD into a graph": (f"LOAD SILENT <data.nt> INTO GRAPH {X}", (Load("data.nt", IN_X, is_silent=True),)),
    "CLEAR": ("CLEAR GRAPH <h>", (Clear((H,)),)),
    "CLEAR DEFAULT": ("CLEAR SILENT DEFAULT", (Clear((G,), (), is_silent=True),)),
    "CLEAR NAMED": ("CLEAR NAMED", (Clear((), ("g",)),)),
    "DROP ALL": ("DROP ALL", (Clear((G,), ("g",)),)),
    "DROP": (f"DROP GRAPH {X}", (Clear((IN_X,)),)),
    "CREATE of a named graph": (f"CREATE GRAPH {X}", ()),
    "ADD": ("ADD <h> TO DEFAULT", (Modify((), (Quad(ALL, G),), Bgp((ALL,), (H,))),)),
    "COPY": (f"COPY DEFAULT TO {X}", (Clear((IN_X,)), Modify((), (Quad(ALL, IN_X),), Bgp((ALL,), (G,))))),
    "MOVE": ("MOVE SILENT <h> TO <g>", (Clear((G,), (), True), Modify((), (Quad(ALL, G),), Bgp((ALL,), (H,))), Clear((H,), (), True))),
    "COPY to itself": ("COPY DEFAULT TO <g>", ()),
    "nothing": ("", ()),
    "several": (
        "INSERT DATA { :s :p 1 ; :q 2 } ; # a comment; with a semicolon\nPREFIX : <http://y/> CLEAR DEFAULT ; DELETE DATA { :s :p 1 } ;",
        (
            Modify((), (quad(f":s :p {integer(1)}"), quad(f":s :q {integer(2)}")), ONCE),
            Clear((G,)),
            Modify((quad(f"<http://y/s> <http://y/p> {integer(1)}"),), (), ONCE),
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_updates(case: str) -> None:
    text, expected = CASES[case]
    assert read_updates(PREFIXES + text, G) == expected


def test_a_long_request() -> None:
    text = " ;\n".join(f"INSERT DATA {{ <http://x/{number}> <http://x/p> {number} }}" for number in range(300))
    found = read_updates(text, G)
    assert [update.inserted[0].triple.object for update in found if isinstance(update, Modify)] == [integer(n) for n in range(300)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT DATA { ?s :p :o }", r"INSERT DATA has the variable \?s"),
        ("DELETE DATA { GRAPH ?g { :s :p :o } }", r"DELETE DATA has the variable \?g"),
        ("DELETE DATA { _:x :p :o }", "DELETE DATA has a blank node"),
        ("DELETE WHERE { ?s :p [] }", "DELETE WHERE has a blank node"),
        ("DELETE { ?s :p _:x } WHERE { ?s :p ?o }", "DELETE has a blank node"),
        ('INSERT DATA { "a" :p :o }', "as a subject"),
        ("INSERT DATA { _:x :p 1 } ; INSERT DATA { _:x :p 2 }", "data of two operations"),
        ("INSERT DATA { :s :p }", r"line 2, column 21: expected one of .*found '}'"),
        ("CLEAR DEFAULT ;\n CLEAR x", r"line 3, column 8: expected one of ALL, DEFAULT, GRAPH, NAMED, SILENT; found 'x'"),
        ("SELECT * {}", "line 2, column 1"),
    ],
)
def test_wrong_updates(text: str, message: str) -> None:
    with pytest.raises(ProgrammingError, match=message):
        read_updates(PREFIXES + text, G)


@pytest.mark.parametrize("text", ["INSERT DATA { <s> <p> <o> }", "CLEAR ALL", "LOAD <a>", "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }"])
def test_an_update_that_does_not_say_which_graph(text: str) -> None:
    with pytest.raises(ProgrammingError, match="does not say which graph"):
        read_updates(text)


@pytest.mark.parametrize(
    "text", ["INSERT DATA { GRAPH <h> { <s> <p> <o> } }", "WITH <h> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "CLEAR GRAPH <h>"]
)
def test_an_update_that_says_which_graph(text: str) -> None:
    (found,) = read_updates(text)
    assert found == read_updates(text, G)[0]


def test_tables_are_not_created_here() -> None:
    with pytest.raises(NotSupportedError, match="makes no table"):
        read_updates("CREATE GRAPH <h>")
    assert read_updates("CREATE SILENT GRAPH <h>") == ()


def test_relative_iris_are_resolved_against_a_base_and_stay_without_one() -> None:
    [plain] = read_updates("INSERT DATA { GRAPH <h> { <a> <p> <b> } }", G)
    assert plain == Modify((), (Quad(Triple("<a>", "<p>", "<b>"), H),), ONCE)
    based = "BASE <http://x/> INSERT DATA { GRAPH <h> { <a> <p> <b> } } ; DELETE DATA { GRAPH <h> { <a> <p> <http://y/b> } }"
    assert read_updates(based, G) == (
        Modify((), (Quad(Triple("<http://x/a>", "<http://x/p>", "<http://x/b>"), H),), ONCE),
        Modify((Quad(Triple("<http://x/a>", "<http://x/p>", "<http://y/b>"), H),), (), ONCE),
    )
