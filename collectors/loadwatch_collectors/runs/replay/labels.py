"""The label of a recording: what is true of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from loadwatch_collectors.runs.errors import UsageError

FORMAT = "loadwatch-scenario"
VERSION = 1
MOST_BYTES = 1 << 20
HEALTHY = ("healthy", "noisy")
KINDS = ("single", "pair", *HEALTHY)
PURPOSES = ("tune", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What findings should be: `expected` in this order, and `allowed`, which are right as well."""

    case: str
    run: str
    purpose: str
    kind: str
    expected: tuple[frozenset[str], ...]
    """One set for each place: a cause and its consequence that begin together are both right in it."""
    allowed: frozenset[str]

    @property
    def healthy(self) -> bool:
        """Whether nothing is to be accused."""
        return self.kind in HEALTHY


def find_recordings(paths: Iterable[Path]) -> list[Path]:
    """The archives among files and in folders that have a label beside them, by name.

    Raises:
        UsageError: a file without its label, or nothing at all.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += [archive for archive in path.glob("*.zip") if archive.with_suffix(".json").exists()]
        elif not path.with_suffix(".json").exists():
            raise UsageError(f"{path} has no label {path.with_suffix('.json').name} beside it")
        else:
            found.append(path.with_suffix(".zip"))
    if not found:
        raise UsageError("there is no recording: give folders with pairs of NAME.zip and NAME.json")
    return sorted(set(found), key=lambda path: path.name)


def read_label(archive: Path) -> Label:
    """The label beside an archive.

    Raises:
        UsageError: it is none of ours, or says what no label says.
    """
    path = archive.with_suffix(".json")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES} bytes")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    return parse_label(document, where=str(path))


def parse_label(document: Any, *, where: str) -> Label:
    """A label out of its document.

    Raises:
        UsageError: as `read_label`.
    """
    if not isinstance(document, Mapping):
        raise UsageError(f"{where} is no label of a recording")
    fields = cast("Mapping[str, Any]", document)
    if fields.get("format") != FORMAT or fields.get("version") != VERSION:
        raise UsageError(f"{where} is no label of a recording in format {FORMAT} {VERSION}")
    texts = {name: fields.get(name) for name in ("case", "run", "purpose", "kind")}
    lists = {name: fields.get(name) for name in ("expected", "allowed")}
    for name, value in texts.items():
        if not isinstance(value, str) or not value:
            raise UsageError(f"{where}: {name} is missing")
    for name, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[Any]", value)):
            raise UsageError(f"{where}: {name} is no list of findings' ids")
    if texts["kind"] not in KINDS or texts["purpose"] not in PURPOSES:
        raise UsageError(f"{where}: kind is one of {', '.join(KINDS)}, and purpose one of {', '.join(PURPOSES)}")
    return Label(
        case=str(texts["case"]),
        run=str(texts["run"]),
        purpose=str(texts["purpose"]),
        kind=str(texts["kind"]),
        expected=tuple(frozenset(one.split("|")) for one in cast("list[str]", lists["expected"])),
        allowed=frozenset(cast("list[str]", lists["allowed"])),
    )
