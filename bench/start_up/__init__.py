"""How long `make up` takes from a fresh clone with empty caches, and the second time."""
