"""The notification file: read at the start, looked at each second, and kept when a new text is broken."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import structlog

from loadwatch_backend.alerting.notify.file.model import Configuration, InhibitRule, Receiver, Route
from loadwatch_backend.alerting.notify.file.receivers import read_receivers
from loadwatch_backend.alerting.notify.file.routes import (
    read_inhibit_rules,
    read_intervals,
    read_notices,
    read_root,
)
from loadwatch_backend.alerting.notify.nodes import ConfigurationError, Section, parse_document
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.periodic import Periodic

BUILT_IN_RECEIVER = "page"
BUILT_IN_DIGEST = "built-in"
LOOK_SECONDS = 1.0
FILE_BYTES = 4 << 20
DEFAULT_INHIBITION = Path(__file__).with_name("default_inhibition.yml")
GROUP_BY = ("instance", "run")
"""Of the built-in route: what happens at one place, or in one run, comes together, whatever its rules are called."""

logger = structlog.get_logger(__name__)


def built_in() -> Configuration:
    """Without a file: one route to a receiver that is the page alone."""
    root = Route(id="0", key="{}", receiver=BUILT_IN_RECEIVER, group_by=GROUP_BY)
    return Configuration(
        digest=BUILT_IN_DIGEST,
        root=root,
        receivers={BUILT_IN_RECEIVER: Receiver(name=BUILT_IN_RECEIVER)},
        inhibit_rules=default_inhibit_rules(),
    )


@cache
def default_inhibit_rules() -> tuple[InhibitRule, ...]:
    """Which alerts of the default rules hold back which others, so that one cause is one page."""
    document = parse_document(_read_text(DEFAULT_INHIBITION), str(DEFAULT_INHIBITION))
    rules = read_inhibit_rules(document.sections("inhibit_rules"))
    document.finish("the file", {})
    return tuple(replace(rule, built_in=True) for rule in rules)


def parse_configuration(text: str, path: str) -> Configuration:
    """A notification file's text.

    Raises:
        ConfigurationError: it is wrong; says the line, and what is expected.
    """
    document = parse_document(text, path)
    receivers = read_receivers(document)
    if not receivers:
        raise document.error("there are no receivers; a receiver with nothing but a name is read on the page")
    intervals = read_intervals(document)
    route = document.section("route")
    if route is None:
        raise document.error("there is no route; it names at least the receiver of all alerts")
    own = document.section("loadwatch")
    defaults_too = own is None or own.flag("default_inhibit_rules", True)
    by_findings = own is None or own.flag("inhibit_by_findings", True)
    configuration = Configuration(
        digest=hashlib.sha256(text.encode()).hexdigest()[:32],
        root=read_root(route, receivers, intervals),
        receivers=receivers,
        inhibit_rules=(
            *read_inhibit_rules(document.sections("inhibit_rules")),
            *(default_inhibit_rules() if defaults_too else ()),
        ),
        time_intervals=intervals,
        notices=read_notices(own, receivers),
        holds_consequences=by_findings,
    )
    _refuse_templates(document)
    document.finish("the file", {"tracing": "there is none", "event_recorder": "see Deliveries on the page"})
    return configuration


def _refuse_templates(document: Section) -> None:
    given = document.take("templates")
    if given is not None and given.items():
        raise given.error("templates are not supported: Loadwatch writes each message itself; leave the list out")


def read_configuration(path: Path) -> Configuration:
    """A notification file.

    Raises:
        ConfigurationError: it cannot be read, or is wrong.
    """
    return parse_configuration(_read_text(path), str(path))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(str(path), None, f"cannot be read: {error.strerror}") from error
    if len(content) > FILE_BYTES:
        raise ConfigurationError(str(path), None, f"is larger than {FILE_BYTES >> 20} MiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(str(path), line, "is not UTF-8") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The configuration in force, and what is wrong with the file when it is not what the file says."""

    configuration: Configuration
    path: str | None
    loaded_ms: int
    error: str = ""
    line: int | None = None


class ConfigurationFile:
    """Holds what is in force. A broken file keeps the old configuration; at the start, the built-in one."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._seen: bytes | None = None
        self._in_force = InForce(configuration=built_in(), path=None if path is None else str(path), loaded_ms=clock())
        self.reload()

    @property
    def in_force(self) -> InForce:
        """What is in force now."""
        return self._in_force

    @property
    def current(self) -> Configuration:
        """The configuration in force now."""
        return self._in_force.configuration

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of what is in force."""
        self._listeners.append(listener)

    def reload(self) -> InForce:
        """Read the file if it has changed."""
        if self._path is None:
            return self._in_force
        with self._lock:
            before = self._in_force
            self._in_force = self._read(before, self._path)
            changed = self._in_force.configuration is not before.configuration
        if changed:
            for listener in self._listeners:
                listener()
        return self._in_force

    def _read(self, before: InForce, path: Path) -> InForce:
        try:
            text = _read_text(path)
            digest = hashlib.sha256(text.encode()).digest()
            if digest == self._seen:
                return before
            self._seen = digest
            configuration = parse_configuration(text, str(path))
        except ConfigurationError as error:
            if (error.text, error.line) != (before.error, before.line):
                kept = "what was before"
                if before.configuration.digest == BUILT_IN_DIGEST:
                    kept = "the built-in configuration: alerts are on the page ONLY, and nobody is told"
                logger.error("the notification file is broken", error=str(error), in_force=kept)
            if error.line is None:
                self._seen = None
            return InForce(
                configuration=before.configuration,
                path=str(path),
                loaded_ms=before.loaded_ms,
                error=error.text,
                line=error.line,
            )
        logger.info("notification file read", path=str(path), receivers=len(configuration.receivers))
        return InForce(configuration=configuration, path=str(path), loaded_ms=self._clock())

    def watch(self) -> Periodic:
        """What reads the file when it has changed, to be started."""
        return Periodic("notification-file", self._look, LOOK_SECONDS)

    def _look(self) -> None:
        self.reload()
