"""Changes as sentences, and which of them share an annotation. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadwatch_backend.app.changes.model import Change, Event
from loadwatch_backend.core.texts.numbers import duration

MOST_NAMES = 10
MOST_NOTES = 50
"""Annotations of one look; what is beyond them is summed up in one."""
_TEXT_LENGTH = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An annotation to be made."""

    text: str
    tags: tuple[str, ...]
    at_ms: int
    author: str


def describe(changes: Iterable[Change]) -> list[Note]:
    """The annotations for changes, in order of time.

    Changes of one resource at one time are one annotation, and so are resources of one kind that came or went together.
    """
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        subject = change.title if change.event is Event.CHANGED else change.tags
        noun = change.watch.noun[0]
        groups.setdefault((change.event, noun, subject, change.at_ms), []).append(change)
    notes = sorted((_note(group) for group in groups.values()), key=lambda note: note.at_ms)
    if len(notes) <= MOST_NOTES:
        return notes
    rest = notes[MOST_NOTES - 1 :]
    tags = tuple(dict.fromkeys(tag for note in rest for tag in note.tags))[:20]
    text = f"{len(rest)} more changes at about the same time; the first: {rest[0].text}"
    last = Note(text=text[:_TEXT_LENGTH], tags=tags, at_ms=rest[0].at_ms, author=rest[0].author)
    return [*notes[: MOST_NOTES - 1], last]


def _note(group: Sequence[Change]) -> Note:
    first = group[0]
    tags = (first.watch.origin, *dict.fromkeys(tag for change in group for tag in change.tags))
    text = _sentence(group) if first.event is Event.CHANGED else _presence(group)
    return Note(text=text[:_TEXT_LENGTH], tags=tags, at_ms=first.at_ms, author=first.watch.origin)


def _sentence(group: Sequence[Change]) -> str:
    first = group[0]
    parts = [_part(change) for change in group]
    title = f"{first.watch.noun[0]} {first.title}"
    return ("Failover of the " if "failover" in first.tags else "") + f"{title}: {'; '.join(parts)}."


def _part(change: Change) -> str:
    if change.field is not None and change.field.form == "time":
        return f"started again, {duration(float(change.after) - float(change.before))} after its start before"
    words = change.field.words if change.field is not None else ""
    return f"{words} is {_readable(change.after)}, was {_readable(change.before)}"


def _readable(text: str) -> str:
    """`true` and `false` as people say them."""
    return {"true": "on", "false": "off"}.get(text, text)


def _presence(group: Sequence[Change]) -> str:
    first, count = group[0], len(group)
    came = first.event is Event.CAME
    names = sorted(change.title for change in group)
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {count - MOST_NAMES} more" if count > MOST_NAMES else "")
    if count == 1:
        return f"{first.watch.noun[0]} {listed} {'has come' if came else 'is gone'}."
    return f"{count} {first.watch.noun[-1]} {'have come' if came else 'are gone'}: {listed}."
