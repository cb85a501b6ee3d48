"""Samples as a page that a Prometheus scrapes: text/plain, with the times of the samples.

Source: expfmt/text_create.go and model/metric.go of prometheus/common.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from loadwatch_backend.promql.labels import METRIC_NAME, LabelKey
from loadwatch_backend.promql.numbers import format_short_number

_PLAIN_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_PLAIN_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9_:]")
_ESCAPED = {ord("\\"): "\\\\", ord("\n"): "\\n", ord('"'): '\\"'}


@dataclass(frozen=True, slots=True)
class Exposed:
    """One sample; its labels sorted, with the metric's name."""

    labels: LabelKey
    time_ms: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """What a reader understands: names of any letters in quotes, or those of old alone."""

    utf8_names: bool

    @property
    def media_type(self) -> str:
        """The content type of the page."""
        if self.utf8_names:
            return "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
        return "text/plain; version=0.0.4; charset=utf-8"


def format_for(accept: str) -> TextFormat:
    """The format of the `Accept` header of a reader."""
    return TextFormat(utf8_names="escaping=allow-utf-8" in accept.replace(" ", "").lower())


def lines_of(samples: Iterable[Exposed], text_format: TextFormat) -> Iterator[str]:
    """The page in parts; all samples of a metric follow each other, those without a name are left out."""
    for metric, group in groupby(samples, key=lambda one: dict(one.labels).get(METRIC_NAME, "")):
        if not metric:
            continue
        name = _metric_name(metric, text_format)
        yield f"# TYPE {name} untyped\n"
        for sample in group:
            yield f"{_series(name, sample.labels, text_format)} {format_short_number(sample.value)} {sample.time_ms}\n"


def _series(name: str, labels: LabelKey, text_format: TextFormat) -> str:
    own = [(_label_name(key, text_format), value) for key, value in labels if key != METRIC_NAME]
    if not any(key == "instance" for key, _ in own):
        # Without one a scrape would put its own in its place.
        own.append(("instance", ""))
    quoted = name.startswith('"')
    pairs = [name] if quoted else []
    pairs += [f'{key}="{value.translate(_ESCAPED)}"' for key, value in own]
    return ("" if quoted else name) + "{" + ",".join(pairs) + "}"


def _metric_name(name: str, text_format: TextFormat) -> str:
    return name if _PLAIN_METRIC.fullmatch(name) else _other_name(name, text_format)


def _label_name(name: str, text_format: TextFormat) -> str:
    return name if _PLAIN_LABEL.fullmatch(name) else _other_name(name, text_format)


def _other_name(name: str, text_format: TextFormat) -> str:
    if text_format.utf8_names:
        return f'"{name.translate(_ESCAPED)}"'
    plain = _NOT_PLAIN.sub("_", name)
    return "_" + plain[1:] if plain[:1].isdigit() else plain
