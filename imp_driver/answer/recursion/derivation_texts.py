"""The SQL that asks for derivations of a recursion whose rows an engine keeps: some input of a rule, or its head, is among a few rows.

A rule is a join of tables and of the recursion's own relations. The few rows are handed over; what joins them without the many rows of the
recursion is joined first, so that these need not be sent around.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from imp_driver.answer.recursion.round_texts import LEVEL, column
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.nodes import Attribute, Fixpoint, OneRow, Plan, Recurrence, Scan
from imp_driver.plan.render import RelationOf, Renderer, condition_sql
from imp_driver.plan.rule_forms import NoRule, RuleForm, rule_forms
from imp_driver.values.quoting import quoted_name

HEADS = -1
"""The place of the few rows where they are those that follow."""


class NotFollowed(Exception):
    """A recursion cannot be followed from its kept rows; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class DerivationForm:
    """A rule over tables.

    Attributes:
        head: place of the relation in its recursion.
        inputs: tables, and the recursion's own relations.
        made: places of the inputs that are the recursion's own, and of what relation each is.
    """

    head: int
    inputs: tuple[Plan, ...]
    conjuncts: tuple[exp.Expr, ...]
    values: tuple[exp.Expr, ...]
    made: Mapping[int, int]

    @property
    def scans(self) -> dict[int, Scan]:
        """The inputs that are tables, by their places."""
        return {place: each for place, each in enumerate(self.inputs) if isinstance(each, Scan)}

    @property
    def wanted(self) -> frozenset[str]:
        return frozenset(name for each in (*self.conjuncts, *self.values) for name in identifiers(each))


def columns_read(forms: Iterable[DerivationForm]) -> dict[tuple[str, ...], dict[str, Attribute]]:
    """Return the columns that rules read of tables, by the names of both."""
    found: dict[tuple[str, ...], dict[str, Attribute]] = {}
    for form in forms:
        for scan in form.scans.values():
            found.setdefault(scan.table, {}).update((each.name, each) for each in scan.output if each.identifier in form.wanted)
    return found


def derivation_forms(plan: Fixpoint) -> tuple[DerivationForm, ...]:
    """Return the rules of a recursion. Raises NotFollowed where a step does more than to join tables, filter and compute."""
    if plan.best is not None:
        raise NotFollowed("its best rows alone are kept")
    places = {each.number: place for place, each in enumerate(plan.relations)}
    try:
        found = rule_forms(replace(plan, is_traced=True))
    except NoRule as error:
        raise NotFollowed(f"a step has no rule: {error}") from None
    return tuple(_form(each, places) for each in found)


def _form(rule: RuleForm, places: Mapping[int, int]) -> DerivationForm:
    for each in rule.inputs:
        if not isinstance(each, (Scan, Recurrence, OneRow)):
            raise NotFollowed(f"a step reads more than tables: {type(each).__name__.lower()}")
    made = {place: places[each.number] for place, each in enumerate(rule.inputs) if isinstance(each, Recurrence)}
    return DerivationForm(places[rule.head], rule.inputs, rule.conjuncts, rule.values, made)


@dataclass(frozen=True, slots=True)
class _Input:
    """A part of a join: a query, and the columns that it has."""

    query: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """What stands for the inputs of a rule.

    Attributes:
        form: the rule.
        few: the place of the input that is handed over, or HEADS.
        rows: the name of what is handed over: under the columns of a table, else ``c0``, ``c1`` ..
        table: tells where the table at a place is read.
        made: gives the rows of a relation with their levels, ``c0``, ``c1`` .. and LEVEL, by the place of the relation.
    """

    form: DerivationForm
    few: int
    rows: str
    table: Callable[[int, Scan], str]
    made: Callable[[int], str]

    def query(self) -> str:
        """Return the derivations: head ``h0`` .., and for each own input at place p its row ``b<p>_0`` .. and its level ``l<p>``.

        Each is there as often as the rows that it is made of: to have each once, Spark would sort them into parts, and start another job.
        """
        form = self.form
        values = [f"{_text(value)} AS h{place}" for place, value in enumerate(form.values)]
        bodies = [item for place in form.made for item in self._body(place)]
        return f"SELECT {', '.join([*values, *bodies])} FROM ({self._joined()})"

    def _body(self, place: int) -> list[str]:
        output = form_output(self.form, place)
        return [*(f"{quoted_name(name)} AS b{place}_{number}" for number, name in enumerate(output)), f"{_level(place)} AS l{place}"]

    def _joined(self) -> str:
        inputs = {place: self._input(place) for place in range(len(self.form.inputs))}
        conditions = list(self.form.conjuncts)
        equal: list[tuple[str, frozenset[str]]] = [(condition_sql((each,)), frozenset(identifiers(each))) for each in conditions]
        if self.few == HEADS:
            names = [f"w{place}" for place in range(len(self.form.values))]
            items = ", ".join(f"{column(place)} AS {name}" for place, name in enumerate(names))
            inputs = {HEADS: _Input(f"SELECT {items} FROM {self.rows}", frozenset(names)), **inputs}
            equal += [
                (f"(({_text(value)}) <=> {name})", frozenset(identifiers(value)) | {name})
                for value, name in zip(self.form.values, names, strict=True)
            ]
        else:
            inputs = {self.few: inputs[self.few], **inputs}
        many = [place for place in self.form.made if place != self.few]
        aside = [place for place in inputs if place not in many]
        if len(many) != 1 or not _is_connected([inputs[place] for place in aside], [names for _, names in equal]):
            return _join(list(inputs.values()), [text for text, _ in equal])
        names_aside = frozenset(name for place in aside for name in inputs[place].names)
        before = [text for text, names in equal if names <= names_aside]
        after = [text for text, names in equal if not names <= names_aside]
        few = _join([inputs[place] for place in aside], before)
        own = inputs[many[0]].query
        return f"SELECT /*+ BROADCAST(few) */ * FROM ({own}) AS many INNER JOIN ({few}) AS few ON {' AND '.join(after) or 'true'}"

    def _input(self, place: int) -> _Input:
        plan = self.form.inputs[place]
        if isinstance(plan, Scan):
            relation: RelationOf = (lambda scan: self.rows) if place == self.few else partial(self.table, place)
            names = frozenset(each.identifier for each in plan.output if each.identifier in self.form.wanted)
            return _Input(Renderer(relation, self.form.wanted).sql(plan), names)
        if isinstance(plan, OneRow):
            return _Input("SELECT 1 AS `one_row`", frozenset())
        output = form_output(self.form, place)
        items = ", ".join(f"{column(number)} AS {quoted_name(name)}" for number, name in enumerate(output))
        if place == self.few:
            return _Input(f"SELECT {items}, CAST(NULL AS INT) AS {_level(place)} FROM {self.rows}", frozenset(output))
        return _Input(f"SELECT {items}, {LEVEL} AS {_level(place)} FROM ({self.made(self.form.made[place])})", frozenset(output))


def form_output(form: DerivationForm, place: int) -> tuple[str, ...]:
    """Return the identifiers of the columns of an input."""
    return tuple(each.identifier for each in form.inputs[place].output)


def _is_connected(inputs: Sequence[_Input], conditions: Collection[frozenset[str]]) -> bool:
    """Say whether each input but the first meets those before it by a condition."""
    found, left = set(inputs[0].names), list(inputs[1:])
    while left:
        every = {name for each in left for name in each.names} | found
        met = [each for each in left if any(names & each.names and names & found and names <= every for names in conditions)]
        if not met:
            return False
        for each in met:
            left.remove(each)
            found |= each.names
    return True


def _join(inputs: Sequence[_Input], conditions: Sequence[str]) -> str:
    first, *others = [f"({each.query})" for each in inputs]
    condition = " AND ".join(conditions) or "true"
    if not others:
        return f"SELECT * FROM {first} WHERE {condition}"
    between = "".join(f" INNER JOIN {each} ON true" for each in others[:-1])
    return f"SELECT * FROM {first}{between} INNER JOIN {others[-1]} ON {condition}"


def _level(place: int) -> str:
    return f"imp_level_{place}"


def _text(expression: exp.Expr) -> str:
    return expression.sql(dialect=DIALECT)
