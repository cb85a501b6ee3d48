"""Moves what the embedded store holds to a second engine, and compares the two."""
