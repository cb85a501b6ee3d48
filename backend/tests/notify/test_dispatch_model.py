"""Anything that can happen, in any order, against a simple model of what receivers believe.

Nothing is lost: when all is quiet, receivers believe what is true. Nothing is sent twice: each message says something
that its receiver did not know, or comes after the repeat interval.
"""

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.routing.routing import fingerprint, group_key, group_labels, match_routes
from loadwatch_backend.alerting.notify.schemas import SilenceState
from loadwatch_backend.core.database.relational import default_url, open_relational

from backend.tests.notify.desk import Desk, Sent, firing, resolved

REPEAT_MS = 100_000
FILES = [
    """
route:
  receiver: one
  group_by: [group]
  group_wait: 3s
  group_interval: 10s
  repeat_interval: 100s
  routes:
  - {receiver: two, continue: true, group_wait: 0s, matchers: [group=~'a|b']}
  - {receiver: one, matchers: [group=~'.*']}
inhibit_rules: [{source_matchers: [alertname=A], target_matchers: [alertname=B], equal: [group]}]
receivers:
- {name: one, webhook_configs: [{url: 'https://one.example.org/'}]}
- {name: two, pagerduty_configs: [{routing_key: k}]}
""",
]
FILES.append(
    FILES[0].replace(
        "  - {receiver: one,",
        "  - {receiver: two, matchers: [alertname=C], continue: true}\n  - {receiver: one,",
    )
)

Name = tuple[str, str]
"""Alert name and group."""
NAMES = st.tuples(st.sampled_from("ABC"), st.sampled_from("aaab"))
OPERATIONS = st.one_of(
    st.tuples(st.just("fire"), NAMES),
    st.tuples(st.just("resolve"), NAMES),
    st.tuples(st.just("acknowledge"), NAMES),
    st.tuples(st.just("roll back"), NAMES),
    st.tuples(st.just("silence"), NAMES),
    st.tuples(st.just("wait"), st.sampled_from([1, 2, 3, 7, 10, 25, 110])),
    st.tuples(st.just("kill"), st.none()),
    st.tuples(st.just("set the clock back"), st.none()),
    st.tuples(st.just("file"), st.sampled_from([0, 1])),
)

FIRE_A = ("fire", ("A", "a"))


@dataclass
class Belief:
    """What a receiver believes of one group."""

    firing: set[str] = field(default_factory=set[str])
    last: set[str] = field(default_factory=set[str])
    """What the last message named as firing."""
    acknowledged: bool = False
    told_ms: int = -(10**15)

    def hear(self, sent: Sent, now_ms: int) -> None:
        alerts = sent.document["alerts"]
        firing_now = {one["fingerprint"] for one in alerts if one["status"] == "firing"}
        ended = {one["fingerprint"] for one in alerts if one["status"] == "resolved"}
        assert ended <= self.firing, "an end was told to somebody who did not know the beginning"
        acknowledged = "loadwatch" in sent.document
        news = bool(firing_now - self.last) or bool(ended)
        repeated = not acknowledged and now_ms - self.told_ms >= REPEAT_MS
        assert news or repeated or (acknowledged and not self.acknowledged), "sent twice"
        if news or repeated:
            self.told_ms = now_ms
        self.firing = (self.firing | firing_now) - ended
        self.last = firing_now
        self.acknowledged = acknowledged


class World:
    """The desk, what is true, and what is believed."""

    def __init__(self, folder: Path, template: Path) -> None:
        shutil.copy(template, folder / template.name)
        self.desk = Desk(folder, FILES[0])
        self.desk.after_flush = self.listen
        self.alerts: dict[Name, NotifiedAlert] = {}
        self.beliefs: dict[tuple[str, str], Belief] = {}
        self.episodes = 0

    def listen(self) -> None:
        for sent in self.desk.sent():
            belief = self.beliefs.setdefault((sent.receiver, sent.document["groupKey"]), Belief())
            belief.hear(sent, self.desk.now_ms)

    def run(self, what: str, value: Any) -> None:
        match what:
            case "fire" if value not in self.alerts:
                self.episodes += 1
                alert = firing(self.desk, value[0], f"{value}-{self.episodes}", group=value[1])
                self.alerts[value] = alert
                self.desk.take(alert)
            case "resolve" if value in self.alerts:
                self.desk.take(resolved(self.desk, self.alerts.pop(value)))
            case "acknowledge" if value in self.alerts:
                self.alerts[value] = replace(self.alerts[value], acknowledged=True)
                self.desk.take(self.alerts[value])
            case "roll back":
                self.roll_back(value)
            case "silence":
                self.desk.silence(30, alertname=value[0], group=value[1])
            case "wait":
                self.desk.wait(value)
            case "kill":
                self.desk.reopen()
            case "set the clock back":
                self.desk.now_ms -= 3_600_000
                for belief in self.beliefs.values():
                    belief.told_ms -= 3_600_000
            case "file":
                self.desk.write(FILES[int(value)])
            case _:
                pass
        self.listen()

    def roll_back(self, name: Name) -> None:
        """A change whose transaction fails after the alerts were handed over."""
        known = self.alerts.get(name)
        change = firing(self.desk, name[0], "never", group=name[1]) if known is None else resolved(self.desk, known)
        with self.desk.relational.transaction() as session:
            self.desk.dispatcher.take(session, [change], self.desk.now_ms)
            session.rollback()

    def settle(self) -> None:
        """Until no silence holds, and everything that was held has been told."""
        self.desk.write(FILES[0])
        for silence in self.desk.silences.list(None).silences:
            if silence.state is not SilenceState.EXPIRED:
                self.desk.silences.expire(silence.id)
        self.desk.wait(30)

    def check(self) -> None:
        """Receivers believe what is true; of inhibited alerts they may know or not."""
        root = self.desk.file.current.root
        known: dict[tuple[str, str], set[str]] = {}
        must: dict[tuple[str, str], set[str]] = {}
        for name in [(one, group) for one in "ABC" for group in "ab"]:
            labels = {"alertname": name[0], "group": name[1]}
            inhibited = name[0] == "B" and ("A", name[1]) in self.alerts
            for route in match_routes(root, labels):
                key = route.receiver, group_key(route, group_labels(route, labels))
                known.setdefault(key, set())
                must.setdefault(key, set())
                if name in self.alerts:
                    known[key].add(fingerprint(labels))
                    if not inhibited:
                        must[key].add(fingerprint(labels))
        for key, true in known.items():
            belief = self.beliefs.get(key, Belief())
            assert must[key] <= belief.firing, "somebody was not told of a beginning"
            assert belief.firing <= true, "somebody was not told of an end"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose tables have been made: that takes longer than a whole life in it."""
    folder = tmp_path_factory.mktemp("template")
    open_relational(default_url(folder)).close()
    (made,) = folder.iterdir()
    return made


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations=st.lists(OPERATIONS, min_size=8, max_size=30))
@example(operations=[FIRE_A, ("wait", 7), ("fire", ("C", "a"))])
@example(operations=[("silence", ("A", "a")), FIRE_A, ("wait", 7)])
@example(
    operations=[
        FIRE_A,
        ("wait", 7),
        ("silence", ("A", "a")),
        ("fire", ("C", "a")),
        ("wait", 10),
        ("resolve", ("A", "a")),
    ]
)
@example(operations=[FIRE_A, ("wait", 1), ("file", 1), ("fire", ("C", "b"))])
def test_nothing_is_lost_and_nothing_is_sent_twice(template: Path, operations: list[tuple[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), template)
        try:
            for what, value in operations:
                world.run(what, value)
            world.settle()
            world.check()
        finally:
            world.desk.close()
