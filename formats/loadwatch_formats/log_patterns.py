"""Log lines counted by their pattern: what varies is left out first, then alike lines are one template.

The tree is Drain's (He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017):
lines of one length that begin with the same words are compared word by word, and words in which alike lines differ
become `<*>`. Everything is bounded, whatever the lines hold: words, length, templates. Values never leave this module.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

ANY = "<*>"
OTHER = "other"
MOST_CHARACTERS = 2_000
"""Most characters of a line that are read; a pattern keeps half as many."""
_MOST_OF_JSON = 65_536
"""Most characters of a line of JSON: its message may come late, and cut JSON cannot be parsed."""
MOST_WORDS = 40
MOST_TEMPLATES = 500
SIMILAR = 0.5
"""Share of words that lines of one template have in common at least."""
_DEPTH = 2
_CHILDREN = 100

_ESCAPES = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_TIME = re.compile(
    r"^\W{0,3}(?:\d{4}[-/.]\d{2}[-/.]\d{2}[T ]?\s?(?:\d{2}:\d{2}:\d{2}[.,]?\d{0,9})?\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?"
    r"|[A-Z][a-z]{2}\s{1,2}\d{1,2} \d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
    r"|\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}|\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?)\W{0,3}"
)
_MASKS = (
    # What stands in quotes is data: names, statements, paths, addresses; also where the end was cut off.
    (re.compile(r"\"(?:[^\"\\]|\\.){0,2000}(?:\"|\\?$)|'(?:[^'\\]|\\.){0,2000}'(?!\w)|`[^`]{0,2000}`"), '"<*>"'),
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S{1,2000}", re.I), "<url>"),
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}"), "<email>"),
    # As Go's driver for MySQL is told: `user:password@tcp(host)/database`.
    (re.compile(r"[\w.+%-]{1,64}:[^\s@]{1,200}@(?=[\w(\[])"), f"{ANY}@"),
    (
        re.compile(
            r"(?<![\w-])((?:[\w-]{0,40}[_-])?(?:password|passwd|pwd|secret|token|apikey|api[_-]key|authorization|cookie"
            r"|session|credentials?)[\w-]{0,20})(\s?[=:]\s?)(?:(?:Bearer|Basic|Digest)\s)?\S{1,2000}",
            re.I,
        ),
        rf"\1\2{ANY}",
    ),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<uuid>"),
    (re.compile(r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])"), "<ip>"),
    (
        re.compile(
            r"\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?)?Z?|\b\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
        ),
        "<time>",
    ),
    (
        re.compile(
            r"\[[0-9a-f]{0,4}:[0-9a-f:.]{1,45}\](?::\d{1,5}\b)?|(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])",
            re.I,
        ),
        "<ip>",
    ),
    (re.compile(r"\b0x[0-9a-f]{1,32}\b|\b(?=[a-f]{0,64}\d)[0-9a-f]{8,64}\b", re.I), "<hex>"),
    (re.compile(r"(?<![\w.])[+-]?\d[\d.,]{0,40}(?:e[+-]?\d{1,4})?(?:[a-zA-Zµ%]{1,4}(?:/s)?)?(?![\w])"), "<num>"),
)
_PLACEHOLDER = re.compile(r"<(?:\*|url|email|uuid|ip|time|hex|num)>")
"""What we put in. Whatever else stands in such brackets is the line's own."""
_HAS_DIGIT = re.compile(r"\d")
_NAMED = re.compile(r"\W{0,3}[A-Za-z_]{2,40}\d\W{0,3}")
"""One digit is often a part of a name: `accept4`, `http2`."""
_RANDOM = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_LEVELS = {
    "trace": "debug", "debug": "debug", "dbg": "debug",
    "info": "info", "information": "info", "notice": "info", "note": "info",
    "warn": "warning", "warning": "warning", "wrn": "warning",
    "error": "error", "err": "error", "severe": "error",
    "critical": "critical", "crit": "critical", "fatal": "critical", "panic": "critical", "alert": "critical",
    "emerg": "critical", "emergency": "critical",
}  # fmt: skip
LEVELS = ("critical", "error", "warning", "info", "debug", "")
"""What a line may say of itself; empty where it says nothing."""
_LEVEL_WORD = re.compile(r"(?<![\w])(" + "|".join(sorted(_LEVELS, key=len, reverse=True)) + r")(?![\w])", re.I)
_LEVEL_FIELD = re.compile(r"(?<!\S)(?:level|lvl|severity)=\"?(\w{1,20})", re.I)
_MESSAGE_FIELD = re.compile(r"(?<!\S)(?:msg|message)=(\"(?:[^\"\\]|\\.){0,2000}\"|\S{1,2000})", re.I)
_ERROR_FIELD = re.compile(r"(?<!\S)(?:err|error)=(\"(?:[^\"\\]|\\.){0,2000}\"|\S{1,2000})", re.I)
_LEVEL_WITHIN = 60
"""Characters at a line's beginning, after its time, within which a word is its level."""


@dataclass(frozen=True, slots=True)
class Message:
    """A line as far as it matters here: its level, and its words without what varies."""

    level: str
    words: tuple[str, ...]


def read_line(line: str) -> Message | None:
    """A line of any log; None for one that goes on from the one before (indented) or says nothing."""
    if line[:1] in (" ", "\t", "}", ")") or not line.strip():
        return None
    line = _ESCAPES.sub("", line[: _MOST_OF_JSON if line.startswith("{") else MOST_CHARACTERS])
    level, text = _structured(line) or _plain(line[:MOST_CHARACTERS])
    shown = _ESCAPES.sub("", text[:MOST_CHARACTERS])
    if not shown.isprintable():
        shown = "".join(sign if sign.isprintable() else " " for sign in shown)
    words = tuple(_varies(word) for word in mask(shown).split())
    if not words:
        return None
    return Message(level, words if len(words) <= MOST_WORDS else (*words[: MOST_WORDS - 1], "…"))


def mask(text: str) -> str:
    """The text without what varies from line to line, and without what may be a secret."""
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text


def _structured(line: str) -> tuple[str, str] | None:
    """Level and message of a line of JSON, or of key=value pairs."""
    if line.startswith("{"):
        try:
            document: Any = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(document, dict):
            return None
        fields = {str(key).lower(): value for key, value in cast("dict[str, Any]", document).items()}
        text = next((fields[key] for key in ("msg", "message", "event", "error") if key in fields), "")
        cause = next((fields[key] for key in ("error", "err", "exception") if key in fields), None)
        level = next((fields[key] for key in ("level", "severity", "lvl") if key in fields), "")
        if not isinstance(text, str) or not text:
            return None
        told = f"{text}: {cause}" if isinstance(cause, str) and cause != text else text
        return _LEVELS.get(str(level).lower(), ""), told.partition("\n")[0]
    found = _MESSAGE_FIELD.search(line)
    if found is None:
        return None
    level_found, cause_found = _LEVEL_FIELD.search(line), _ERROR_FIELD.search(line)
    text = found[1].strip('"') + ("" if cause_found is None else f": {cause_found[1].strip(chr(34))}")
    return _LEVELS.get(level_found[1].lower(), "") if level_found else "", text


def _plain(line: str) -> tuple[str, str]:
    text = _TIME.sub("", line)
    found = _LEVEL_WORD.search(text[:_LEVEL_WITHIN])
    return (_LEVELS[found[1].lower()] if found else ""), text


def _varies(word: str) -> str:
    """Replace a word that holds a digit, or is as long as keys are, by a placeholder."""
    own = _PLACEHOLDER.sub("", word)
    if not own or _NAMED.fullmatch(own):
        return word
    return ANY if _HAS_DIGIT.search(own) or _RANDOM.search(own) else word


@dataclass(slots=True)
class Template:
    """Lines that are alike: an id that stays, the words as they are known by now, and how many lines there were."""

    id: str
    level: str
    words: list[str]
    count: int = 0

    @property
    def text(self) -> str:
        return " ".join(self.words)[: MOST_CHARACTERS // 2]


@dataclass(slots=True)
class _Node:
    children: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])
    templates: list[Template] = field(default_factory=list[Template])


class LogPatterns:
    """Counts lines by template; not safe to use from several threads."""

    def __init__(self, most: int = MOST_TEMPLATES) -> None:
        self.templates: dict[str, Template] = {}
        self.others: dict[str, int] = {}
        """Lines by level for which there was no room for a template of their own."""
        self._most = most
        self._roots: dict[tuple[str, int], _Node] = {}

    def add(self, message: Message) -> None:
        words = message.words
        node = self._leaf(message)
        best = _most_alike(node.templates, words)
        if best is None:
            if len(self.templates) >= self._most:
                self.others[message.level] = self.others.get(message.level, 0) + 1
                return
            best = Template(self._new_id(message), message.level, list(words))
            node.templates.append(best)
            self.templates[best.id] = best
        else:
            for place, word in enumerate(words):
                if best.words[place] != word:
                    best.words[place] = ANY
        best.count += 1

    def _leaf(self, message: Message) -> _Node:
        if len(self.templates) >= self._most and (message.level, len(message.words)) not in self._roots:
            return _Node()
        node = self._roots.setdefault((message.level, len(message.words)), _Node())
        for word in message.words[:_DEPTH]:
            known = node.children.get(word)
            if known is None:
                # What begins like nothing before, in a log of many beginnings, shares a branch.
                word = word if len(node.children) < _CHILDREN else ANY
                known = node.children.setdefault(word, _Node())
            node = known
        return node

    def _new_id(self, message: Message) -> str:
        seed = "\0".join((message.level, *message.words)).encode("utf-8", "surrogatepass")
        number = 0
        while True:
            found = hashlib.sha256(seed + str(number).encode() * (number > 0)).hexdigest()[:12]
            if found not in self.templates:
                return found
            number += 1


def _most_alike(templates: Sequence[Template], words: Sequence[str]) -> Template | None:
    best, most = None, -1.0
    for template in templates:
        same = sum(one == other for one, other in zip(template.words, words, strict=True)) / len(words)
        if same > most:
            best, most = template, same
    return best if most >= SIMILAR else None
