"""Answers requests to AWS from a recording, so that the collector runs again as it did where it was recorded.

A request that was recorded gets its own answers, in their order; the last one stays. One that differs only in numbers
(times) is taken for the same. A GetMetricData request that was not recorded as it is (a newer Loadwatch batches
otherwise) is answered metric by metric from what had been delivered by that poll. What is in neither form is an error
and is listed in `Replay.lacking`.
"""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.settings_loader import load_settings, parse_document
from loadwatch_collectors.sources.aws.client.client import (
    Account,
    ApiCall,
    AwsClient,
    ConnectOptions,
    Document,
    LoginToken,
    Observe,
)
from loadwatch_collectors.sources.aws.client.errors import AwsError, RequestError
from loadwatch_collectors.sources.aws.model import (
    AccountRegion,
    DataPage,
    DataQuery,
    DataRequest,
    DataResult,
    MetricKey,
    Pairs,
)
from loadwatch_collectors.sources.aws.recording.format import (
    Line,
    Slot,
    decode_error,
    decode_metric,
    decode_page,
    encode_data_request,
    encode_metric,
    encode_query,
    plain,
    unordered,
)
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings


@dataclass(slots=True, eq=False)
class _Answers:
    """The answers to one request; `polls` are the numbers of the polls in which they came."""

    lines: list[Line]
    polls: list[int]
    next: int = 0


class Replay:
    """One recording. `connect` makes clients that answer from it; safe to use by several threads."""

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        """Sort the lines of `read_recordings`.

        Raises:
            ConfigError: its settings are not those of this Loadwatch.
        """
        self.name = name
        self.recorded_by = str(lines[0].get("loadwatch", ""))
        self.ended_full = lines[-1]["kind"] == "full"
        self.polls: list[int] = []
        self.lacking: dict[str, int] = {}
        self._lock = threading.Lock()
        self._poll = 0
        self._answers: dict[str, _Answers] = {}
        self._points: dict[str, dict[int, list[tuple[int, float]]]] = {}
        self._offsets: dict[Slot, float | None] = {}
        slots: dict[Slot, None] = {}
        for line in lines:
            if line["kind"] == "poll":
                self.polls.append(int(line["at_ms"]))
            elif line["kind"] == "answer":
                profile, role, region = line["slot"]
                slots[profile, role, region] = None
                self._add(line, len(self.polls))
        self.settings = _read_settings(name, lines[0]["settings"], slots)

    def begin_poll(self, number: int) -> int:
        """Go to a poll; returns the time in ms since the epoch that the collector is to go by."""
        with self._lock:
            self._poll = number + 1
        return self.polls[number]

    def connect(self, account: Account, region: str, options: ConnectOptions, observe: Observe) -> AwsClient:  # noqa: ARG002 - as Connect says
        """A client that answers from the recording."""
        return ReplayClient(self, (account.profile or "", account.role_arn or "", region), observe)

    def find(self, slot: Slot, ask: Mapping[str, Any]) -> Line | None:
        """The next answer to a request, or None when it was never recorded."""
        with self._lock:
            found = self._answers.get(_key(slot, ask))
            if found is None and ask["what"] != "data":
                found = self._answers.get(_key(slot, _without_numbers(ask)))
            if found is None:
                return None
            if found.next == 0 or (found.next < len(found.lines) and found.polls[found.next] <= self._poll):
                found.next += 1
            line = found.lines[found.next - 1]
            self._offsets[slot] = line.get("clock_offset_seconds")
            return line

    def find_points(self, slot: Slot, query: DataQuery, start_ms: int, end_ms: int) -> DataResult | None:
        """What had been delivered of a metric by the present poll, or None when it was never asked for."""
        with self._lock:
            times = self._points.get(_query_key(slot, encode_query(None, query)))
            if times is None:
                return None
            found = {
                time: [value for poll, value in values if poll <= self._poll]
                for time, values in times.items()
                if start_ms <= time < end_ms
            }
        known = sorted((time, values[-1]) for time, values in found.items() if values)
        return DataResult(
            id=query.id, status="Complete", times_ms=[time for time, _ in known], values=[value for _, value in known]
        )

    def miss(self, slot: Slot, what: str) -> AwsError:
        """The error for what is not in the recording."""
        text = f"{what} in {slot[2]}"
        with self._lock:
            self.lacking[text] = self.lacking.get(text, 0) + 1
        return RequestError(f"{text} is not in the recording")

    def clock_offset_seconds(self, slot: Slot) -> float | None:
        """As of the last answer."""
        return self._offsets.get(slot)

    def _add(self, line: Line, poll: int) -> None:
        profile, role, region = line["slot"]
        slot = (profile, role, region)
        keys = {_key(slot, line["ask"])}
        if line["ask"]["what"] != "data":
            keys.add(_key(slot, _without_numbers(line["ask"])))
        for key in keys:
            answers = self._answers.setdefault(key, _Answers([], []))
            answers.lines.append(line)
            answers.polls.append(poll)
        if line["ask"]["what"] != "data" or "answer" not in line:
            return
        queries = {query[0]: query for query in line["ask"]["queries"]}
        for query in queries.values():
            self._points.setdefault(_query_key(slot, query), {})
        for id, _, times, values, _ in line["answer"]["results"]:
            points = self._points[_query_key(slot, queries[id])]
            for time, value in zip(times, values, strict=True):
                points.setdefault(time, []).append((poll, value))


class ReplayClient:
    """One account in one region of a recording."""

    def __init__(self, replay: Replay, slot: Slot, observe: Observe) -> None:
        self._replay = replay
        self._slot = slot
        self._observe = observe
        self._place: AccountRegion | None = None
        self._placing = threading.Lock()
        self._tokens = itertools.count()

    @property
    def place(self) -> AccountRegion:
        """The recorded account, hashed; asked for until it is known, as it was then."""
        with self._placing:
            if self._place is None:
                line = self._find({"what": "place"}, "sts", "get_caller_identity")
                self._place = AccountRegion(account_id=str(line["answer"]), region=self._slot[2])
            return self._place

    def get_metric_data(self, request: DataRequest, *, deadline: float | None = None) -> DataPage:  # noqa: ARG002 - as AwsClient says
        """The recorded page, or one made of the recorded points."""
        line = self._replay.find(self._slot, encode_data_request(None, request))
        if line is not None:
            found = self._check(line, "cloudwatch", "get_metric_data")["answer"]
            return decode_page(found, f"page-{next(self._tokens)}")
        results: list[DataResult] = []
        for query in request.queries:
            known = self._replay.find_points(self._slot, query, request.start_ms, request.end_ms)
            if known is None:
                self._replay.miss(self._slot, f"cloudwatch GetMetricData of {query.metric.name} {query.statistic}")
                known = DataResult(id=query.id, status="Complete")
            results.append(known)
        self._observe(ApiCall("cloudwatch", "get_metric_data", self._slot[2], "ok"), 0.0)
        return DataPage(results=results)

    def list_metrics(
        self, namespace: str, name: str = "", dimensions: Pairs = (), *, recently_active: bool = True
    ) -> Iterator[MetricKey]:
        """The recorded metrics."""
        metric = encode_metric(MetricKey(namespace=namespace, name=name, dimensions=tuple(sorted(dimensions))))
        ask = {"what": "metrics", "metric": metric, "recently_active": recently_active}
        line = self._find(ask, "cloudwatch", "list_metrics")
        yield from (decode_metric(found) for found in line["answer"])

    def call(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,  # noqa: ARG002 - as AwsClient says
    ) -> Document:
        """The recorded answer."""
        return self._find(_ask("call", service, operation, parameters), service, operation)["answer"]

    def pages(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,  # noqa: ARG002 - as AwsClient says
    ) -> Iterator[Document]:
        """The recorded pages."""
        line = self._replay.find(self._slot, _ask("pages", service, operation, parameters))
        if line is None:
            raise self._miss(service, operation)
        for page in line["answer"]:
            self._observe(ApiCall(service, operation, self._slot[2], "ok"), 0.0)
            yield page
        if "error" in line:
            self._check(line, service, operation)

    def database_token(self, *, host: str, port: int, user: str) -> LoginToken:  # noqa: ARG002 - as AwsClient says
        """There are no credentials in a recording."""
        raise self._replay.miss(self._slot, "a password for a database")

    def clock_offset_seconds(self) -> float | None:
        """As recorded."""
        return self._replay.clock_offset_seconds(self._slot)

    def close(self) -> None:
        """Nothing is open."""

    def _find(self, ask: Mapping[str, Any], service: str, operation: str) -> Line:
        line = self._replay.find(self._slot, ask)
        if line is None:
            raise self._miss(service, operation)
        return self._check(line, service, operation)

    def _check(self, line: Line, service: str, operation: str) -> Line:
        """Count the request, and raise what was raised."""
        error = decode_error(line["error"], f"{service} {_name(operation)}") if "error" in line else None
        outcome = error.outcome if error is not None else "ok"
        self._observe(ApiCall(service, operation, self._slot[2], outcome), float(line.get("seconds", 0.0)))
        if error is not None:
            raise error
        return line

    def _miss(self, service: str, operation: str) -> AwsError:
        self._observe(ApiCall(service, operation, self._slot[2], RequestError.outcome), 0.0)
        return self._replay.miss(self._slot, f"{service} {_name(operation)}")


def _ask(what: str, service: str, operation: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"what": what, "service": service, "operation": operation, "parameters": unordered(plain(parameters or {}))}


def _name(operation: str) -> str:
    return "".join(part.capitalize() for part in operation.split("_"))


def _key(slot: Slot, ask: Mapping[str, Any]) -> str:
    return json.dumps([slot, ask], sort_keys=True)


def _without_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_numbers(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_without_numbers(item) for item in cast("list[Any]", value)]
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def _query_key(slot: Slot, query: Sequence[Any]) -> str:
    return json.dumps([slot, query[1:]])


def _read_settings(name: str, found: Mapping[str, Any], slots: Mapping[Slot, None]) -> CloudWatchSettings:
    document = parse_document(json.dumps(found), name)
    if document.root is None:
        raise ConfigError(f"{name} has no settings")
    settings = load_settings(document, document.root, CloudWatchSettings, "cloudwatch")
    regions = tuple(dict.fromkeys(slot[2] for slot in slots))
    if not regions:
        raise ConfigError(f"{name} has no answers of AWS in it")
    return replace(settings, regions=settings.regions or regions)
