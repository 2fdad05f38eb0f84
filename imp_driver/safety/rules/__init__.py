"""One rule per operator: what is known of its output when some occurrences are cut (sketch-safety rules 1.4 to 1.9)."""
