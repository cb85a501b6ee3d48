"""Rule files on disk and those of packs: read, read again when they change, kept when they break."""

import functools
import glob
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import structlog
from loadwatch_formats.durations import format_duration
from loadwatch_packs import FOLDER

from loadwatch_backend.alerting.rules.model import (
    FINDING_ANNOTATION,
    SIGNAL_ANNOTATION,
    UNIT_ANNOTATION,
    RuleFile,
    RuleFileState,
    RuleGroup,
    RuleSet,
)
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.catalogue.packs.library import FILE, Catalogue, Library, pack_files, shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import WINDOW, any_tree_of
from loadwatch_backend.catalogue.signals.model import AlertOf, Entity, InfoJoin, Pack, Resource, Unit, any_of, is_number
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.language import Language, translation_key
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.core.texts.numbers import share
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Expression,
    Matching,
    Negation,
    Text,
)

LOOK_BACK, LATE_LOOK_BACK = "1m", "15m"
"""What replaces `$window` in expressions; the second where values arrive late."""
_NOT_SAID = AlertOf.model_validate({"for": "15s"})
_LEGEND = re.compile(r"\{\{ *(\w+) *\}\}")


def alert_files(catalogue: Catalogue, *, built_in: bool) -> Mapping[str, bytes]:
    """Texts of rule files by pack, as `redis/pack.yml`; `built_in`: with rules of what the shipped packs have."""
    shipped = frozenset[str]() if built_in else frozenset(one.id for one in shipped_catalogue().resources)
    found: dict[str, bytes] = {}
    for pack in catalogue.packs:
        own = [one for resource in pack.resources if resource.id not in shipped for one in resource.each]
        rules = [rule for one in own for rule in _rules(pack, one, catalogue)]
        if rules:
            found[f"{pack.id}/{FILE}"] = orjson.dumps({"groups": [{"name": pack.id, "rules": rules}]})
    return found


def _rules(pack: Pack, resource: Resource, catalogue: Catalogue) -> Iterator[Mapping[str, Any]]:
    alert = resource.alert or _NOT_SAID
    if alert.rule or alert.none or (resource.alert is None and resource.harm == "demand"):
        return
    thresholds = {"warning": alert.warning, "critical": alert.critical}
    if not any(thresholds.values()):
        thresholds = {"warning": resource.near, "critical": resource.full}
    late = resource.cadence or pack.cadence
    window = LATE_LOOK_BACK if late else LOOK_BACK
    ratios = [ratio for one in resource.each for ratio in _ratios(one, window)]
    signal = next((one.id for one in catalogue.signals if one.resource == resource.id and not one.limit), "")
    for severity, threshold in thresholds.items():
        if threshold is not None:
            annotations = {
                **_texts(resource, threshold, alert.for_ms, resource.entity or pack.entity),
                "runbook_url": f"{{{{ $externalURL }}}}/runbooks/{alert.runbook}" if alert.runbook else "",
                FINDING_ANNOTATION: resource.finding_id or "none",
                SIGNAL_ANNOTATION: signal,
                UNIT_ANNOTATION: Unit.RATIO,
            }
            yield {
                "alert": resource.alert_name,
                "expr": any_of([f"{ratio} >= {threshold:g}" for ratio in ratios]),
                "for": format_duration(alert.for_ms),
                "keep_firing_for": format_duration(alert.keep_firing_for_ms),
                "labels": {"severity": severity, "component": pack.id},
                "annotations": {name: text for name, text in annotations.items() if text},
            }


def _texts(resource: Resource, threshold: float, for_ms: int, entity: Entity | None) -> Mapping[str, str]:
    where = _LEGEND.sub(r"{{ $labels.\1 }}", resource.legend)
    where += "".join(_called(one) for one in entity.names) if entity is not None and where else ""
    used = "{{ $value | humanizePercentage }}"
    summary = message_of("rules", "summary" if where else "whole", where=where, thing=resource.title, used=used)
    said = message_of("rules", "description", threshold=share(threshold), held=format_duration(for_ms))
    found: dict[str, str] = {}
    for language in Language:
        description = " ".join(filter(None, (said.read(language), resource.advice.read(language))))
        for name, text in (("summary", summary.read(language)), ("description", description)):
            found[name if language is Language.EN else translation_key(name, language)] = text
    return found


def _called(join: InfoJoin) -> str:
    """A template of the target's other name; it expands to nothing where that is missing or the same."""
    matchers, values = ",".join(f"{one}=%q" for one in join.on), " ".join(f"$labels.{one}" for one in join.on)
    query = f'printf "last_over_time({join.info}{{{matchers}}}[{LATE_LOOK_BACK}])" {values} | query'
    name = f'{{{{ $name := . | first | label "{join.take[0]}" }}}}'
    shown = "{{ if ne $name $labels.instance }} ({{ $name }}){{ end }}{{ end }}"
    return f"{{{{ with {query} }}}}{name}{shown}"


def _ratios(resource: Resource, window: str) -> Sequence[str]:
    """Used shares of each limit. As on the page, both are joined by the labels that both have; 0 is no limit."""
    used, own = _filled(resource.use, window), _labels_of(resource.use)
    ratios: list[str] = []
    for alternatives in resource.limits.values():
        limit, theirs = _filled(alternatives, window), _labels_of(alternatives)
        if all(is_number(one) for one in alternatives):
            ratios.append(f"({used}) / {limit}")
            continue
        known = own if theirs is None else theirs if own is None else own & theirs
        join = "" if known is None else f" on ({', '.join(sorted(known))}) group_left ()"
        ratios.append(f"({used}) /{join} (({limit}) > 0)")
    return ratios


def _filled(alternatives: Sequence[str], window: str) -> str:
    return any_of(alternatives).replace(WINDOW, window)


def _labels_of(alternatives: Sequence[str]) -> frozenset[str] | None:
    """The labels that all of them give; None where the text does not say it."""
    known, *others = [_labels(any_tree_of(one)) for one in alternatives]
    for one in others:
        known = None if known is None or one is None else known & one
    return known


def _labels(tree: Expression) -> frozenset[str] | None:
    match tree:
        case Aggregation(operator="topk" | "bottomk" | "limitk" | "limit_ratio", expression=inner):
            return _labels(inner)
        case Aggregation(without=False, labels=labels):
            return frozenset(labels)
        case Negation(expression=inner):
            return _labels(inner)
        case Call(function="label_replace" | "label_join", arguments=(inner, Text(added), *_)):
            known = _labels(inner)
            return None if known is None else known | {added}
        case Call(arguments=(inner, *_)):
            return _labels(inner)
        case Binary(operator="or", left=left, right=right):
            one, other = _labels(left), _labels(right)
            return None if one is None or other is None else one & other
        case Binary(matching=Matching(cardinality=Cardinality.ONE_TO_ONE, on=True, labels=labels)):
            return frozenset(labels)
        case Binary(left=left, right=right):
            one, other = _labels(left), _labels(right)
            return other if one is None else one
        case _:
            return None


log = structlog.get_logger(__name__)

_FILE = "rules.yml"
_read_once = functools.cache(read_rules)
"""Shipped rules are the same for every server of a process."""
CHECK_SECONDS = 0.5
"""Pause between two checks of the files. A change counts once it has lasted over two of them, so that a file that is
just being written is not read half."""
_MAGIC = "*?["

Listener = Callable[[RuleSet], None]
Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
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
        self._loop = Periodic("rule-files", self.check, CHECK_SECONDS)
        self._listeners: list[Listener] = []
        self.reload()

    def current(self) -> RuleSet:
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
        """Check for changes from now on, and call the listener with the new rules, from a thread of ours."""
        with self._lock:
            self._listeners.append(listener)
        self._loop.start(CHECK_SECONDS)

    def close(self) -> None:
        self._loop.close()

    def check(self) -> None:
        """One check: reload when files have changed and then held still since the last check."""
        with self._lock:
            seen = self._signatures()
            settled, self._seen = seen == self._seen, seen
            if not settled or seen == {path: known.signature for path, known in self._known.items()}:
                return
        self.reload()

    def _signatures(self) -> dict[str, Signature | None]:
        catalogue = self._library.current()
        if catalogue is not self._made_of:
            self._made, self._made_of = alert_files(catalogue, built_in=self._with_built_in), catalogue
        # Those of the program do not change while it runs.
        found: dict[str, Signature | None] = dict.fromkeys(self._built_in, (0, 0, 0))
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
