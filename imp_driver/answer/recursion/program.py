"""A recursion with the types of its columns -> rules over Python values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.columns import expression_over
from imp_driver.answer.recursion.column_types import told_types
from imp_driver.answer.recursion.convert import as_column, as_rows, is_same_kind, is_temporal
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.dataflow.expression.evaluate import computed, truth
from imp_driver.dataflow.recursion.by_row import by_row
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.rules import Heads, Place, Rule, copied
from imp_driver.dataflow.recursion.selection import Selection
from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.best_rows import Best
from imp_driver.plan.nodes import Aggregate, Fixpoint, Plan, Recurrence
from imp_driver.plan.recursion import as_begun
from imp_driver.plan.rule_forms import RuleForm, equal_columns, rule_forms
from imp_driver.plan.signature import signature
from imp_driver.values.expressions import And, Expression, Opaque, walk
from imp_driver.values.types import sql_name
from imp_driver.values.widening import is_number

_FEW = 500
"""Bodies whose heads are computed one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Rows that a recursion reads and does not make: the columns of a plan that are read, by their places in its output."""

    plan: Plan
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """The rules of a recursion before types are known.

    Attributes:
        reads: of each rule the numbers of the relations that it reads: the recursion's own first, then those of ``given``.
    """

    plan: Fixpoint
    rules: tuple[RuleForm, ...]
    given: tuple[Given, ...]
    reads: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, plan: Fixpoint) -> Forms:
        """Raises NoRule."""
        rules = tuple(_pruned(each, plan.best) for each in rule_forms(plan)) if plan.best is not None else rule_forms(plan)
        numbers: dict[int | str, int] = {each.number: place for place, each in enumerate(plan.relations)}
        given: dict[int, tuple[Plan, set[int]]] = {}

        def number(rule: RuleForm, each: Plan) -> int:
            if isinstance(each, Recurrence):
                return numbers[each.number]
            # The same rows are one relation, whatever reads them.
            found = numbers.setdefault(signature(each), len(numbers))
            given.setdefault(found, (each, set()))[1].update(_told_apart(each) if plan.is_traced else _read(rule, each))
            return found

        reads = tuple(tuple(number(rule, each) for each in rule.inputs) for rule in rules)
        return cls(plan, rules, tuple(Given(each, tuple(sorted(places))) for each, places in given.values()), reads)


def _pruned(rule: RuleForm, best: Best) -> RuleForm:
    """Return a rule without the columns of the recursion that nobody reads."""

    def kept(plan: Plan) -> Plan:
        return replace(plan, output=tuple(plan.output[place] for place in best.kept)) if isinstance(plan, Recurrence) else plan

    return replace(rule, inputs=tuple(map(kept, rule.inputs)), values=tuple(rule.values[place] for place in best.kept))


def _told_apart(plan: Plan) -> tuple[int, ...]:
    """Return the places of the columns by which rows are told apart."""
    return tuple(range(len(plan.key_attributes if isinstance(plan, Aggregate) else plan.output)))


def _read(rule: RuleForm, plan: Plan) -> tuple[int, ...]:
    names = {name for each in (*rule.conjuncts, *rule.values) for name in identifiers(each)}
    return tuple(place for place, attribute in enumerate(plan.output) if attribute.identifier in names)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Rules of a recursion. ``types`` are those of the columns of its own relations, ``places`` those of the first in the plan's output.

    ``has_new_values``: some head has a value that no row before it has, so that there may be rows without end.
    """

    rules: tuple[Rule, ...]
    types: tuple[tuple[pa.DataType, ...], ...]
    places: tuple[int, ...]
    selections: Mapping[int, Selection]
    has_new_values: bool

    @classmethod
    def of(cls, forms: Forms, given: Sequence[Sequence[pa.DataType]]) -> Program:
        """Compile rules for given rows of these types. Raises NotEvaluable."""
        numbers = {each.number: place for place, each in enumerate(forms.plan.relations)}
        types: dict[int, tuple[pa.DataType, ...]] = {}
        bodies = [_Body(rule, reads, numbers) for rule, reads in zip(forms.rules, forms.reads, strict=True)]
        for relation, _ in as_begun(forms.plan):
            head = numbers[relation.number]
            first = next(each for each in bodies if each.head == head and each.is_ready(types))
            types[head] = first.compiled(forms, types, given).types
        compiled = [each.compiled(forms, types, given) for each in bodies]
        for body, each in zip(bodies, compiled, strict=True):
            if types[body.head] != each.types:
                raise NotEvaluable(_told(forms.plan, body.head, types[body.head], each.types))
        rules = tuple(each.rule for each in compiled)
        best = forms.plan.best
        places = tuple(range(len(types[0]))) if best is None else best.kept
        selection = None if best is None else _selection(best, types[0])
        selections = {} if selection is None else {0: selection}
        steps = [each for each in forms.rules if any(isinstance(own, Recurrence) for own in each.inputs)]
        values = [value for each in steps for value in each.values]
        has_new_values = any(plain_identifier(value) is None and identifiers(value) for value in values)
        return cls(rules, tuple(types[place] for place in range(len(numbers))), places, selections, has_new_values)


def _told(plan: Fixpoint, place: int, begun: Sequence[pa.DataType], other: Sequence[pa.DataType]) -> str:
    output = plan.relations[place].output
    kept = output if plan.best is None else [output[each] for each in plan.best.kept]
    return told_types(kept, list(map(sql_name, begun)), list(map(sql_name, other)))


def _selection(best: Best, types: Sequence[pa.DataType]) -> Selection | None:
    """Return which rows are followed; None for all, where their order is not that of Python, or rounding makes rows tie that did not."""
    measure = best.kept.index(best.measure)
    kind = types[measure]
    if (best.greatest and not is_number(kind) and not is_temporal(kind)) or (best.is_strict and pa.types.is_floating(kind)):
        return None
    return Selection(tuple(map(best.kept.index, best.group)), measure, best.greatest, best.nulls_first, not best.needs_values, best.most)


@dataclass(frozen=True, slots=True, eq=False)
class _Compiled:
    rule: Rule
    types: tuple[pa.DataType, ...]


class _Body:
    """One rule; ``numbers`` are those of the recursion's own relations."""

    def __init__(self, form: RuleForm, reads: Sequence[int], numbers: Mapping[int, int]) -> None:
        self._form = form
        self._first_given = len(numbers)
        self.head = numbers[form.head]
        self.reads = reads

    def is_ready(self, types: Mapping[int, Sequence[pa.DataType]]) -> bool:
        return all(read in types for read in self.reads if read < self._first_given)

    def compiled(self, forms: Forms, types: Mapping[int, Sequence[pa.DataType]], given: Sequence[Sequence[pa.DataType]]) -> _Compiled:
        names: list[str] = []
        kinds: list[pa.DataType] = []
        places: dict[str, Place] = {}
        widths = []
        for read, (relation, plan) in enumerate(zip(self.reads, self._form.inputs, strict=True)):
            is_own = relation < self._first_given
            own = range(len(plan.output)) if is_own else forms.given[relation - self._first_given].places
            widths.append(len(own))
            kinds += types[relation] if is_own else given[relation - self._first_given]
            for column, place in enumerate(own):
                name = plan.output[place].identifier
                names.append(name)
                places[name] = Place(read, column)
        schema = pa.schema(list(zip(names, kinds, strict=True)))
        equalities, conjuncts = [], []
        for conjunct in self._form.conjuncts:
            sides = equal_columns(conjunct)
            if sides is not None and set(sides) <= set(places) and is_same_kind(*(schema.field(side).type for side in sides)):
                equalities.append((places[sides[0]], places[sides[1]]))
            else:
                conjuncts.append(conjunct)
        heads, found = _heads(schema, conjuncts, self._form.values)
        return _Compiled(Rule(self.head, tuple(self.reads), tuple(widths), tuple(equalities), heads), found)


def _heads(schema: pa.Schema, conjuncts: Sequence[exp.Expr], values: Sequence[exp.Expr]) -> tuple[Heads, tuple[pa.DataType, ...]]:
    plain = [plain_identifier(value) for value in values]
    if not conjuncts and None not in plain:
        places = [schema.get_field_index(name) for name in plain if name is not None]
        return copied(places), tuple(schema.types[place] for place in places)
    heads = _Computed(schema, conjuncts, values)
    return heads, heads.types


class _Computed:
    """Rows that follow from bodies by expressions."""

    def __init__(self, schema: pa.Schema, conjuncts: Sequence[exp.Expr], values: Sequence[exp.Expr]) -> None:
        """Raises NotEvaluable."""
        read = sorted({schema.get_field_index(name) for each in (*conjuncts, *values) for name in identifiers(each)})
        self._places = read
        self._schema = pa.schema([schema.field(place) for place in read])
        empty = self._schema.empty_table()
        conditions: list[Expression] = [expression_over(empty, each) for each in conjuncts]
        self._condition = And(tuple(conditions)) if conditions else None
        self._values = [expression_over(empty, each) for each in values]
        for each in (*conditions, *self._values):
            # It is known before any row reaches it.
            for part in walk(each):
                if isinstance(part, Opaque):
                    computed(empty, part)
        self.types = tuple(computed(empty, each).type for each in self._values)
        self._whole = schema
        self._few = self._by_row()

    def _by_row(self) -> Callable[[Row], Row | None] | None:
        """Return what gives the head of one body; None where some part of it is computed by columns alone."""
        condition = None if self._condition is None else by_row(self._condition, self._whole)
        found = [by_row(each, self._whole) for each in self._values]
        values = [each for each in found if each is not None]
        if len(values) < len(found) or (condition is None) is not (self._condition is None):
            return None

        def head(body: Row) -> Row | None:
            if condition is not None and not condition(body):
                return None
            return tuple([value(body) for value in values])

        return head

    def __call__(self, bodies: Sequence[Row]) -> Sequence[Row | None]:
        if not bodies:
            return []
        if self._few is not None and len(bodies) <= _FEW:
            return list(map(self._few, bodies))
        columns = list(zip(*bodies, strict=True))
        arrays = [as_column(columns[place], field.type) for field, place in zip(self._schema, self._places, strict=True)]
        rows = pa.table(arrays, schema=self._schema)
        if not self._places:
            rows = pa.table([pa.nulls(len(bodies))], names=["none"])
        if self._condition is None:
            return list(self._made(rows))
        passed = truth(rows, self._condition).fill_null(False)
        found = iter(self._made(rows.filter(passed)))
        return [next(found) if is_there else None for is_there in passed.to_pylist()]

    def _made(self, rows: pa.Table) -> list[Row]:
        arrays = [computed(rows, value) for value in self._values]
        if any(array.type != kind for array, kind in zip(arrays, self.types, strict=True)):
            raise NotEvaluable("a value of a type that depends on the rows")
        return as_rows(arrays)
