"""The four forms of queries (section 16 of SPARQL 1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from imp_driver.sparql.algebra import (
    Bgp,
    Call,
    Constant,
    Distinct,
    Extend,
    Filter,
    Form,
    Join,
    Node,
    Pattern,
    Place,
    Project,
    Query,
    Read,
    Source,
    Triple,
    Union,
    Variable,
)
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.dataset import Dataset
from imp_driver.sparql.reading.joining import visible
from imp_driver.sparql.reading.names import Names
from imp_driver.sparql.reading.patterns import flat_triples
from imp_driver.sparql.reading.selection import Selection, in_order, select, sliced
from imp_driver.sparql.reading.tokens import unescaped
from imp_driver.sparql.reading.tree import Tree, query_tree

TRIPLE: Final = (Variable("subject"), Variable("predicate"), Variable("object"))
"""Columns of CONSTRUCT and DESCRIBE."""


def query(text: str, default: Sequence[Source]) -> Query:
    """Return the query of text, ``default`` being the default graph where it names none.

    Raises:
        ProgrammingError: the text is no query of SPARQL 1.1, or does not say which graph it asks.
        NotSupportedError: something of SPARQL 1.1 that this driver leaves out.
    """
    prologue, tree = query_tree(unescaped(text))
    names = Names().behind(prologue)
    clauses = tree.many("datasetClause")
    dataset = Dataset.of(default).restricted(
        [names.graph(clause.one("default")) for clause in clauses if clause.one("default") is not None],
        [names.graph(clause.one("named")) for clause in clauses if clause.one("named") is not None],
    )
    context = Context(names, dataset, select)
    match tree.rule:
        case "SelectQuery":
            pattern = select(context, tree, None)
            return Query(Form.SELECT, pattern, projected(pattern))
        case "AskQuery":
            return Query(Form.ASK, sliced(Selection(context, tree, None).modified(), tree), ())
        case "ConstructQuery":
            return _construct(context, tree)
        case _:
            return _describe(context, tree)


def projected(pattern: Pattern) -> tuple[Variable, ...]:
    """Return the columns of a SELECT's pattern."""
    while not isinstance(pattern, Project):
        pattern = pattern.pattern  # type: ignore[union-attr]
    return pattern.variables


def templates(context: Context, blocks: Sequence[object]) -> tuple[Triple, ...]:
    """Return the triples of a template, each once."""
    return tuple(dict.fromkeys(Triple(*(context.template_node(leaf) for leaf in triple)) for triple in flat_triples(blocks)))


def named_in(triples: Sequence[Triple]) -> tuple[Variable, ...]:
    """Return the variables of triples that are no blank nodes."""
    nodes = [node for triple in triples for node in triple.nodes]
    return tuple(dict.fromkeys(node for node in nodes if isinstance(node, Variable) and not node.is_hidden))


def _construct(context: Context, tree: Tree) -> Query:
    if (where := tree.one("where")) is not None and where.rule == "FakeGroupGraphPatten":
        # CONSTRUCT WHERE: the pattern is the template.
        blocks = [block for part in where.many("part") for block in part.many("triples")]
        tree = Tree(tree.rule, {**tree.parts, "where": Tree("GroupGraphPatternSub", dict(where.parts))})
    else:
        blocks = list(tree.many("template"))
    if where is None:
        tree = Tree(tree.rule, {**tree.parts, "where": Tree("GroupGraphPatternSub")})
    template = templates(context, blocks)
    solutions = sliced(Project(Selection(context, tree, None).modified(), named_in(template)), tree)
    return Query(Form.CONSTRUCT, solutions, TRIPLE, template)


def _describe(context: Context, tree: Tree) -> Query:
    if tree.one("where") is None:
        tree = Tree(tree.rule, {**tree.parts, "where": Tree("GroupGraphPatternSub")})
    selection = Selection(context, tree, None)
    solutions = sliced(selection.modified(), tree)
    asked: list[Node] = [context.template_node(leaf) for leaf in tree.many("var")]
    if not asked:
        asked = list(in_order(tree.one("where"), visible(solutions)))
    place = context.dataset.outside()
    told = [_triples(context, node, solutions, place) for node in dict.fromkeys(asked)]
    pattern = reduce(Union, told) if told else Bgp((), ())
    return Query(Form.DESCRIBE, Distinct(Project(pattern, TRIPLE)), TRIPLE)


def _triples(context: Context, node: Node, solutions: Pattern, place: Place) -> Pattern:
    """Return the triples that have a term, or a value of a variable, as their subject."""
    subject, predicate, object_ = TRIPLE
    if not isinstance(node, Variable):
        return Extend(Bgp((Triple(node, predicate, object_),), place), subject, Constant(node))
    # Renamed first: the pattern may have a variable of the name of a column.
    told = context.hidden()
    terms = Distinct(Project(Filter(Extend(solutions, told, Read(node)), Call("BOUND", (Read(told),))), (told,)))
    return Extend(Join(terms, Bgp((Triple(told, predicate, object_),), place)), subject, Read(told))
