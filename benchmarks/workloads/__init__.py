"""One family of experiments a file."""
