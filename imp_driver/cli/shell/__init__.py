"""``imp sql``: statements and commands in, rows and reports out, typed at a terminal or read from a script."""
