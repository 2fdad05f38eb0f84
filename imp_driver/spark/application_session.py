"""A session that the application brings: used as it is, never configured and never stopped."""

from __future__ import annotations

from pyspark.sql import SparkSession

from imp_driver.errors import InterfaceError
from imp_driver.ports import Session
from imp_driver.spark.connect import open_owned as open_connect
from imp_driver.spark.errors import mapped
from imp_driver.spark.session import SparkChildSession
from imp_driver.values.options import Options

_EXTENSIONS = "spark.sql.extensions"
_WITHOUT_PARSER = "spark.sql.legacy.parameterSubstitution.constantsOnly"


def open_session(session: object, options: Options) -> Session:
    """Wrap the application's session; its temporary views and current schema are visible.

    Raises:
        InterfaceError: not a SparkSession, or a stopped one.
        NotSupportedError: a Spark Connect session of another version of Spark.
    """
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return open_connect(session, options)
    if not isinstance(session, SparkSession):
        raise InterfaceError(f"session= must be a SparkSession, not {type(session).__name__}.")
    if session.sparkContext._jsc is None or session.sparkContext._jsc.sc().isStopped():
        raise InterfaceError("The SparkSession given as session= is stopped.")
    return SparkChildSession(session, owned_by_application=True, binds_natively=_binds_natively(session), on_close=lambda: None)


def _binds_natively(session: SparkSession) -> bool:
    """Say whether Spark binds parameters itself.

    With the parser of an extension, Delta's say, Spark 4.2 binds none unless a legacy setting is on, which is not ours to set here. A try
    would write its failure, with the stack, into the application's log.
    """
    with mapped():
        extensions, without_parser = (session.conf.get(name, None) for name in (_EXTENSIONS, _WITHOUT_PARSER))
    return not (extensions or "").strip() or str(without_parser).lower() == "true"
