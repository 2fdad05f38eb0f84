"""Wrong versions of how expressions are computed: the cases must find every one, or they prove nothing.

``python -m tests.operators.function_mutants`` prints the names of those that they do not find.
"""

from __future__ import annotations

from tests.operators.mutant_lives import print_unfound
from tests.soundness.mutants import Mutant

_EXPRESSION, _VALUES = "../dataflow/expression", "../values"
FUNCTION_MUTANTS = (
    Mutant("digits are cut off", f"{_EXPRESSION}/decimals.py", "(2 * abs(dividend) + size) // (2 * size)", "abs(dividend) // size"),
    Mutant("remainders above 0", f"{_EXPRESSION}/decimals.py", "np.where(left < 0, -found, found)", "found"),
    Mutant("every place is kept", f"{_VALUES}/decimal_types.py", "min(scale, _KEPT_SCALE)", "min(scale, 99)"),
    Mutant("a literal is an INT", f"{_VALUES}/result_types.py", "and pa.types.is_decimal(other)):", "and False):"),
    Mutant("1L is a literal", f"{_VALUES}/result_types.py", "None if expression.kind is not None else type_of_digits", "type_of_digits"),
    Mutant(
        "no digit is carried",
        f"{_VALUES}/function_types.py",
        "integral = kind.precision - kind.scale + 1",
        "integral = kind.precision - kind.scale",
    ),
    Mutant("text begins at 0", f"{_EXPRESSION}/texts.py", "start = max(position - 1, 0)", "start = max(position, 0)"),
    Mutant(
        "text before the first character",
        f"{_EXPRESSION}/texts.py",
        "value[max(start, 0) : max(start + length, 0)]",
        "value[max(start, 0) :][:length]",
    ),
    Mutant("every letter is ASCII", f"{_EXPRESSION}/texts.py", "if not pc.all(pc.string_is_ascii(values)).as_py() and", "if False and"),
    Mutant("months of 31 days", f"{_EXPRESSION}/dates.py", "np.minimum(within, last)", "within"),
    Mutant("weeks from Thursday", f"{_EXPRESSION}/dates.py", "(days + 3) // 7 * 7 - 3", "days // 7 * 7"),
    Mutant("all intervals are later", f"{_EXPRESSION}/dates.py", "+ count * LENGTHS[unit]", "+ abs(count) * LENGTHS[unit]"),
    Mutant(
        "dates without end", f"{_EXPRESSION}/dates.py", "    if np.any(((days < _FIRST_DAY)", "    if False and np.any(((days < _FIRST_DAY)"
    ),
    Mutant(
        "0 divides",
        f"{_EXPRESSION}/arithmetic.py",
        "if pc.any(pc.and_(pc.equal(divisor, 0)",
        "if False and pc.any(pc.and_(pc.equal(divisor, 0)",
    ),
    Mutant(
        "every digit of a double counts", f"{_EXPRESSION}/rounding.py", "if len(exact.as_tuple().digits) > _CERTAIN_DIGITS:", "if False:"
    ),
    Mutant("halves are not even", f"{_EXPRESSION}/rounding.py", " & (below % 2 == 1)", ""),
    Mutant("casts go down", f"{_EXPRESSION}/casts.py", "np.where(values < 0, -cut, cut)", "values // 10**source.scale"),
    Mutant("NULL is the greatest", f"{_EXPRESSION}/functions.py", "pc.or_(is_better, found.is_null())", "is_better"),
    Mutant("least is greatest", f"{_EXPRESSION}/functions.py", '"least": _extreme("<")', '"least": _extreme(">")'),
    Mutant("pmod is %", f"{_EXPRESSION}/functions.py", "np.where(rest < 0, remainders(total, divisor), rest)", "rest"),
    Mutant(
        "every branch for every row",
        f"{_EXPRESSION}/evaluate.py",
        "    except NotEvaluable:\n        left",
        "    except ZeroDivisionError:\n        left",
    ),
    Mutant("IN is not one type", "../plan/convert.py", "if len(numbers) < 2 else None", ""),
)


def _differs() -> object:
    from tests.operators.function_cases import differences

    return differences()


if __name__ == "__main__":
    print_unfound(FUNCTION_MUTANTS, _differs)
