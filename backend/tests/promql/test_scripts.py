"""Prometheus' own test scripts, as its repository has them, on this engine.

`script.py` reads them. What stands in `KNOWN` is not done here, with its reason.
"""

import re

import pytest

from backend.tests.promql import script

_DELAYED = (
    "Prometheus takes names away at the end of a query behind a flag (promql-delayed-name-removal), by default at once"
)
KNOWN: dict[str, str] = {
    "name_label_dropping.test": _DELAYED,
    "type_and_unit.test": _DELAYED,
    "extended_vectors.test": "`anchored` and `smoothed` are behind a flag (promql-extended-range-selectors)",
    "start_timestamps.test": "times at which a counter began are not stored",
}
_SHARE = {
    "name_label_dropping.test": 22,
    "type_and_unit.test": 54,
    "extended_vectors.test": 31,
    "start_timestamps.test": 2,
}
"""Of the scripts in `KNOWN`, how many evaluations are right all the same."""


@pytest.mark.parametrize("name", script.names())
def test_a_script_of_prometheus_holds(name: str) -> None:
    wrong: list[str] = []
    right = 0
    for case, problem in script.outcomes(name):
        if problem is None:
            right += 1
        else:
            wrong.append(f"{case.name}: {case.text}: {problem}")
    if name in KNOWN:
        assert right == _SHARE[name], wrong
    else:
        assert not wrong, "\n".join(wrong)


def test_the_scripts_are_read_to_their_last_line() -> None:
    assert len(script.names()) >= 20
    assert sum(len(script.cases(name)) for name in script.names()) > 1_700
    assert any(re.search("absent_over_time", case.text) for case in script.cases("functions.test"))
