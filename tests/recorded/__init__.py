"""Statements as tools and libraries write them, with what the driver is expected to do about each."""
