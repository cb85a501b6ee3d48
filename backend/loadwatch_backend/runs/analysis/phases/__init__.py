"""How the load went: levels, ramp, and the steady window."""
