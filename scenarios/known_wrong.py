"""Recordings of which findings are known to say something wrong, and why.

`tests/test_scenarios.py` holds this list to the truth: a recording that gets better has to leave it, and one that gets
worse shows.
"""

from collections.abc import Mapping

_CLIENTS_WAITED = "clients of the load tool waited for answers; that it fell short is said as a fault of its own"
_OTHERS_COUNTED = "connections that others hold are counted against pools which, for themselves, fit"
_CPU_SHARED = "the application took two thirds of a full host; the rest, Loadwatch's own among it, is taken for noise"

KNOWN_WRONG: Mapping[str, str] = {
    "accept-queue-of-a-stopped-process": _CLIENTS_WAITED,
    "another-client-wants-connections": _OTHERS_COUNTED,
    "app-cpu": _CPU_SHARED,
    "app-cpu-heavier-hits": _CPU_SHARED,
    "database-cpu": "slow statements filled the pool, which is said besides",
    "lock-stall": _CLIENTS_WAITED,
    "lock-stall-with-timeouts": _CLIENTS_WAITED,
    "lock-waits": _CLIENTS_WAITED,
    "lock-waits-twice": _CLIENTS_WAITED,
    "pair-backlog-then-locks": _CLIENTS_WAITED,
    "pair-cpu-then-locks": _CPU_SHARED,
    "pair-locks-then-connections": _OTHERS_COUNTED,
    "pools-of-two-exceed-server": "requests did wait for the smaller pools, which is said besides",
    "rows-lost-at-kill-with-a-backlog": "the lag that grew before the kill is not named",
    "rows-lost-of-a-writer": "2 % of few rows, lost before a queue, are not seen",
}
