"""11. Use of the sketch: ranges into the query."""
