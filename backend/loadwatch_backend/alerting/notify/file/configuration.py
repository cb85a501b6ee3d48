"""The notification file: read at the start, looked at each second, and kept when a new text is broken."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import structlog
from loadwatch_formats.yaml_nodes import MAX_BYTES

from loadwatch_backend.alerting.notify.file.document import read_document
from loadwatch_backend.alerting.notify.file.model import Configuration, InhibitRule, Receiver, Route
from loadwatch_backend.alerting.notify.record import ConfigurationError
from loadwatch_backend.catalogue.packs.typed_yaml import Document, FaultsError
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.periodic import Periodic

BUILT_IN_RECEIVER = "page"
BUILT_IN_DIGEST = "built-in"
LOOK_SECONDS = 1.0
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
    document = Document.read(DEFAULT_INHIBITION.read_bytes(), str(DEFAULT_INHIBITION), texts=True)
    rules = document.typed(tuple[InhibitRule, ...], document.data["inhibit_rules"], ("inhibit_rules",))
    return tuple(replace(rule, built_in=True) for rule in rules)


def parse_configuration(content: str | bytes, path: str) -> Configuration:
    """A notification file's content.

    Raises:
        ConfigurationError: it is wrong; says the line, and what is expected.
    """
    try:
        document = Document.read(content, path, texts=True)
        return read_document(document, _digest(content).hex()[:32], default_inhibit_rules())
    except FaultsError as error:
        first = min(error.faults)
        raise ConfigurationError(path, first.line, first.text) from None


def _digest(content: str | bytes) -> bytes:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).digest()


def read_configuration(path: Path) -> Configuration:
    """A notification file.

    Raises:
        ConfigurationError: it cannot be read, or is wrong.
    """
    return parse_configuration(_read_content(path), str(path))


def _read_content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(str(path), None, f"cannot be read: {error.strerror}") from error


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
            content = _read_content(path)
            digest = _digest(content)
            if digest == self._seen:
                return before
            self._seen = digest
            configuration = parse_configuration(content, str(path))
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
