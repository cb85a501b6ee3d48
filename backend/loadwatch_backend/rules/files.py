"""Rule files on disk and those that come with Loadwatch: read, read again when they change, kept when they break."""

import functools
import glob
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.rules.model import RuleFile, RuleFileState, RuleGroup, RuleSet
from loadwatch_backend.rules.read import Read, read_rules
from loadwatch_backend.rules.translations import translated

log = structlog.get_logger(__name__)

BUILT_IN = Path(__file__).parent / "defaults"
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
        built_in_directory: Path = BUILT_IN,
    ) -> None:
        """`paths` may hold *, ? and **; `interval_ms` is for groups that name no interval. Reads all files at once."""
        self._patterns = [str(path) for path in paths]
        self._clock = clock
        self._built_in = sorted(str(path) for path in built_in_directory.glob("*.yml")) if built_in else []
        self._interval_ms = interval_ms
        self._lock = threading.RLock()
        self._known: dict[str, _Known] = {}
        self._set = RuleSet(generation=0, files=())
        self._seen: dict[str, Signature | None] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._listeners: list[Listener] = []
        self.reload()

    def current(self) -> RuleSet:
        """The rules in force."""
        return self._set

    def reload(self) -> RuleSet:
        """Read what has changed, at once, and give the rules in force. Never raises: see `RuleFile.error`."""
        with self._lock:
            paths = self._list()
            self._seen = {path: _signature(path) for path in paths}
            self._known = {path: self._read(path, self._seen[path]) for path in paths}
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
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="rule-files", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop looking."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                self.look()
            except Exception:
                # Rules that are in force must not stop because a listener fails.
                log.exception("rule files could not be reloaded")

    def look(self) -> None:
        """One look: reload when files have changed and then held still since the last look."""
        with self._lock:
            seen = {path: _signature(path) for path in self._list()}
            settled, self._seen = seen == self._seen, seen
            if not settled or seen == {path: known.signature for path, known in self._known.items()}:
                return
        self.reload()

    def _list(self) -> list[str]:
        found = list(self._built_in)
        for pattern in self._patterns:
            if any(letter in pattern for letter in _MAGIC):
                found += sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
            else:
                found.append(pattern)
        return list(dict.fromkeys(found))

    def _read(self, path: str, signature: Signature | None) -> _Known:
        former = self._known.get(path)
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            # It was named, so that it is missing is worth saying; its rules are gone on purpose.
            return self._broken(path, None, "", (), "there is no such file", None)
        except OSError as error:
            kept = former.file.groups if former else ()
            return self._broken(path, signature, "", kept, f"it cannot be read: {error.strerror}", None)
        content_hash = hashlib.sha256(content).hexdigest()
        if former is not None and former.content_hash == content_hash:
            return replace(former, signature=signature)
        read = (_read_built_in if path in self._built_in else read_rules)(content, path, self._interval_ms)
        faults = read.all_faults
        error = "\n".join(f"{path}:{one.line}:{one.column}: {one.message}" for one in faults)
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
            built_in=path in self._built_in,
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
            built_in=path in self._built_in,
        )
        return _Known(signature=signature, content_hash=content_hash, file=file)


@functools.cache
def _read_built_in(content: bytes, path: str, interval_ms: int) -> Read:
    """With texts in all languages. They are the same for every server of a process."""
    read = read_rules(content, path, interval_ms)
    return replace(read, groups=translated(read.groups))


def _signature(path: str) -> Signature | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
