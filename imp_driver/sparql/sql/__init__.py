"""SPARQL as SQL that plain Spark runs over the tables of graphs."""
