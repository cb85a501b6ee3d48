"""Senders, a file for each kind of integration; `registry.py` lists them."""
