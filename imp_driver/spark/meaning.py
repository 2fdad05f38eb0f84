"""What every kind of session knows of Spark: settings that give a query its meaning, locations, marks of columns."""

from __future__ import annotations

from imp_driver.values.settings import ASSUMED

NAMED_SETTINGS = ("spark.sql.ansi.enabled", *ASSUMED)
"""Settings whose value the driver looks at where it is set."""
SETTINGS_OF_TIMES = ("spark.sql.session.timeZone", "spark.sql.timestampType")
"""Settings whose value the driver looks at, set or not: the default of the first depends on the machine."""
SETTINGS_WITHOUT_MEANING = (
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.pyspark.enabled",
    # Folders of this installation: a state outlives them.
    "spark.sql.hive.metastore.jars.path",
    "spark.sql.warehouse.dir",
)
"""Settings known not to change what a query means."""
CHAR_MARK = "__CHAR_VARCHAR_TYPE_STRING"
"""Key in the metadata of a column that Spark declares as CHAR."""
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
"""What teaches Spark Delta's statements; it changes nothing of what a query reads."""
CHANGES_NO_DEFINITION = ("select", "with", "from", "(", "values", "show", "desc", "explain", "insert", "update", "delete", "merge")
"""First words of statements after which every name and setting still means what it did."""
