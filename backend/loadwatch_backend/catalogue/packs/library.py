"""All packs, shipped and a user's, put together as the catalogue that pages, rules and findings read."""

import functools
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import structlog
from loadwatch_packs import FOLDER

from loadwatch_backend.catalogue.packs.typed_yaml import Document, Fault, FaultsError
from loadwatch_backend.catalogue.signals.interval import any_tree_of
from loadwatch_backend.catalogue.signals.model import (
    Cadence,
    Entity,
    Group,
    Pack,
    Panel,
    Resource,
    Setting,
    Signal,
    Watch,
)
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import compile_pattern

logger = structlog.get_logger(__name__)

FILE = "pack.yml"
MOST_PACKS = 200
MOST_SIGNALS = 2_000
MOST_BYTES = 1024**2
LOOK_SECONDS = 2.0
_Entry = TypeVar("_Entry", Group, Panel, Signal, Resource)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """What is known: groups in page order, resources, and the packs that they come from, with the document of each."""

    groups: Sequence[Group]
    resources: Sequence[Resource]
    packs: Sequence[Pack] = ()
    documents: Mapping[str, Document] = field(default_factory=dict[str, Document])
    faults: Sequence[Fault] = ()

    @cached_property
    def signals_by_id(self) -> Mapping[str, tuple[Panel, Signal]]:
        return {one.id: (panel, one) for group in self.groups for panel in group.panels for one in panel.signals}

    @cached_property
    def signals(self) -> Sequence[Signal]:
        return [one for _, one in self.signals_by_id.values()]

    @cached_property
    def settings(self) -> Sequence[Setting]:
        """What a snapshot records; of two that say the same, the first counts."""
        return [one for pack in self.packs for one in pack.settings]

    @cached_property
    def changes(self) -> Mapping[str, Watch]:
        """What becomes an annotation, by its series; of two packs with one series, the later counts."""
        return {one.series: one for pack in self.packs for one in pack.changes}

    @cached_property
    def by_alert(self) -> Mapping[str, Resource]:
        """Resources by the name of their alert; one that several have knows the uses and the names of all."""
        found: dict[str, Resource] = {}
        for one in self.resources:
            known = found.setdefault(one.alert_name, one)
            if known is not one and known.entity and one.entity:
                entity = known.entity.model_copy(update={"names": (*known.entity.names, *one.entity.names)})
                more = {"use": (*known.use, *one.use), "entity": entity}
                found[one.alert_name] = known.model_copy(update=more)
        return found

    @cached_property
    def metrics(self) -> Sequence[str]:
        return [name for pack in self.packs for metrics in pack.metrics.values() for name in metrics]

    @cached_property
    def panel_of_signal(self) -> Mapping[str, str]:
        return {one.id: panel.id for group in self.groups for panel in group.panels for one in panel.signals}


@dataclass(slots=True)
class _Read:
    """A file as it was last read; `pack` and `document` are those of its last valid version."""

    stamp: tuple[int, int]
    pack: Pack | None = None
    document: Document | None = None
    faults: Sequence[Fault] = ()


class Library:
    """Reads packs again when their files change; safe to use from any thread.

    Args:
        folders: of a user's packs, each with a folder for each pack, or a pack itself; a later one wins.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self.folders = folders
        self._lock = threading.Lock()
        self._files: dict[str, _Read] = {}
        self._found: Sequence[str] = ()
        self._looked = float("-inf")
        self._catalogue: Catalogue | None = None

    def current(self) -> Catalogue:
        """The catalogue of the files as they are now, or were two seconds ago."""
        with self._lock:
            if time.monotonic() - self._looked >= LOOK_SECONDS:
                self._look()
                self._looked = time.monotonic()
            assert self._catalogue is not None
            return self._catalogue

    def reload(self) -> Catalogue:
        with self._lock:
            self._looked = float("-inf")
        return self.current()

    def _look(self) -> None:
        files = [file for folder in self.folders for file in pack_files(folder)]
        changed = files != self._found
        for file in files[:MOST_PACKS]:
            changed |= self._read(file)
        if self._catalogue is None or changed:
            self._found = files
            self._catalogue = self._put_together(files)

    def _read(self, file: str) -> bool:
        """Read the file if it has changed; whether it had, or whether it can no longer be read."""
        known = self._files.get(file)
        try:
            status = os.stat(file)
            stamp = (status.st_mtime_ns, status.st_size)
            if known is not None and known.stamp == stamp:
                return False
            read = _Read(stamp) if known is None else _Read(stamp, known.pack, known.document)
            self._files[file] = read
            if status.st_size > MOST_BYTES:
                raise FaultsError([Fault(file, 1, 1, f"the file has more than {MOST_BYTES // 1024} KiB")])
            read.document = Document.read(Path(file).read_bytes(), file)
        except OSError as error:
            kept, faults = known or _Read((0, 0)), [Fault(file, 1, 1, str(error.strerror))]
            self._files[file] = _Read((0, 0), kept.pack, kept.document, faults)
            return kept.faults != faults
        except FaultsError as error:
            self._files[file].faults = error.faults
        return True

    def _put_together(self, files: Sequence[str]) -> Catalogue:
        """Shipped packs and those of a user; one that is wrong is left out, or stays as it was."""
        documents = dict(shipped_documents())
        packs = dict(_shipped_packs())
        more = f"there are more than {MOST_PACKS} packs; this one is not read"
        faults = [Fault(file, 1, 1, more) for file in files[MOST_PACKS:]]
        for file in files[:MOST_PACKS]:
            read = self._files[file]
            faults += read.faults
            if read.document is None:
                continue
            try:
                document, base = read.document, read.document.data.get("change")
                if base is not None:
                    if base not in documents:
                        raise FaultsError([document.fault(("change",), f"there is no pack {base!r} to change")])
                    document = documents[base].changed_by(document)
                pack = checked(document, packs.values())
                read.pack, documents[pack.id] = pack, document
            except FaultsError as error:
                faults += error.faults
            if read.pack is not None:
                packs[read.pack.id] = read.pack
        for one in faults:
            logger.warning("a pack is not read", file=one.file, line=one.line, column=one.column, error=one.text)
        groups, resources = put_together(packs.values())
        return Catalogue(
            groups=groups, resources=resources, packs=list(packs.values()), documents=documents, faults=faults
        )


def pack_files(folder: Path, name: str = FILE) -> list[str]:
    """The pack files in a folder of packs, or that of one pack's own folder."""
    packs = sorted(os.listdir(folder)) if folder.is_dir() else []
    return [path for pack in ("", *packs) if os.path.exists(path := os.path.join(folder, pack, name))]


@functools.cache
def shipped_documents() -> Mapping[str, Document]:
    """The packs that come with the program, by id; their files do not change while it runs."""
    files = sorted(FOLDER.glob(f"*/{FILE}"))
    return {file.parent.name: Document.read(file.read_bytes(), str(file)) for file in files}


@functools.cache
def _shipped_packs() -> Mapping[str, Pack]:
    return {id: _load(one) for id, one in shipped_documents().items()}


def _load(document: Document) -> Pack:
    return document.load(Pack, skip=("change",))


def checked(document: Document, others: Iterable[Pack]) -> Pack:
    """The pack that it describes, beside others; one of the same id is replaced.

    Raises:
        FaultsError: all that is wrong with it: an expression is no PromQL, a signal's id is known, there are too many.
    """
    pack = _load(document)
    owners = {signal.id: one.id for one in others if one.id != pack.id for _, signal in one.signals()}
    faults: list[Fault] = []
    for loc, signal in pack.signals():
        if signal.id in owners:
            text = f"the packs {owners[signal.id]} and {pack.id} have a signal {signal.id!r}"
            faults.append(document.fault((*loc, "id"), text))
        owners[signal.id] = pack.id
    if len(owners) > MOST_SIGNALS:
        faults.append(document.fault(("groups",), f"all packs together have more than {MOST_SIGNALS} signals"))
    places: list[tuple[tuple[Any, ...], Sequence[str]]] = [
        ((*loc, "expr"), signal.alternatives) for loc, signal in pack.signals()
    ]
    for r, one in enumerate(pack.resources):
        at = ("resources", r)
        for s, source in enumerate(one.sources):
            places += [((*at, "sources", s), each) for each in (source.use, *source.limits.values())]
            places += [((*at, "sources", s), each.alternatives or ()) for each in source.demands]
        if not one.sources:
            places += [((*at, "used"), one.use), *(((*at, "limit", name), each) for name, each in one.limits.items())]
        places += [((*at, "demand", d, "expr"), each.alternatives or ()) for d, each in enumerate(one.demands)]
        places += [((*at, "holders", h, "expr"), each.alternatives) for h, each in enumerate(one.holders)]
    places += [(("settings", s, "expr"), [one.expression]) for s, one in enumerate(pack.settings)]
    for loc, texts in places:
        for text in texts:
            try:
                any_tree_of(text)
            except ProblemError as error:
                faults.append(document.fault(loc, f"this is no PromQL: {error.detail}"))
    for r, one in enumerate(pack.resources):
        for d, each in enumerate(one.demands):
            try:
                compile_pattern(each.log)
            except PatternError as error:
                faults.append(document.fault(("resources", r, "demand", d, "log"), str(error.detail)))
    if faults:
        raise FaultsError(sorted(faults))
    return pack


def put_together(packs: Iterable[Pack]) -> tuple[list[Group], list[Resource]]:
    groups: dict[str, Group] = {}
    resources: list[Resource] = []
    for pack in packs:
        for group in pack.groups:
            late = [_with_signals(panel, [_late(one, pack.cadence) for one in panel.signals]) for panel in group.panels]
            groups[group.id] = _extended(groups.get(group.id), _with_panels(group, late))
        own = {
            "group": pack.groups[0].id if pack.groups else pack.id,
            "cadence": pack.cadence,
            "entity": pack.entity or Entity(kind=""),
        }
        resources += [
            one.model_copy(update={key: value for key, value in own.items() if not getattr(one, key)})
            for resource in pack.resources
            for one in resource.each
        ]
    ordered = [
        _with_panels(group, [_with_signals(panel, _in_order(panel.signals)) for panel in _in_order(group.panels)])
        for group in _in_order(groups.values())
    ]
    return ordered, _in_order(resources)


def _with_panels(group: Group, panels: Iterable[Panel]) -> Group:
    return group.model_copy(update={"panels": tuple(panels)})


def _with_signals(panel: Panel, signals: Iterable[Signal]) -> Panel:
    return panel.model_copy(update={"signals": tuple(signals)})


def _late(entry: Signal, cadence: Cadence | None) -> Signal:
    return entry if cadence is None or entry.cadence is not None else entry.model_copy(update={"cadence": cadence})


def _in_order(entries: Iterable[_Entry]) -> list[_Entry]:
    return sorted(entries, key=lambda one: one.order)


def _extended(known: Group | None, more: Group) -> Group:
    """A group with the panels of another pack; those that both have get the signals of both."""
    if known is None:
        return more
    panels = {one.id: one for one in known.panels}
    for panel in more.panels:
        before = panels.get(panel.id)
        if before is None:
            panels[panel.id] = panel
        else:
            first = before if before.title else panel
            panels[panel.id] = _with_signals(first, (*before.signals, *panel.signals))
    return _with_panels(known if known.title else more, panels.values())


@functools.cache
def shipped_catalogue() -> Catalogue:
    return Library().current()
