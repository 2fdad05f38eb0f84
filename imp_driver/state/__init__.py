"""Maintained relations: one owner of each one's life, where they are found, what outlives a process, what they cost and save."""
