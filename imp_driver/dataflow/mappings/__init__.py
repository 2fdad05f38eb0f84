"""Solution mappings with counts, and the operators of SPARQL that follow their changes."""
