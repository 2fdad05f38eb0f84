"""SPARQL without a JVM."""
