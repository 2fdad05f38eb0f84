"""SPARQL: another language in front of the same tables."""
