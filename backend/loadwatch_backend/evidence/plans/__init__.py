"""How databases run statements, as agents found it."""
