"""Recordings of labelled cases played to a server again, and what its findings are worth.

Only findings that accuse count: those of severity critical or warning. `info` and `host-noise` name what is there and
accuse nobody; they count only where they are what is expected.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from loadwatch_collectors.runs.errors import UsageError

FORMAT = "loadwatch-scenario"
VERSION = 1
MOST_BYTES = 1 << 20
HEALTHY = ("healthy", "noisy")
KINDS = ("single", "pair", *HEALTHY)
PURPOSES = ("tune", "judge")


class Label(NamedTuple):
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
        **{name: str(value) for name, value in texts.items()},
        expected=tuple(frozenset(one.split("|")) for one in cast("list[str]", lists["expected"])),
        allowed=frozenset(cast("list[str]", lists["allowed"])),
    )


ACCUSE_NOBODY = frozenset({"host-noise"})
CANNOT_TELL = "cannot-tell"
"""Expected where something is wrong and nothing that is watched shows what."""


class Score(NamedTuple):
    label: Label
    said: tuple[str, ...]
    """Ids of the findings that count, in their order, each once."""
    first_right: bool | None
    """Whether the first finding is the one expected; None where none is."""
    order_right: bool | None
    """Of a pair: whether both are named, the one expected first before the other; None of all others."""
    wrong: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.first_right is not False and self.order_right is not False and not self.wrong


class Totals(NamedTuple):
    """Over many recordings. `wrong_besides` are false findings in runs in which something else was true."""

    first_right: int
    with_limits: int
    pairs_in_order: int
    pairs: int
    healthy: int
    accused: int
    accusations: int
    wrong_besides: int

    @property
    def first_share(self) -> float:
        """The share of runs with a limit whose first finding is right; 1 where there is none."""
        return self.first_right / self.with_limits if self.with_limits else 1.0


def counting(label: Label, run: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids that count, of a run's findings as the server gives them, each once and in their order.

    Without any, the state "cannot tell" of the diagnosis counts where that is expected.
    """
    findings: list[Mapping[str, Any]] = run.get("findings") or []
    diagnosis: Mapping[str, Any] = run.get("diagnosis") or {}
    ids = [
        str(finding["id"])
        for finding in findings
        if (finding.get("severity") != "info" and finding["id"] not in ACCUSE_NOBODY)
        or any(finding["id"] in place for place in label.expected)
    ]
    if not ids and diagnosis.get("state") == CANNOT_TELL and any(CANNOT_TELL in place for place in label.expected):
        return (CANNOT_TELL,)
    return tuple(dict.fromkeys(ids))


def score(label: Label, said: Sequence[str]) -> Score:
    return Score(
        label=label,
        said=tuple(said),
        first_right=bool(said) and said[0] in label.expected[0] if label.expected else None,
        order_right=_in_order(label.expected, said) if label.kind == "pair" else None,
        wrong=tuple(one for one in said if not any(one in ids for ids in label.expected) and one not in label.allowed),
    )


def add_up(scores: Iterable[Score]) -> Totals:
    every = list(scores)
    limits = [one for one in every if one.first_right is not None]
    pairs = [one for one in every if one.order_right is not None]
    healthy = [one for one in every if one.label.healthy]
    return Totals(
        first_right=sum(bool(one.first_right) for one in limits),
        with_limits=len(limits),
        pairs_in_order=sum(bool(one.order_right) for one in pairs),
        pairs=len(pairs),
        healthy=len(healthy),
        accused=sum(bool(one.wrong) for one in healthy),
        accusations=sum(len(one.wrong) for one in healthy),
        wrong_besides=sum(len(one.wrong) for one in every if not one.label.healthy),
    )


def describe(one: Score) -> str:
    mark = "right" if one.right else "WRONG" if one.first_right is False or one.label.healthy else "partly"
    said = " > ".join(one.said) or "nothing"
    expected = " > ".join("|".join(sorted(ids)) for ids in one.label.expected) or "nothing"
    return f"{mark:6} {one.label.purpose:5} {one.label.case}: expected {expected}; said {said}"


def describe_totals(totals: Totals) -> str:
    return (
        f"first finding right in {totals.first_right} of {totals.with_limits};"
        f" pairs in order {totals.pairs_in_order} of {totals.pairs};"
        f" healthy runs accused {totals.accused} of {totals.healthy} ({totals.accusations} findings);"
        f" wrong findings besides {totals.wrong_besides}"
    )


def _in_order(expected: Sequence[frozenset[str]], said: Sequence[str]) -> bool:
    places = [next((at for at, one in enumerate(said) if one in ids), None) for ids in expected]
    found = [place for place in places if place is not None]
    return len(found) == len(expected) and found == sorted(found)
