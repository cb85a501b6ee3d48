"""Takes the user's words out of AWS's answers, so that a recording can be attached to a bug report. Pure.

The same word gets the same stand-in throughout a recording, so that what belongs together still does: the name in an
ARN, the dimension of a metric and the tag of a resource. Stand-ins are HMAC-SHA256 with a key that is never stored, so
they can be neither reversed nor guessed, and two recordings cannot be compared. A string is hashed in parts (between
`:`, `/`, `.` and the like), since the collector takes ARNs and addresses apart. What stays readable is listed in
`redaction_words.py`; a member that is not there is hashed.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from loadwatch_collectors.sources.aws.model import MetricKey
from loadwatch_collectors.sources.aws.recording.redaction_words import (
    AWS_NAMESPACES,
    DROPPED_MEMBERS,
    FORMULA,
    PLAIN,
    SAFE_MEMBERS,
    SAFE_PARENTS,
    SAFE_PART,
    SAFE_PREFIXES,
    SAFE_WORDS,
    TAG_LISTS,
    USER_MAPS,
)

_ADDRESS = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.])")
# IPv6, and the addresses of network cards.
_COLONS = re.compile(r"(?<![\w:.-])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_PARTS = re.compile(r"([^\w*?$+\[\]!-]+)")
_ACCOUNT = re.compile(r"\d{12}")
_ID = re.compile(r"(i|sg|subnet|vpc|eni|vol|ami|db|lt|ri)-([0-9a-zA-Z]{8,})")
_HEX = re.compile(r"[0-9a-f]{16,64}")
_WILDCARD = re.compile(r"\*|\?|\[[^\]]*\]")


def is_aws_namespace(namespace: str) -> bool:
    """Whether a namespace of CloudWatch is AWS's own."""
    return namespace.startswith("AWS/") or namespace in AWS_NAMESPACES


class _Pattern(NamedTuple):
    """A pattern of the configuration: how it is recognised, and what becomes of its literal parts."""

    regex: re.Pattern[str]
    literals: tuple[str, ...]


class Redactor:
    """Redacts with one key. Safe to use by several threads."""

    def __init__(self, key: bytes, patterns: Iterable[str] = ()) -> None:
        """`patterns` are the names with wildcards of `select`; what matched them still matches when both are hashed."""
        self._key = key
        self._known: dict[str, str] = {}
        parts = [part for pattern in patterns for part in _PARTS.split(pattern)]
        self._patterns = [
            _Pattern(
                re.compile("(.*)".join(re.escape(literal) for literal in _WILDCARD.split(part)), re.DOTALL),
                tuple(_WILDCARD.split(part)),
            )
            for part in dict.fromkeys(parts)
            if _WILDCARD.search(part) and _WILDCARD.sub("", part)
        ]

    def document(self, value: Any, member: str = "", parent: str = "") -> Any:
        """An answer's or a request's value with its strings hashed; `member` is the name it stands under."""
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[Any, Any]", value), member)
        if isinstance(value, str):
            return self._string(value, member, parent)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return [self._item(item, member, parent) for item in cast("Sequence[Any]", value)]
        return value if value is None or isinstance(value, bool | int | float) else ""

    def text(self, value: str) -> str:
        """A string that is the user's, part by part."""
        value = _COLONS.sub(lambda found: f"fd00::{self._hash(found[0])[1:5]}", value)
        value = _ADDRESS.sub(lambda found: self._address(found[1]), value)
        return "".join(part if index % 2 else self._part(part) for index, part in enumerate(_PARTS.split(value)))

    def pattern(self, value: str) -> str:
        """A name with wildcards, so that it matches the hashed forms of what it matched."""
        return "".join(part if index % 2 else self._pattern(part) for index, part in enumerate(_PARTS.split(value)))

    def tag(self, value: str) -> str:
        """A tag's value: numbers, too, are the user's there. A pattern of one matches what it matched."""
        return self._hash(value) if PLAIN.fullmatch(value) else self.pattern(value)

    def metric(self, metric: MetricKey) -> MetricKey:
        """A metric. AWS's own namespaces, metrics and names of dimensions stay readable; a user's do not."""
        word = str if is_aws_namespace(metric.namespace) else self.text
        return MetricKey(
            namespace=word(metric.namespace),
            name=word(metric.name),
            dimensions=tuple(sorted((word(name), self.text(value)) for name, value in metric.dimensions)),
        )

    def _item(self, value: Any, member: str, parent: str) -> Any:
        # A list of tags has pairs with members of AWS's; only a map has keys of the user's.
        if isinstance(value, Mapping):
            return self._members(cast("Mapping[Any, Any]", value), member)
        return self.document(value, member, parent)

    def _mapping(self, value: Mapping[Any, Any], member: str) -> dict[str, Any]:
        if member in USER_MAPS:
            return {self.text(str(key)): self.document(item, "Value", member) for key, item in value.items()}
        return self._members(value, member)

    def _members(self, value: Mapping[Any, Any], member: str) -> dict[str, Any]:
        return {
            str(key): self.document(item, str(key), member) for key, item in value.items() if key not in DROPPED_MEMBERS
        }

    def _string(self, value: str, member: str, parent: str) -> str:
        if parent in TAG_LISTS:
            return self.tag(value)
        if member in SAFE_MEMBERS or (PLAIN.fullmatch(value) and not _ACCOUNT.fullmatch(value)):
            return value
        if (parent, member) in SAFE_PARENTS and not value.startswith("tag:"):
            return value
        if member.startswith(SAFE_PREFIXES):
            return value
        if member == "ParameterValue" and FORMULA.fullmatch(value):
            return value
        if value.startswith("{") and value.endswith("}"):
            # CloudWatch Logs carry documents of their own (Enhanced Monitoring).
            try:
                return json.dumps(self.document(json.loads(value)))
            except ValueError:
                pass
        return self.text(value)

    def _part(self, part: str) -> str:
        if not part or part in SAFE_WORDS or SAFE_PART.fullmatch(part):
            return part
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = self._match_patterns(part) or self._hash(part)
        return known

    def _pattern(self, part: str) -> str:
        if not _WILDCARD.search(part):
            return self._part(part)
        return "*".join(self._literal(literal) for literal in _WILDCARD.split(part))

    def _match_patterns(self, part: str) -> str:
        for pattern in self._patterns:
            found = pattern.regex.fullmatch(part)
            if found:
                between = [self._hash(group) if group else "" for group in found.groups()]
                literals = [self._literal(literal) for literal in pattern.literals]
                return "".join(piece for pair in zip(literals, [*between, ""], strict=True) for piece in pair)
        return ""

    def _literal(self, literal: str) -> str:
        return self._hash(literal) if literal else ""

    def _hash(self, part: str) -> str:
        digest = hmac.new(self._key, part.encode(), hashlib.sha256).hexdigest()
        if _ACCOUNT.fullmatch(part):
            return f"{int(digest, 16) % 10**12:012d}"
        found = _ID.fullmatch(part)
        if found:
            return f"{found[1]}-{digest[:17]}"
        if _HEX.fullmatch(part):
            return digest[: len(part)]
        return f"x{digest[:10]}"

    def _address(self, address: str) -> str:
        digest = hmac.new(self._key, address.encode(), hashlib.sha256).digest()
        return f"10.{digest[0]}.{digest[1]}.{digest[2]}"
