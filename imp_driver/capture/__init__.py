"""7. The first sketch and state of a template."""
