"""How large a pool has to be for the connections that it needs on average. Pure."""

import math

BURSTS = 1.2
"""What a pool gets beyond Little's law: requests come in bursts."""


def size_for(needed: float) -> int:
    """Connections of a pool of which `needed` are in use on average; rounding errors do not add one."""
    return math.ceil(needed * BURSTS - 1e-9)
