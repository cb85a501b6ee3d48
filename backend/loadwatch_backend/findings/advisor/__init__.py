"""How large each connection pool should be: its settings, what was asked of it, and what the database leaves."""
