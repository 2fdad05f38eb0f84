"""9. Incremental operators, one relational operator a file."""
