"""Reader of maintained groups: a query's rows computed from them in process, exactly as Spark has them, or not at all."""
