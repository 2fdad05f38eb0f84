"""12. Execution on Spark; the only package that imports pyspark."""
