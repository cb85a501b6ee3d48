"""Recordings of which findings are known to say something wrong, and why.

`tests/test_scenarios.py` holds this list to the truth: a recording that gets better has to leave it, and one that gets
worse shows.
"""

from collections.abc import Mapping

KNOWN_WRONG: Mapping[str, str] = {}
