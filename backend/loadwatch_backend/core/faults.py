"""Places at which tests end the process as if it had been killed: `LOADWATCH_FAULT=<place>`.

`LOADWATCH_FAULT=<place>:<n>` lets the place pass n times first. Nothing else reads the variable.
"""

import os
import signal
import threading

VARIABLE = "LOADWATCH_FAULT"

_PLACE, _, _count = os.environ.get(VARIABLE, "").partition(":")
_left = [int(_count or 0)]
_lock = threading.Lock()


def fault(place: str) -> None:
    """End the process with SIGKILL if a test asked for it here."""
    if place == _PLACE:
        with _lock:
            _left[0] -= 1
            if _left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
