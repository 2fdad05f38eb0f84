"""Reads queries for one connection, at the versions that a query, a transaction or the connection asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imp_driver.parse.patterns import Instance
from imp_driver.parse.statement import Statement
from imp_driver.parse.time_travel import time_travel
from imp_driver.plan.recursive_form import is_recursive
from imp_driver.ports import Session
from imp_driver.snapshot.reading import Reading, read
from imp_driver.snapshot.versions import TextVersions, Versions, of_recursion
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource


@dataclass(frozen=True, slots=True)
class Reader:
    session: Session
    source: ChangeSource
    versions: Versions

    def read(self, statement: Statement, execution: Execution, *, is_told: bool = False) -> Reading:
        """Read a query; the statement of the reading is without the clauses that ask for versions.

        Args:
            is_told: what is found is shown and not run, so that nothing else keeps it from who may not read the tables.

        Raises:
            Refused: nothing can be done about it; the reason says why.
        """
        with execution.watch.stage("resolve"):
            try:
                travel = time_travel(statement)
                if travel is None:
                    return read(statement, self.session, self.source, self.versions, is_told=is_told)
                versions = TextVersions(travel.asked, self.versions, lambda name, time: self.session.version_at(name, time, execution))
                return read(travel.statement, self.session, self.source, versions, is_told=is_told)
            except Refused as refused:
                if not is_recursive(statement.tree):
                    raise
                raise Refused.on(of_recursion(refused.grounds)) from refused.__cause__

    def read_alike(self, instance: Instance[Statement], execution: Execution) -> Reading:
        """Read a query by what is known of all texts like it. Raises as ``read``."""
        with execution.watch.stage("resolve"):
            found = read(instance.pattern.made, self.session, self.source, self.versions)
            return replace(found, constants=instance.values)
