from datetime import datetime

import pytest
from loadwatch_backend.alerting.notify.file.configuration import parse_configuration
from loadwatch_backend.alerting.notify.routing.routing import fingerprint, muting_intervals, short_hash

FILE = """
route:
  receiver: a
  routes:
  - {matchers: [kind=muted], mute_time_intervals: [night, weekend]}
  - {matchers: [kind=active], active_time_intervals: [night, weekend]}
  - {matchers: [kind=both], mute_time_intervals: [weekend], active_time_intervals: [night]}
receivers: [{name: a}]
time_intervals:
- name: night
  time_intervals:
  - times: [{start_time: '22:00', end_time: '24:00'}]
  - times: [{start_time: '00:00', end_time: '06:00'}]
- name: weekend
  time_intervals: [{weekdays: [saturday, sunday]}]
"""


@pytest.mark.parametrize(
    ("instant", "muted", "active", "both"),
    [
        ("2026-07-27T12:00:00+00:00", (), ("night", "weekend"), ("night",)),  # A Monday.
        ("2026-07-27T23:00:00+00:00", ("night",), (), ()),
        ("2026-07-25T12:00:00+00:00", ("weekend",), (), ("weekend",)),
        ("2026-07-25T03:00:00+00:00", ("night", "weekend"), (), ("weekend",)),
    ],
)
def test_what_keeps_a_route_quiet(
    instant: str, muted: tuple[str, ...], active: tuple[str, ...], both: tuple[str, ...]
) -> None:
    configuration = parse_configuration(FILE, "n.yml")
    at_ms = round(datetime.fromisoformat(instant).timestamp() * 1000)
    found = [muting_intervals(route, configuration.time_intervals, at_ms) for route in configuration.root.routes]
    assert found == [muted, active, both]
    assert muting_intervals(configuration.root, configuration.time_intervals, at_ms) == ()


def test_fingerprints_do_not_depend_on_the_order() -> None:
    assert fingerprint({"a": "1", "b": "2"}) == fingerprint({"b": "2", "a": "1"})
    assert fingerprint({}) == "cbf29ce484222325"
    assert fingerprint({"a": "1b"}) != fingerprint({"a1": "b"})


def test_short_hashes_tell_texts_apart() -> None:
    assert short_hash("ab", "c") != short_hash("a", "bc")
    assert len(short_hash("a")) == 32
