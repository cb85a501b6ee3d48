"""How property tests run here: the same examples each time, however slow the machine is at that moment."""

from hypothesis import HealthCheck, settings

PROPERTY = settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
