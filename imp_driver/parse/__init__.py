"""2. SQL text to template, plan nodes, support and safety."""
