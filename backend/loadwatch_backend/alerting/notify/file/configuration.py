"""The notification file: read at the start, checked each second, and kept when a new text is broken."""

import difflib
import hashlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeGuard, cast

import structlog
from loadwatch_formats.yaml_nodes import MAX_BYTES
from pydantic import AfterValidator, Field

from loadwatch_backend.alerting.notify.file.matchers import format_matchers
from loadwatch_backend.alerting.notify.file.model import (
    Configuration,
    InhibitRule,
    NamedInterval,
    OwnPart,
    Receiver,
    Route,
)
from loadwatch_backend.alerting.notify.record import ConfigurationError, Duration, Record, Text, keys_of, one_of
from loadwatch_backend.alerting.notify.senders.model import Sender
from loadwatch_backend.alerting.notify.senders.registry import SENDERS, UNSUPPORTED_CONFIGS, UNSUPPORTED_GLOBALS
from loadwatch_backend.catalogue.packs.typed_yaml import Document, Fault, FaultsError, Loc
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.periodic import Periodic

_INHERITED = ("receiver", "group_by", "group_wait", "group_interval", "repeat_interval")
_NOT_OF_THE_ROOT = {
    **dict.fromkeys(("match", "match_re", "matchers"), "the root route takes every alert; it must not have matchers"),
    **{
        name: f"the root route must not have {name}; put them on a route below"
        for name in ("mute_time_intervals", "active_time_intervals")
    },
}
_LANGUAGE = Annotated[Language, one_of({language.value: language for language in Language})] | None
"""Loadwatch's own key `language`."""
_Global: Any = make_dataclass(
    "_Global",
    {
        # It is for alerts whose sender fell silent; ours are evaluated here.
        "resolve_timeout": ("resolve_timeout", Duration, 0),
        "language": ("language", _LANGUAGE, None),
        **{
            key: (key, Annotated[keys_of(sender.record)[own], Field(alias=key)], None)
            for sender in SENDERS
            for key, own in sender.globals.items()
        },
    }.values(),
    bases=(Record,),
    namespace={"unsupported": UNSUPPORTED_GLOBALS},
    frozen=True,
    kw_only=True,
)
_Receiver: Any = make_dataclass(
    "_Receiver",
    [
        ("name", Text),
        ("language", _LANGUAGE, None),
        *((f"{sender.kind}_configs", tuple[sender.record, ...], ()) for sender in SENDERS),
    ],
    bases=(Record,),
    namespace={
        "unsupported": {"labels": "routes choose receivers by name", **UNSUPPORTED_CONFIGS},
        "missing": {"name": "a receiver needs a name"},
    },
    frozen=True,
    kw_only=True,
)


def _no_templates(paths: Sequence[Any]) -> Sequence[Any]:
    if paths:
        raise ValueError("templates are not supported: Loadwatch writes each message itself; leave the list out")
    return paths


@dataclass(frozen=True, slots=True, kw_only=True)
class _File(Record):
    """`global`, `receivers` and `route` are read one after the other: what stands in one counts in the next."""

    unsupported: ClassVar[Mapping[str, str]] = {
        "tracing": "there is none",
        "event_recorder": "see Deliveries on the page",
    }
    missing: ClassVar[Mapping[str, str]] = {
        "receivers": "there are no receivers; a receiver with nothing but a name is read on the page",
        "route": "there is no route; it names at least the receiver of all alerts",
    }
    common: Annotated[Any, Field(alias="global")] = None
    receivers: tuple[Any, ...]
    route: Any
    inhibit_rules: tuple[InhibitRule, ...] = ()
    mute_time_intervals: tuple[NamedInterval, ...] = ()
    time_intervals: tuple[NamedInterval, ...] = ()
    loadwatch: OwnPart = field(default_factory=OwnPart)
    templates: Annotated[tuple[Any, ...], AfterValidator(_no_templates)] = ()


def read_document(document: Document, digest: str, default_inhibit_rules: Sequence[InhibitRule]) -> Configuration:
    """The configuration that a notification file describes; `digest` is that of its content.

    Raises:
        FaultsError: it is wrong.
    """
    if not document.data:
        raise FaultsError([Fault(document.file, 1, 1, "the file is empty; it needs at least `route` and `receivers`")])
    return _Reader(document).read(digest, default_inhibit_rules)


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._file = document.typed(_File, document.data)
        self._receivers = self._read_receivers()
        self._intervals = self._read_intervals()

    def read(self, digest: str, default_inhibit_rules: Sequence[InhibitRule]) -> Configuration:
        own = self._file.loadwatch
        for place, notice in enumerate(own.run_notices):
            at = ("loadwatch", "run_notices", place, "receiver")
            self._check_known(at, notice.receiver, self._receivers, "receiver")
        for name, text in _NOT_OF_THE_ROOT.items():
            if _is_mapping(self._file.route) and self._file.route.get(name):
                self._refuse(("route", name), text)
        return Configuration(
            digest=digest,
            root=self._read_route(self._file.route, ("route",), "0"),
            receivers=self._receivers,
            inhibit_rules=(*self._file.inhibit_rules, *(default_inhibit_rules if own.default_inhibit_rules else ())),
            time_intervals=self._intervals,
            notices=own.run_notices,
            holds_consequences=own.inhibit_by_findings,
        )

    def _read_receivers(self) -> Mapping[str, Receiver]:
        given: Any = {} if self._file.common is None else self._file.common
        common = self._document.typed(_Global, given, ("global",))
        data = [_with_defaults(one, given) for one in self._file.receivers]
        receivers: dict[str, Receiver] = {}
        for place, one in enumerate(self._document.typed(tuple[_Receiver, ...], data, ("receivers",))):
            at = ("receivers", place)
            if one.name in receivers:
                self._refuse(at, f"there are two receivers of the name {one.name!r}")
            integrations = [
                replace(
                    integration,
                    id=f"{sender.kind}-{number}",
                    line=self._document.fault((*at, f"{sender.kind}_configs", number), "").line,
                    language=one.language or common.language or Language.EN,
                )
                for sender in SENDERS
                for number, integration in enumerate(getattr(one, f"{sender.kind}_configs"))
            ]
            receivers[one.name] = Receiver(name=one.name, integrations=tuple(integrations))
        return receivers

    def _read_intervals(self) -> Mapping[str, NamedInterval]:
        found: dict[str, NamedInterval] = {}
        for key in ("mute_time_intervals", "time_intervals"):
            for place, one in enumerate(getattr(self._file, key)):
                if one.name in found:
                    self._refuse((key, place), f"there are two time intervals of the name {one.name!r}")
                parts: Any = self._document.data[key][place].get("time_intervals") or ()
                found[one.name] = replace(one, lines=tuple(map(_line, parts)))
        return found

    def _read_route(
        self, data: Any, at: Loc, id: str, parent: Route | None = None, above: Mapping[str, Any] = {}
    ) -> Route:
        """`above` are the parent's values; a route takes those of `_INHERITED` that it does not give."""
        if _is_mapping(data):
            data = {**data} | {key: above[key] for key in _INHERITED if data.get(key) is None and key in above}
        route = self._document.typed(Route, data, at)
        self._check_known((*at, "receiver"), route.receiver, self._receivers, "receiver")
        for key in ("mute_time_intervals", "active_time_intervals"):
            for place, name in enumerate(getattr(route, key)):
                self._check_known((*at, key, place), name, self._intervals, "time interval")
        route = replace(
            route,
            id=id,
            key=(f"{parent.key}/" if parent else "") + format_matchers(route.matchers),
            line=self._document.fault(at, "").line,
        )
        children = [
            self._read_route(child, (*at, "routes", place), f"{id}.{place}", route, data)
            for place, child in enumerate(route.routes)
        ]
        return replace(route, routes=tuple(children))

    def _check_known(self, at: Loc, name: str, names: Collection[str], what: str) -> None:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            self._refuse(at, f"there is no {what} of the name {name!r}{hint}")

    def _refuse(self, at: Loc, text: str) -> None:
        raise FaultsError([self._document.fault(at, text)])


def _is_mapping(data: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(data, dict)


def _with_defaults(receiver: Any, common: Mapping[str, Any]) -> Any:
    """The data of a receiver with those of `global` where its integrations do not have their own."""
    if not _is_mapping(receiver):
        return receiver
    found: dict[str, Any] = {**receiver}
    for sender in SENDERS:
        given: Any = found.get(key := f"{sender.kind}_configs")
        if isinstance(given, list):
            integrations = cast("list[Any]", given)
            found[key] = [
                {**one, **_defaults(sender, one, common)} if _is_mapping(one) else one for one in integrations
            ]
    return found


def _defaults(sender: Sender[Any], given: Mapping[str, Any], common: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        own + end: common[key + end]
        for key, own in sender.globals.items()
        if given.get(own) is None and not given.get(f"{own}_file")
        for end in ("", "_file")
        if common.get(key + end) is not None
    }


def _line(part: Mapping[str, Any]) -> str:
    words: list[str] = []
    for name, value in part.items():
        if value is not None:
            texts = [value] if isinstance(value, str) else value
            texts = [one if isinstance(one, str) else f"{one['start_time']}-{one['end_time']}" for one in texts]
            words.append(f"{name}: {', '.join(texts)}")
    return "; ".join(words) or "always"


BUILT_IN_RECEIVER = "page"
BUILT_IN_DIGEST = "built-in"
CHECK_SECONDS = 1.0
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
        return self._in_force

    @property
    def current(self) -> Configuration:
        return self._in_force.configuration

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def reload(self) -> InForce:
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
        """A periodic check that reads the file when it has changed; the caller starts it."""
        return Periodic("notification-file", self._check, CHECK_SECONDS)

    def _check(self) -> None:
        self.reload()
