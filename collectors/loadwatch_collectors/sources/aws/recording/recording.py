"""Records what AWS answers, redacted, so that it can be attached to a bug report and replayed.

A recording client stands between the collector and the real one. It writes down requests and answers as
`client.py` has them: without credentials, signatures and headers, which never come this far.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import (
    Account,
    AwsClient,
    Connect,
    ConnectOptions,
    Document,
    LoginToken,
    Observe,
)
from loadwatch_collectors.sources.aws.client.errors import AwsError
from loadwatch_collectors.sources.aws.model import AccountRegion, DataPage, DataRequest, MetricKey, Pairs
from loadwatch_collectors.sources.aws.recording.format import (
    SUFFIX,
    VERSION,
    Line,
    Slot,
    dump_line,
    encode_data_request,
    encode_error,
    encode_metric,
    encode_page,
    make_slot,
    plain,
    redact_settings,
    settings_patterns,
    unordered,
)
from loadwatch_collectors.sources.aws.recording.redaction import Redactor
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings

MAX_FILE_BYTES = 256 * 2**20
"""A recording ends here: some two hours of 5,000 metrics."""
_KEY_BYTES = 32
_T = TypeVar("_T")


class Recorder:
    """Writes one recording. Safe to use by several threads; a full or broken disk ends it, not the collector."""

    def __init__(
        self,
        folder: Path,
        settings: CloudWatchSettings,
        *,
        key: bytes | None = None,
        started: datetime | None = None,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        """Begin a new file in `folder`. `key` is for tests; a real one is random and forgotten.

        Raises:
            ConfigError: the folder cannot be written.
        """
        self.redactor = Redactor(key or secrets.token_bytes(_KEY_BYTES), settings_patterns(settings))
        self._lock = threading.Lock()
        self._left = max_bytes
        began = started or datetime.now(UTC)
        self._file: BinaryIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path, self._file = _create(folder, f"aws-{began:%Y%m%dT%H%M%SZ}")
        except OSError as error:
            raise ConfigError(f"record: {folder} cannot be written: {error.strerror}") from error
        self.write(
            {
                "kind": "recording",
                "version": VERSION,
                "loadwatch": version("loadwatch"),
                "settings": redact_settings(self.redactor, settings),
            }
        )

    def begin_poll(self, at_ms: int) -> None:
        """Note the time that the collector goes by in this poll."""
        self.write({"kind": "poll", "at_ms": at_ms})

    def wrap(self, connect: Connect) -> Connect:
        """Make clients that record."""

        def connect_and_record(account: Account, region: str, options: ConnectOptions, observe: Observe) -> AwsClient:
            slot = make_slot(self.redactor, account, region)
            return RecordingClient(connect(account, region, options, observe), self, slot)

        return connect_and_record

    def write(self, line: Line) -> None:
        """Add a line, unless the recording has ended."""
        data = dump_line(line)
        with self._lock:
            if self._file is None:
                return
            try:
                if len(data) > self._left:
                    self._file.write(dump_line({"kind": "full"}))
                    self._end()
                    return
                self._left -= len(data)
                self._file.write(data)
                self._file.flush()
            except OSError:
                self._end()

    def close(self) -> None:
        """End the recording."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                return


class RecordingClient:
    """A client that writes down what it is asked and what it answers."""

    def __init__(self, inner: AwsClient, recorder: Recorder, slot: Slot) -> None:
        self._inner = inner
        self._recorder = recorder
        self._slot = slot
        self._place: AccountRegion | None = None
        self._placing = threading.Lock()

    @property
    def place(self) -> AccountRegion:
        """The real one's, written down when it is first known."""
        with self._placing:
            if self._place is None:
                self._place = self._note({"what": "place"}, lambda: self._inner.place, self._account)
            return self._place

    def get_metric_data(self, request: DataRequest, *, deadline: float | None = None) -> DataPage:
        """The real one's."""
        return self._note(
            encode_data_request(self._recorder.redactor, request),
            lambda: self._inner.get_metric_data(request, deadline=deadline),
            encode_page,
        )

    def list_metrics(
        self, namespace: str, name: str = "", dimensions: Pairs = (), *, recently_active: bool = True
    ) -> Iterator[MetricKey]:
        """The real one's; a listing that is not read to its end is recorded as far as it was."""
        redactor = self._recorder.redactor
        asked = redactor.metric(MetricKey(namespace=namespace, name=name, dimensions=dimensions))
        yield from self._note_each(
            {"what": "metrics", "metric": encode_metric(asked), "recently_active": recently_active},
            self._inner.list_metrics(namespace, name, dimensions, recently_active=recently_active),
            lambda metric: encode_metric(redactor.metric(metric)),
        )

    def call(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Document:
        """The real one's."""
        return self._note(
            self._ask("call", service, operation, parameters),
            lambda: self._inner.call(service, operation, parameters, deadline=deadline),
            self._recorder.redactor.document,
        )

    def pages(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Iterator[Document]:
        """The real one's."""
        yield from self._note_each(
            self._ask("pages", service, operation, parameters),
            self._inner.pages(service, operation, parameters, deadline=deadline),
            self._recorder.redactor.document,
        )

    def database_token(self, *, host: str, port: int, user: str) -> LoginToken:
        """The real one's, never recorded."""
        return self._inner.database_token(host=host, port=port, user=user)

    def clock_offset_seconds(self) -> float | None:
        """The real one's."""
        return self._inner.clock_offset_seconds()

    def close(self) -> None:
        """Close the real one; the recording goes on."""
        self._inner.close()

    def _ask(self, what: str, service: str, operation: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        redacted = unordered(self._recorder.redactor.document(plain(parameters or {})))
        return {"what": what, "service": service, "operation": operation, "parameters": redacted}

    def _account(self, place: AccountRegion) -> str:
        return self._recorder.redactor.text(place.account_id)

    def _note(self, ask: Line, read: Callable[[], _T], encode: Callable[[_T], Any]) -> _T:
        began = time.monotonic()
        try:
            found = read()
        except AwsError as error:
            self._write(ask, began, {"error": encode_error(error)})
            raise
        self._write(ask, began, {"answer": encode(found)})
        return found

    def _note_each(self, ask: Line, items: Iterator[_T], encode: Callable[[_T], Any]) -> Iterator[_T]:
        began = time.monotonic()
        encoded: list[Any] = []
        ending: dict[str, Any] = {}
        try:
            for item in items:
                encoded.append(encode(item))
                yield item
        except AwsError as error:
            ending = {"error": encode_error(error)}
            raise
        finally:
            self._write(ask, began, {"answer": encoded, **ending})

    def _write(self, ask: Line, began: float, ending: Line) -> None:
        offset = self._inner.clock_offset_seconds()
        self._recorder.write(
            {
                "kind": "answer",
                "slot": list(self._slot),
                "ask": ask,
                "seconds": round(time.monotonic() - began, 3),
                "clock_offset_seconds": None if offset is None else round(offset, 3),
                **ending,
            }
        )


def _create(folder: Path, stem: str) -> tuple[Path, BinaryIO]:
    """A new file: two agents may begin in the same second."""
    number = 0
    while True:
        path = folder / f"{stem}{f'-{number}' if number else ''}{SUFFIX}"
        try:
            return path, open(path, "xb", opener=_private)
        except FileExistsError:
            number += 1


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
