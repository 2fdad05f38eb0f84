"""Rows of recursive relations: followed by rules where they can be, else computed round by round."""
