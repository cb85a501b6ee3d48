"""Packs: what is known of a technology, as data. Shipped packs and a user's are read by the same code."""
