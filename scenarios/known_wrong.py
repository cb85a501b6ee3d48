"""Recordings of which findings are known to say something wrong, and why.

`tests/test_scenarios.py` holds this list to the truth: a recording that gets better has to leave it, and one that gets
worse shows.
"""

from collections.abc import Mapping

KNOWN_WRONG: Mapping[str, str] = {
    "database-cpu": "slow statements filled the pool, which is said besides",
    "pools-of-two-exceed-server": "requests did wait for the smaller pools, which is said besides",
    "rows-lost-of-a-writer": "2 % of few rows, lost before a queue, are not seen",
}
