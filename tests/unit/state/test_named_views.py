"""Which relations stay for a view, and until when."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.ports import View
from imp_driver.reasons import Decision
from imp_driver.state.maintained import Maintained
from imp_driver.state.named_views import LastAction, NamedView, NamedViews
from imp_driver.state.values import Identity
from imp_driver.values.view_policy import ViewPolicy

VIEW = View("SELECT 1", ("c", "s"), (), is_ansi=True, policy=ViewPolicy.AUTO)
NAME, OTHER = ("c", "s", "v"), ("c", "s", "w")


def _relation(name: str) -> Maintained:
    return Maintained(Identity(name, "t", "SELECT", "t", "/t", "f", "p", ""))


def test_relations_are_let_go_when_their_last_view_is() -> None:
    views, first, second = NamedViews(), _relation("1"), _relation("2")
    views.put(NamedView(NAME, VIEW, relations=(first, second)))
    views.put(NamedView(OTHER, replace(VIEW, policy=ViewPolicy.STRICT), relations=(second,)))
    assert [each.policy for each in (first, second)] == [ViewPolicy.AUTO, ViewPolicy.STRICT]
    views.put(NamedView(NAME, replace(VIEW, policy=ViewPolicy.FULL), relations=(second,)))
    assert [each.policy for each in (first, second)] == [None, ViewPolicy.STRICT]
    views.forget(OTHER)
    assert second.policy is ViewPolicy.FULL
    views.forget(NAME)
    views.forget(NAME)
    assert (second.is_named, views.names()) == (False, ())


def test_what_a_view_stands_for() -> None:
    relation, views = _relation("1"), NamedViews()
    named = NamedView(NAME, VIEW, relations=(relation,))
    assert named.is_held
    assert not NamedView(NAME, VIEW).is_held
    # What differs between sessions makes it no other view.
    assert named.is_of(replace(VIEW, is_ansi=False, problem="of one session"), frozenset())
    assert not named.is_of(replace(VIEW, policy=ViewPolicy.FULL), frozenset())
    assert not named.is_of(VIEW, frozenset({(OTHER, VIEW.definition)}))
    views.put(named)
    views.note(NAME, LastAction(Decision.FRESH, 0, 1.0))
    views.note(OTHER, LastAction(Decision.FRESH, 0, 1.0))
    known = views.find(NAME)
    assert known is not None
    assert (known.last, views.find(OTHER)) == (LastAction(Decision.FRESH, 0, 1.0), None)
    relation.dropped()
    assert not known.is_held
