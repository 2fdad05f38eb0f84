"""10. Deltas through operators to a new sketch."""
