"""How runs reach the server, at once or later."""
