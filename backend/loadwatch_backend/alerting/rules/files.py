"""Rule files on disk and those of packs: read, read again when they change, kept when they break."""

import functools
import glob
import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog
from loadwatch_packs import FOLDER

from loadwatch_backend.alerting.rules.model import RuleFile, RuleFileState, RuleGroup, RuleSet
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.alerting.rules.resources import alert_files
from loadwatch_backend.catalogue.packs.library import Catalogue, Library, pack_files
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.periodic import Periodic

log = structlog.get_logger(__name__)

_FILE = "rules.yml"
_read_once = functools.cache(read_rules)
"""Shipped rules are the same for every server of a process."""
LOOK_SECONDS = 0.5
"""Pause between two looks at the files. A change counts once it has lasted over two of them, so that a file that is
just being written is not read half."""
_MAGIC = "*?["

Listener = Callable[[RuleSet], None]
Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A file as it was last read."""

    signature: Signature | None
    content_hash: str
    file: RuleFile


class RuleFiles:
    """The rules in force. Safe to use from any thread."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        clock: Clock,
        *,
        built_in: bool = True,
        interval_ms: int = 1_000,
        library: Library | None = None,
    ) -> None:
        """Reads all files at once.

        Args:
            paths: may hold *, ? and **.
            clock: tells when a file was read.
            built_in: whether the shipped packs' rules are in force.
            interval_ms: for groups that name no interval.
            library: of a user's packs; without it there are the shipped ones only.
        """
        self._library = library or Library()
        self._made_of: Catalogue | None = None
        self._made: Mapping[str, bytes] = {}
        self._with_built_in = built_in
        self._patterns = [str(path) for path in paths]
        self._clock = clock
        self._built_in: Mapping[str, Path] = shipped_rules() if built_in else {}
        self._interval_ms = interval_ms
        self._lock = threading.RLock()
        self._known: dict[str, _Known] = {}
        self._set = RuleSet(generation=0, files=())
        self._seen: dict[str, Signature | None] = {}
        self._loop = Periodic("rule-files", self.look, LOOK_SECONDS)
        self._listeners: list[Listener] = []
        self.reload()

    def current(self) -> RuleSet:
        """The rules in force."""
        return self._set

    def reload(self) -> RuleSet:
        """Read what has changed, at once, and give the rules in force. Never raises: see `RuleFile.error`."""
        with self._lock:
            self._seen = self._signatures()
            self._known = {path: self._read(path, signature) for path, signature in self._seen.items()}
            files = tuple(known.file for known in self._known.values())
            if files == self._set.files and self._set.generation:
                return self._set
            self._set = RuleSet(generation=self._set.generation + 1, files=files)
            changed, listeners = self._set, list(self._listeners)
        for listener in listeners:
            listener(changed)
        return changed

    def watch(self, listener: Listener) -> None:
        """Look for changes from now on, and tell the listener of the new rules, from a thread of ours."""
        with self._lock:
            self._listeners.append(listener)
        self._loop.start(LOOK_SECONDS)

    def close(self) -> None:
        """Stop looking."""
        self._loop.close()

    def look(self) -> None:
        """One look: reload when files have changed and then held still since the last look."""
        with self._lock:
            seen = self._signatures()
            settled, self._seen = seen == self._seen, seen
            if not settled or seen == {path: known.signature for path, known in self._known.items()}:
                return
        self.reload()

    def _signatures(self) -> dict[str, Signature | None]:
        """Of all rule files, in the order in which they count."""
        catalogue = self._library.current()
        if catalogue is not self._made_of:
            self._made, self._made_of = alert_files(catalogue, built_in=self._with_built_in), catalogue
        found: dict[str, Signature | None] = {path: _signature(place) for path, place in self._built_in.items()}
        found |= {path: (hash(made), len(made), 0) for path, made in self._made.items()}
        found |= {path: _signature(path) for folder in self._library.folders for path in pack_files(folder, _FILE)}
        for pattern in self._patterns:
            if any(letter in pattern for letter in _MAGIC):
                paths = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
            else:
                paths = [pattern]
            found |= {path: _signature(path) for path in paths}
        return found

    def _is_built_in(self, path: str) -> bool:
        return path in self._built_in or (path in self._made and (FOLDER / path).is_file())

    def _read(self, path: str, signature: Signature | None) -> _Known:
        former = self._known.get(path)
        try:
            content = self._made.get(path) or self._built_in.get(path, Path(path)).read_bytes()
        except FileNotFoundError:
            # It was named, so that it is missing is worth saying; its rules are gone on purpose.
            return self._broken(path, None, "", (), "there is no such file", None)
        except OSError as error:
            kept = former.file.groups if former else ()
            return self._broken(path, signature, "", kept, f"it cannot be read: {error.strerror}", None)
        content_hash = hashlib.sha256(content).hexdigest()
        if former is not None and former.content_hash == content_hash:
            return replace(former, signature=signature)
        read = (_read_once if path in self._built_in else read_rules)(content, path, self._interval_ms)
        faults = read.all_faults
        error = "\n".join(map(str, faults))
        if read.faults:
            kept = former.file.groups if former else ()
            return self._broken(path, signature, content_hash, kept, error, faults[0].line)
        if read.left_out:
            log.error("rules cannot be read and are left out", path=path, error=error, left_out=len(read.left_out))
        file = RuleFile(
            path=path,
            state=RuleFileState.PARTIAL if read.left_out else RuleFileState.OK,
            loaded_ms=self._clock(),
            groups=read.groups,
            error=error,
            line=faults[0].line if faults else None,
            built_in=self._is_built_in(path),
            left_out=frozenset((one.group, one.name) for one in read.left_out),
        )
        return _Known(signature=signature, content_hash=content_hash, file=file)

    def _broken(
        self,
        path: str,
        signature: Signature | None,
        content_hash: str,
        groups: Sequence[RuleGroup],
        error: str,
        line: int | None,
    ) -> _Known:
        former = self._known.get(path)
        if former is not None and former.file.error == error:
            return replace(former, signature=signature, content_hash=content_hash)
        log.error("a rule file is broken", path=path, error=error, rules_kept=sum(len(one.rules) for one in groups))
        file = RuleFile(
            path=path,
            state=RuleFileState.BROKEN,
            loaded_ms=self._clock(),
            groups=groups,
            error=error,
            line=line,
            built_in=self._is_built_in(path),
        )
        return _Known(signature=signature, content_hash=content_hash, file=file)


def shipped_rules() -> Mapping[str, Path]:
    """The rule files that come with Loadwatch, by pack and name, as `mysql/rules.yml`."""
    return {f"{path.parent.name}/{_FILE}": path for path in sorted(FOLDER.glob(f"*/{_FILE}"))}


def _signature(path: str | Path) -> Signature | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
