"""8. What changed since: versions, file statistics, signed rows."""
