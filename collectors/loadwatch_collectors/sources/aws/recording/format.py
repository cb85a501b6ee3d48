"""The form of a recording: JSON lines, each with a `kind`. Pure, except for reading files.

    {"kind": "recording", "version": 1, "loadwatch": "0.1.0", "settings": {...}}   the block, redacted
    {"kind": "poll", "at_ms": 1800000000000}                                        the collector's time of a poll
    {"kind": "answer", "slot": [...], "ask": {...}, "answer": ... | "error": {...}}  one request and what came

A slot is whose client it was: profile, role and region. A recording that ended since it was full has a last line of
kind `full`.
"""

import dataclasses
import gzip
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account
from loadwatch_collectors.sources.aws.client.errors import (
    AwsError,
    ClockError,
    CredentialsError,
    ExpiredError,
    ForbiddenError,
    OutOfTimeError,
    RequestError,
    ServiceError,
    ThrottledError,
    UnreachableError,
)
from loadwatch_collectors.sources.aws.model import DataPage, DataQuery, DataRequest, DataResult, MetricKey
from loadwatch_collectors.sources.aws.recording.redaction import Redactor, is_aws_namespace
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings

VERSION = 1
SUFFIX = ".jsonl"
MAX_BYTES = 512 * 2**20
"""A recording that unpacks to more is not read."""

Slot = tuple[str, str, str]
Line = Mapping[str, Any]

_ERRORS: tuple[type[AwsError], ...] = (
    *(ThrottledError, ForbiddenError, ClockError, ExpiredError, CredentialsError),
    *(OutOfTimeError, UnreachableError, ServiceError, RequestError, AwsError),
)


def make_slot(redactor: Redactor, account: Account, region: str) -> Slot:
    """Whose client, redacted."""
    return redactor.text(account.profile or ""), redactor.text(account.role_arn or ""), region


def settings_patterns(settings: CloudWatchSettings) -> list[str]:
    """All patterns with which a configuration chooses."""
    return [
        *(name for chosen in settings.select.values() for name in chosen.names),
        *(value for chosen in settings.select.values() for value in chosen.tags.values()),
        *(value for custom in settings.custom for value in custom.dimensions.values()),
    ]


def redact_settings(redactor: Redactor, settings: CloudWatchSettings) -> dict[str, Any]:
    """The block as it goes into a recording: its choices hashed, without addresses, folders and files of secrets."""
    found = dataclasses.asdict(settings)
    for name in ("endpoint_url", "record"):
        found.pop(name, None)
    found["accounts"] = [
        {
            key: redactor.text(value)
            for key, value in account.items()
            if key in ("profile", "role_arn") and value is not None
        }
        for account in found["accounts"]
    ]
    found["select"] = {
        preset: {
            "names": [redactor.pattern(name) for name in chosen["names"]],
            "tags": {redactor.text(key): redactor.tag(value) for key, value in chosen["tags"].items()},
        }
        for preset, chosen in found["select"].items()
    }
    for custom in found["custom"]:
        word = str if is_aws_namespace(custom["namespace"]) else redactor.text
        custom["dimensions"] = {word(key): redactor.pattern(value) for key, value in custom["dimensions"].items()}
        custom["metric"], custom["namespace"] = word(custom["metric"]), word(custom["namespace"])
    return {name: value for name, value in found.items() if value is not None}


def plain(value: Any) -> Any:
    """Parameters of a request as JSON has them; times become milliseconds since the epoch."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in cast("Iterable[Any]", value)]
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value


def unordered(parameters: Any) -> Any:
    """Parameters with their lists of words sorted: one that sorts its names sorts stand-ins otherwise."""
    if isinstance(parameters, Mapping):
        return {name: unordered(item) for name, item in cast("Mapping[str, Any]", parameters).items()}
    if isinstance(parameters, list):
        items = cast("list[Any]", parameters)
        return sorted(items) if all(isinstance(item, str) for item in items) else [unordered(item) for item in items]
    return parameters


def encode_metric(metric: MetricKey) -> list[Any]:
    """A metric as a list."""
    return [metric.namespace, metric.name, [list(pair) for pair in metric.dimensions]]


def decode_metric(found: Any) -> MetricKey:
    """The same back."""
    return MetricKey(
        namespace=str(found[0]),
        name=str(found[1]),
        dimensions=tuple((str(name), str(value)) for name, value in found[2]),
    )


def encode_query(redactor: Redactor | None, query: DataQuery) -> list[Any]:
    """A query as a list; the metric redacted, unless it is already."""
    metric = redactor.metric(query.metric) if redactor is not None else query.metric
    return [query.id, encode_metric(metric), query.statistic, query.period_seconds, query.unit]


def encode_data_request(redactor: Redactor | None, request: DataRequest) -> dict[str, Any]:
    """A GetMetricData request. The token is only told to be there: pages come in the order in which they came."""
    return {
        "what": "data",
        "start_ms": request.start_ms,
        "end_ms": request.end_ms,
        "more": bool(request.next_token),
        "queries": [encode_query(redactor, query) for query in request.queries],
    }


def encode_page(page: DataPage) -> dict[str, Any]:
    """A page of GetMetricData. Of messages the code stays: their text names the user's things."""
    return {
        "results": [
            [result.id, result.status, list(result.times_ms), list(result.values), _codes(result.messages)]
            for result in page.results
        ],
        "more": bool(page.next_token),
        "messages": _codes(page.messages),
    }


def decode_page(found: Mapping[str, Any], token: str) -> DataPage:
    """The same back; `token` stands for the next page where there was one, and must be another for each page."""
    return DataPage(
        results=[
            DataResult(id=id, status=status, times_ms=times, values=values, messages=messages)
            for id, status, times, values, messages in found["results"]
        ],
        next_token=token if found["more"] else "",
        messages=found["messages"],
    )


def encode_error(error: AwsError) -> dict[str, Any]:
    """An error without its text, which names the user's things."""
    found: dict[str, Any] = {"class": type(error).__name__, "code": error.code}
    if isinstance(error, ForbiddenError):
        found["action"] = error.action
    if isinstance(error, ClockError):
        found["offset_seconds"] = error.offset_seconds
    return found


def decode_error(found: Mapping[str, Any], what: str) -> AwsError:
    """The same back, with a text of its own."""
    code = str(found.get("code", ""))
    text = f"{what}: {code or found['class']} (recorded)"
    kind = next((kind for kind in _ERRORS if kind.__name__ == found["class"]), AwsError)
    if kind is ForbiddenError:
        return ForbiddenError(text, action=str(found.get("action", "")), code=code)
    if kind is ClockError:
        return ClockError(text, offset_seconds=found.get("offset_seconds"), code=code)
    return kind(text, code=code)


def dump_line(line: Line) -> bytes:
    """A line, always in the same order of members."""
    return json.dumps(line, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode() + b"\n"


def read_recordings(path: Path) -> dict[str, list[Line]]:
    """The recordings of an archive, a folder or one file, by name.

    Raises:
        ConfigError: there is none, or it is damaged, too large or of a newer Loadwatch.
    """
    try:
        found = {name: _parse(name, data) for name, data in _read(path)}
    except (OSError, EOFError, tarfile.TarError, gzip.BadGzipFile, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as a recording of `loadwatch aws-record`: {error}") from error
    if not found:
        raise ConfigError(f"{path} has no recording ({SUFFIX}) in it")
    return found


def _read(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.glob(f"*{SUFFIX}")):
            yield file.name, _bounded(file.read_bytes())
    elif path.suffix == SUFFIX:
        yield path.name, _bounded(path.read_bytes())
    else:
        with tarfile.open(path, "r:gz") as archive:
            left = MAX_BYTES
            for member in archive:
                file = archive.extractfile(member) if member.isfile() and member.name.endswith(SUFFIX) else None
                if file is not None:
                    data = _bounded(file.read(left + 1), left)
                    left -= len(data)
                    yield Path(member.name).name, data


def _bounded(data: bytes, most: int = MAX_BYTES) -> bytes:
    if len(data) > most:
        raise ValueError(f"more than {MAX_BYTES >> 20} MiB")
    return data


def _parse(name: str, data: bytes) -> list[Line]:
    complete = data[: data.rfind(b"\n") + 1]  # An agent that was killed leaves half a line.
    lines: list[Line] = []
    for text in complete.splitlines():
        line: Any = json.loads(text)
        if not isinstance(line, dict) or "kind" not in line:
            raise ValueError(f"{name}: a line is not of a recording")
        lines.append(cast("Line", line))
    if not lines or lines[0]["kind"] != "recording":
        raise ValueError(f"{name}: it does not begin as a recording")
    if lines[0].get("version") != VERSION:
        raise ValueError(f"{name}: version {lines[0].get('version')}, this Loadwatch reads {VERSION}")
    return lines


def _codes(messages: Iterable[str]) -> list[str]:
    return [message.partition(":")[0] for message in messages]
