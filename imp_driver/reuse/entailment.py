"""What atoms over one expression leave possible together (sketch-reuse rules 2.3).

An old atom follows when some of the new ones leave it no way not to be true.
"""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.reuse.constants import Constant, below, same
from imp_driver.reuse.reading import Atom, Operator

_LOWER = (Operator.ABOVE, Operator.FROM)
_UPPER = (Operator.BELOW, Operator.UP_TO)


def holds(atom: Atom, constant: Constant) -> bool | None:
    """Say whether an atom is true for the value that a constant stands for; None when that is not certain."""
    match atom.operator:
        case Operator.IS_NULL:
            return False
        case Operator.NOT_NULL:
            return True
        case Operator.PREFIX:
            return _starts_with(constant, atom.constants[0])
        case Operator.IN:
            return _is_among(constant, atom.constants)
        case Operator.NOT_IN:
            found = _is_among(constant, atom.constants)
            return None if found is None else not found
        case Operator.ABOVE | Operator.FROM:
            return _compared(atom.constants[0], constant, closed=atom.operator is Operator.FROM)
        case _:
            return _compared(constant, atom.constants[0], closed=atom.operator is Operator.UP_TO)


def _compared(less: Constant, greater: Constant, *, closed: bool) -> bool | None:
    """Say whether one place is before another, or the same when ``closed``."""
    if same(less, greater):
        return closed
    return True if below(less, greater) else False if below(greater, less) else None


def _is_among(constant: Constant, others: Sequence[Constant]) -> bool | None:
    if any(same(constant, other) for other in others):
        return True
    return False if all(below(constant, other) or below(other, constant) for other in others) else None


def _starts_with(constant: Constant, prefix: Constant) -> bool | None:
    if not isinstance(constant.low, bytes) or not isinstance(prefix.low, bytes):
        return None
    return constant.low.startswith(prefix.low)


def candidates(atoms: Sequence[Atom]) -> tuple[Constant, ...] | None:
    """Return constants of which the value is certainly one; None when there is no such list."""
    lists = [atom.constants for atom in atoms if atom.operator is Operator.IN]
    if not lists:
        lists = [atom.constants for atom in atoms if atom.operator is Operator.FROM and Atom(Operator.UP_TO, atom.constants) in atoms]
    if not lists:
        return None
    return tuple(constant for constant in lists[0] if all(holds(atom, constant) is not False for atom in atoms))


def contradict(atoms: Sequence[Atom]) -> bool:
    """Say whether no value, and not NULL either, satisfies all atoms."""
    if Atom(Operator.IS_NULL) in atoms:
        return any(atom.operator is not Operator.IS_NULL for atom in atoms)
    return candidates(atoms) == () or any(_are_apart(one, other) for one in atoms for other in atoms)


def _are_apart(one: Atom, other: Atom) -> bool:
    if one.operator in _LOWER and other.operator in _UPPER:
        closed = one.operator is Operator.FROM and other.operator is Operator.UP_TO
        return _compared(one.constants[0], other.constants[0], closed=closed) is False
    if one.operator is Operator.PREFIX and other.operator is Operator.PREFIX:
        prefix, constant = one.constants[0], other.constants[0]
        return _starts_with(constant, prefix) is False and _starts_with(prefix, constant) is False
    return False


def atom_follows(known: Sequence[Atom], old: Atom) -> bool:
    """Say whether an atom is true for every value, or NULL, that satisfies all known ones."""
    if contradict(known):
        return True
    if Atom(Operator.IS_NULL) in known:
        return old.operator is Operator.IS_NULL
    if not known or old.operator is Operator.IS_NULL:
        return False
    values = candidates(known)
    if values is not None:
        return all(holds(old, value) is True for value in values)
    if old.operator is Operator.NOT_IN:
        return all(any(holds(atom, constant) is False for atom in known) for constant in old.constants)
    return any(_one_follows(atom, old) for atom in known)


def _one_follows(known: Atom, old: Atom) -> bool:
    """Say whether one atom that no NULL satisfies implies another; lists have been looked at."""
    if old.operator is Operator.NOT_NULL:
        return True
    if old.operator is Operator.PREFIX:
        return known.operator is Operator.PREFIX and _starts_with(known.constants[0], old.constants[0]) is True
    if old.operator in _LOWER:
        closed = old.operator is Operator.FROM or known.operator is Operator.ABOVE
        is_lower = known.operator in (*_LOWER, Operator.PREFIX)
        return is_lower and _compared(old.constants[0], known.constants[0], closed=closed) is True
    if old.operator in _UPPER and known.operator is Operator.PREFIX:
        # Everything with a prefix is less than what is greater than the prefix and does not have it.
        prefix, bound = known.constants[0], old.constants[0]
        return below(prefix, bound) and _starts_with(bound, prefix) is False
    if old.operator in _UPPER and known.operator in _UPPER:
        closed = old.operator is Operator.UP_TO or known.operator is Operator.BELOW
        return _compared(known.constants[0], old.constants[0], closed=closed) is True
    return False
