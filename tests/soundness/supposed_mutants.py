"""Steps of WHAT IF, each turned wrong; the attack on it must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

SUPPOSED_MUTANTS = (
    Mutant("the relation itself is stepped", "../state/maintained.py", "CutGroups(deepcopy(state))", "CutGroups(state)"),
    Mutant(
        "unknown conditions stay unknown", "../what_if/effects.py", 'return f"coalesce(({condition}), FALSE)"', 'return f"({condition})"'
    ),
    Mutant("a MERGE may match a row twice", "../what_if/merge.py", "may_repeat = not matched or", "may_repeat = True or"),
    Mutant(
        "clauses that come later change rows too",
        "../what_if/merge.py",
        "        before.append(unknown_is_false(each.condition))\n",
        "",
    ),
    Mutant(
        "rows that match are kept",
        "../what_if/merge.py",
        'f" LEFT ANTI {is_touched}" * bool(matched)',
        'f" LEFT ANTI {is_touched}" * False',
    ),
    Mutant(
        "rows that are looked up are those of before",
        "../what_if/source.py",
        "wanted = pc.is_in(signed.rows.column(key), value_set=values.drop_null().cast(signed.rows.column(key).type))",
        "wanted = pc.is_in(signed.rows.column(key), value_set=values.slice(0, 0).cast(signed.rows.column(key).type))",
    ),
    Mutant("changes see the tables without those before", "../what_if/hypothesis.py", "        table.relation = f", "        _ = f"),
    Mutant("an UPDATE takes no rows", "../what_if/effects.py", "return Effect(removed, added, kept)", 'return Effect("", added, kept)'),
)
