"""loadwatch.yml: where samples go, where they wait, and what is watched.

Its keys are `server`, `interval`, `spool`, `labels`, `log` and `targets`; each target has one block per source.
"""

import hashlib
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from yaml.nodes import Node, SequenceNode

from loadwatch_collectors.collector import AsksServer, Collector, Labels, Source, TargetIdentity
from loadwatch_collectors.settings import Bytes, Seconds, option, read_secret
from loadwatch_collectors.settings_loader import (
    Document,
    describe,
    load_settings,
    load_value,
    read_mapping,
    unknown_key,
    with_borrowed,
)

WRITE_PATH = "/prometheus/api/v1/write"
DEFAULT_URL = "http://127.0.0.1:8000" + WRITE_PATH
MIN_INTERVAL_SECONDS = 0.05
_RESERVED_LABELS = frozenset({"job", "instance", "collector", "__name__"})
_TOP_KEYS = ("server", "interval", "spool", "labels", "log", "targets")
_TARGET_KEYS = ("job", "instance", "interval", "timeout", "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where samples are sent: any receiver of Prometheus remote write 1.0."""

    url: str = option(
        help="Address of the remote-write receiver; one without a path is that of a Loadwatch server.",
        default=DEFAULT_URL,
    )
    token_file: str | None = option(help="File that holds the token of this agent.", default=None)
    token_env: str | None = option(help="Environment variable that holds the token of this agent.", default=None)
    ca_file: str | None = option(
        help="Certificates to trust instead of the system's, for an https address.", default=None
    )
    timeout: Seconds = option(help="How long one request may take.", default=10.0)

    def __post_init__(self) -> None:
        if not re.match(r"https?://[^/\s]+", self.url):
            raise ValueError(f"url: {self.url!r} is not an http:// or https:// address")
        if "@" in self.url.partition("://")[2].partition("/")[0]:
            raise ValueError("url: secrets are not kept in this file; give token_file or token_env in their place")
        if self.token_file and self.token_env:
            raise ValueError("token_file and token_env are both given; keep one of the two")
        if self.timeout <= 0:
            raise ValueError("timeout must be more than zero")

    @property
    def write_url(self) -> str:
        """Where samples go. Receivers have a path: an address alone would have every batch refused, and dropped."""
        return self.url.rstrip("/") + WRITE_PATH if re.fullmatch(r"https?://[^/\s]+/?", self.url) else self.url

    def token(self) -> str | None:
        """The bearer token, if one is configured.

        Raises:
            ConfigError: the file or variable holds nothing.
        """
        return read_secret(what="the server's token", file=self.token_file, env=self.token_env)


def default_spool_directory() -> str:
    """The state folder of this service or user: $STATE_DIRECTORY, $XDG_STATE_HOME or ~/.local/state."""
    state = os.environ.get("STATE_DIRECTORY", "").split(":")[0] or os.environ.get("XDG_STATE_HOME")
    return str((Path(state) if state else Path.home() / ".local" / "state") / "loadwatch" / "spool")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolSettings:
    """The folder in which samples wait for the server."""

    directory: str = option(help="Folder of the spool; one agent each.", default_factory=default_spool_directory)
    max_bytes: Bytes = option(help="The oldest samples are dropped beyond this size.", default=512_000_000)
    max_age: Seconds = option(help="Samples older than this are dropped.", default=86_400.0)

    def __post_init__(self) -> None:
        if self.max_bytes < 100_000:
            raise ValueError("max_bytes must be at least 100KB")
        if self.max_age <= 0:
            raise ValueError("max_age must be more than zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorSettings:
    source: Source
    settings: Any
    identity: TargetIdentity
    interval_seconds: float
    timeout_seconds: float
    where: str
    """File and line of the block, for messages."""
    notes: tuple[str, ...] = ()
    """What the block took from elsewhere, for `loadwatch check`."""
    block: int = 1
    """Its number among the blocks of its source in the target."""
    address: str = ""
    """Address of the program that the target is, where this block asks it; see `AsksServer`."""
    state_file: Path | None = None
    """Where the collector remembers how far it is, for one that does; None outside of an agent."""

    @property
    def name(self) -> str:
        """The source's name, as the label `collector` has it: with its number from the second block on."""
        return self.source.name if self.block == 1 else f"{self.source.name}-{self.block}"

    def build(self) -> Collector:
        """The collector.

        Raises:
            ConfigError: the settings cannot work.
        """
        collector = self.source.build(self.settings)
        collector.set_pace(self.interval_seconds, self.timeout_seconds)
        if self.state_file is not None:
            collector.set_state_file(self.state_file)
        return collector

    def keeping_state(self, folder: Path) -> Self:
        """The same with a file of its own in the folder, by what tells one collector of an agent from all others."""
        identity = self.identity
        key = repr((identity.job, identity.instance, identity.labels)).encode()
        name = f"{self.name}-{hashlib.sha256(key).hexdigest()[:16]}.json"
        return replace(self, state_file=folder / name)


@dataclass(frozen=True, slots=True)
class AgentConfig:
    server: ServerSettings
    spool: SpoolSettings
    interval_seconds: float
    labels: Labels
    log_format: str
    collectors: tuple[CollectorSettings, ...]


def load_config(document: Document, sources: Mapping[str, Source]) -> AgentConfig:
    """The configuration in a parsed file.

    Raises:
        ConfigError: anything is wrong; the text names file, line and what to do.
    """
    if document.root is None:
        raise document.error(None, "the file is empty; it needs at least `targets:`")
    entries = read_mapping(document, document.root, "the file")
    for key, (key_node, _) in entries.items():
        if key not in _TOP_KEYS:
            raise unknown_key(document, key_node, key, "the file", _TOP_KEYS)
    nodes = {key: value for key, (_, value) in entries.items()}
    server = (
        load_settings(document, nodes["server"], ServerSettings, "server") if "server" in nodes else ServerSettings()
    )
    spool = load_settings(document, nodes["spool"], SpoolSettings, "spool") if "spool" in nodes else SpoolSettings()
    interval = _load_interval(document, nodes["interval"], "interval") if "interval" in nodes else 1.0
    labels = _load_labels(document, nodes.get("labels"), "labels")
    log_format = str(load_value(document, nodes["log"], str, "log")) if "log" in nodes else "auto"
    if log_format not in ("auto", "json", "console"):
        raise document.error(nodes["log"], f"log must be auto, json or console, not {log_format!r}")
    if "targets" not in nodes:
        raise document.error(document.root, "the file lacks `targets:`, the list of what to watch")
    targets = nodes["targets"]
    if not isinstance(targets, SequenceNode) or not targets.value:
        raise document.error(targets, f"targets must be a list with at least one target, not {describe(targets)}")
    collectors: list[CollectorSettings] = []
    seen: dict[tuple[str, str, str, Labels], str] = {}
    for index, node in enumerate(cast("list[Node]", targets.value)):
        for item in _load_target(document, node, f"targets[{index}]", interval, labels, sources):
            key = (item.name, item.identity.job, item.identity.instance, item.identity.labels)
            if key in seen:
                raise document.error(
                    node,
                    f"the {item.source.name} block of job {item.identity.job!r}, instance {item.identity.instance!r} "
                    f"is there twice (first at {seen[key]}); give one of them another instance or a label, or both "
                    f"blocks in one target, as a list ({item.source.name}: […, …])",
                )
            seen[key] = item.where
            collectors.append(item)
    return AgentConfig(server, spool, interval, labels, log_format, tuple(collectors))


def _load_target(
    document: Document, node: Node, what: str, interval: float, labels: Labels, sources: Mapping[str, Source]
) -> list[CollectorSettings]:
    entries = read_mapping(document, node, what)
    for key, (key_node, _) in entries.items():
        if key not in _TARGET_KEYS and key not in sources:
            raise unknown_key(document, key_node, key, what, [*_TARGET_KEYS, *sources])
    nodes = {key: value for key, (_, value) in entries.items()}
    if "job" not in nodes:
        raise document.error(node, f"{what} lacks the key 'job': the name of the kind of thing that it watches")
    blocks = [name for name in nodes if name in sources]
    if not blocks:
        raise document.error(node, f"{what} has no source block; give at least one of {', '.join(sources)}")
    own = dict(labels) | dict(_load_labels(document, nodes.get("labels"), f"{what}.labels"))
    identity = TargetIdentity(
        job=_load_name(document, nodes["job"], f"{what}.job"),
        instance=_load_name(document, nodes["instance"], f"{what}.instance")
        if "instance" in nodes
        else socket.gethostname(),
        labels=tuple(sorted(own.items())),
    )
    own_every = _load_interval(document, nodes["interval"], f"{what}.interval") if "interval" in nodes else None
    timeout: float | None = None
    if "timeout" in nodes:
        timeout = float(load_value(document, nodes["timeout"], Seconds, f"{what}.timeout"))
        if timeout <= 0:
            raise document.error(nodes["timeout"], f"{what}.timeout must be more than zero")
    collectors: list[CollectorSettings] = []
    for name, index, block in _list_blocks(document, nodes, blocks, what):
        source = sources[name]
        place = f"{what}.{name}" if index is None else f"{what}.{name}[{index}]"
        node, notes = with_borrowed(document, {**nodes, name: block}, name, source.borrow, place)
        settings = load_settings(document, node, source.settings, place)
        if any(one.source is source and one.settings == settings for one in collectors):
            raise document.error(block, f"{place} is the same as the block before it")
        collectors.append(
            CollectorSettings(
                source=source,
                settings=settings,
                block=1 + (index or 0),
                address=settings.address if isinstance(settings, AsksServer) else "",
                identity=identity,
                interval_seconds=own_every if own_every is not None else max(interval, source.interval_seconds),
                timeout_seconds=timeout if timeout is not None else source.timeout_seconds,
                where=f"{document.name}:{(entries[name][0] if index is None else block).start_mark.line + 1}",
                notes=notes,
            )
        )
    # A target that asks an application and its database is the application: the database is another program.
    databases = {one.name for one in collectors if getattr(one.settings, "is_database", False)}
    programs = {one.address for one in collectors if one.name not in databases and isinstance(one.settings, AsksServer)}
    return [
        replace(one, address="") if programs and one.name in databases and one.address not in programs else one
        for one in collectors
    ]


def _list_blocks(
    document: Document, nodes: Mapping[str, Node], blocks: Sequence[str], what: str
) -> Iterator[tuple[str, int | None, Node]]:
    """Source, place in a list, and node of each block; a source may have a list of them."""
    for name in blocks:
        node = nodes[name]
        if not isinstance(node, SequenceNode):
            yield name, None, node
            continue
        if not node.value:
            raise document.error(node, f"{what}.{name} must be a mapping or a list of mappings, not an empty list")
        for index, block in enumerate(cast("list[Node]", node.value)):
            yield name, index, block


def _load_name(document: Document, node: Node, what: str) -> str:
    name = str(load_value(document, node, str, what))
    if not name:
        raise document.error(node, f"{what} must not be empty")
    return name


def _load_interval(document: Document, node: Node, what: str) -> float:
    seconds = float(load_value(document, node, Seconds, what))
    if seconds < MIN_INTERVAL_SECONDS:
        raise document.error(node, f"{what} must be at least {MIN_INTERVAL_SECONDS:g}s, not {seconds:g}s")
    return seconds


def _load_labels(document: Document, node: Node | None, what: str) -> Labels:
    if node is None:
        return ()
    labels = cast("dict[str, str]", load_value(document, node, dict[str, str], what))
    for name, value in labels.items():
        if not name or name in _RESERVED_LABELS:
            raise document.error(node, f"{what}: {name!r} cannot be the name of a label that you add")
        if not value:
            raise document.error(node, f"{what}.{name} is empty; leave the label out instead")
    return tuple(sorted(labels.items()))
