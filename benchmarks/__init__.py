"""Measurements as ratios within one run; see README.md here."""
