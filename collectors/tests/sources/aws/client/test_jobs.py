import threading
import time

import pytest
from loadwatch_collectors.sources.aws.cloudwatch import KeyedJobs


def soon() -> float:
    return time.monotonic() + 120


def test_all_places_fly_side_by_side() -> None:
    flights: KeyedJobs[str, int] = KeyedJobs()
    meeting = threading.Barrier(3, timeout=120)
    for number, key in enumerate("abc"):
        flights.start(key, lambda number=number: meeting.wait() * 0 + number)
    assert flights.gather(soon()) == {"a": 0, "b": 1, "c": 2}
    assert flights.gather(soon()) == {}


def test_one_that_hangs_costs_the_others_nothing_and_is_not_started_twice() -> None:
    flights: KeyedJobs[str, str] = KeyedJobs()
    release = threading.Event()
    assert flights.start("hung", lambda: str(release.wait(300)))
    assert flights.start("good", lambda: "fine")
    while flights.under_way() != ["hung"]:
        time.sleep(0.001)
    assert flights.gather(time.monotonic()) == {"good": "fine"}
    assert not flights.start("hung", lambda: "second")
    assert flights.start("good", lambda: "again")
    release.set()
    assert flights.gather(soon()) == {"hung": "True", "good": "again"}, "its result comes when it comes"
    assert flights.start("hung", lambda: "third")
    assert flights.gather(soon()) == {"hung": "third"}


def test_a_fault_of_a_job_reaches_the_one_who_gathers_and_ends_the_flight() -> None:
    flights: KeyedJobs[str, int] = KeyedJobs()
    flights.start("a", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        flights.gather(soon())
    assert flights.start("a", lambda: 5)
    assert flights.gather(soon()) == {"a": 5}
