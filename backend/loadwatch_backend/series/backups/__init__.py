"""A copy of all that the server keeps, made while it runs."""
