"""SQLAlchemy dialect for imp_driver: ``create_engine("imp:///warehouse?sketch=lazy")``, for asyncio ``imp+aio:///warehouse``."""

from imp_sqlalchemy.dialect import ImpDialect, RollbackIgnored
from imp_sqlalchemy.merge import Merge
from imp_sqlalchemy.reports import last_report, on_report
from imp_sqlalchemy.types import INTERVAL, MAP, STRING, STRUCT, TIMESTAMP_NTZ, TINYINT, VARIANT, UnreadType
from imp_sqlalchemy.versions import IS_LEGACY

if IS_LEGACY:
    from imp_sqlalchemy.legacy import LegacyDialect as ImpDialect
else:
    from imp_sqlalchemy.aio_dialect import ImpAsyncDialect

__all__ = [
    "INTERVAL",
    "MAP",
    "STRING",
    "STRUCT",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "VARIANT",
    "ImpAsyncDialect",
    "ImpDialect",
    "Merge",
    "RollbackIgnored",
    "UnreadType",
    "last_report",
    "on_report",
]
