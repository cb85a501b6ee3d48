"""Moves what the embedded store holds to a second engine, and counts what is there."""
