"""A view reference -> the plan of the view's text: names relative to the view's schema, columns by name, as the view calls and types them.

What Spark does with a view's columns: the recorded ones are picked from the query by name and converted to the recorded types, so columns
that a table got later are left out, and a type that changed later does not show.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from imp_driver.parse.moment import with_moment
from imp_driver.parse.statement import DIALECT, StatementKind, parse
from imp_driver.plan.attributes import reference as reference_to
from imp_driver.plan.check import check, checked_tree
from imp_driver.plan.context import Context, ViewDefinition
from imp_driver.plan.nodes import Attribute, Plan, Project
from imp_driver.plan.outputs import known_type
from imp_driver.plan.view_reference import ViewReference
from imp_driver.ports import ViewColumn
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.types import arrow_type

DEEPEST = 10
"""Views over views, counted from the query; Spark's own limit is ten times that."""


def unfold(place: exp.Table, definition: ViewDefinition, context: Context) -> tuple[ViewReference, Context]:
    """Return a reference to a view with its text, and the context in which that is resolved.

    Raises:
        Refused: the text would mean something else outside the view, cannot be read with certainty, or reads itself.
    """
    found = context.unfolded.get(id(place))
    if found is None:
        found = _reference(place, definition, context)
        context.unfolded[id(place)] = found
    return found, replace(context, views=(*context.views, found))


def _reference(place: exp.Table, definition: ViewDefinition, context: Context) -> ViewReference:
    name = ".".join(definition.name)
    if definition.view.problem:
        raise Refused(Reason.VIEW, f"{name}: {definition.view.problem}")
    if definition.name in (view.name for view in context.views):
        raise Refused(Reason.RECURSION, name)
    if len(context.views) >= DEEPEST:
        raise Refused(Reason.VIEW, f"{name}: more than {DEEPEST} views over each other")
    statement = parse(definition.view.text)
    tree = checked_tree(statement).copy()
    if statement.kind is not StatementKind.QUERY or tree.find(exp.Placeholder, exp.Parameter):
        raise Refused(Reason.VIEW, f"{name}: no query, or one with markers")
    if definition.view.is_recursive:
        # Spark reads no such view, so that its moment is that of the query here alone.
        tree, asked = with_moment(tree)
        context.asked.update(asked)
    check(tree)
    return ViewReference(place, definition.name, definition.view, statement, tree, [])


def view_columns(plan: Plan, reference: ViewReference, context: Context) -> Plan:
    """Return the columns of a view over the plan of its text.

    Raises:
        Refused: a column is not found with certainty, or its conversion could behave differently outside the view.
    """
    pairs = [_column(plan, column, reference, context) for column in reference.view.columns]
    return Project(plan, tuple(attribute for attribute, _ in pairs), tuple(expression for _, expression in pairs))


def _column(plan: Plan, column: ViewColumn, reference: ViewReference, context: Context) -> tuple[Attribute, exp.Expr]:
    found = [attribute for attribute in plan.output if attribute.name.lower() == column.source.lower()]
    if len(found) != 1:
        raise Refused(Reason.AMBIGUOUS_NAME, f"{column.source} in the view {'.'.join(reference.name)}")
    value = reference_to(found[0])
    if _is_of_type(plan, found[0], column.type_name):
        return context.attribute(column.name, column.type_name, found[0].nullable, found[0].kind), value
    if not reference.view.is_ansi:
        raise Refused(Reason.VIEW, f"{column.name}: its type may have changed, and conversions here do not raise as they do in a view")
    try:
        return context.attribute(column.name), exp.cast(value, column.type_name, dialect=DIALECT)
    except SqlglotError as error:
        raise Refused(Reason.VIEW, f"{column.name} of type {column.type_name}") from error


def _is_of_type(plan: Plan, attribute: Attribute, type_name: str) -> bool:
    wanted = arrow_type(type_name)
    return wanted is not None and known_type(plan, attribute) == wanted
