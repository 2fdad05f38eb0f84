"""Apache Superset on imp_driver: the engine spec that Superset finds by the entry point ``superset.db_engine_specs``."""
