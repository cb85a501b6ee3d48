"""The credentials of one place, read anew under clients that stay. No botocore in this file."""

import threading
import time
from collections.abc import Callable
from typing import Any

from loadwatch_collectors.sources.aws.client.backoff import Backoff
from loadwatch_collectors.sources.aws.client.errors import (
    ASSUME_ROLE,
    AwsError,
    CredentialsError,
    ExpiredError,
    ForbiddenError,
)

FIRST_SECONDS = 15.0
"""How long credentials are left alone after they were read again; doubles while they do not work."""
MOST_SECONDS = 120.0


class HeldCredentials:
    """What a session and its clients hold in place of botocore's credentials; safe to use by several threads.

    `find` gives botocore's, and may make requests to have them. Where they do not work they are read again by whoever
    comes first, once for the whole place, and seldom; a session with all its clients costs some 100 MiB, and stays.
    """

    method = "loadwatch"
    """botocore's word for where credentials come from."""

    def __init__(self, find: Callable[[], Any], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._find = find
        self._clock = clock
        self._lock = threading.RLock()
        self._found: Any = None
        self._last: Any = None
        self._read_at = float("-inf")
        self._readings = 0
        self._failure: AwsError | None = None
        self._backoff = Backoff(first_seconds=FIRST_SECONDS, most_seconds=MOST_SECONDS)

    @property
    def reading(self) -> int:
        """Which reading a request that begins now makes use of."""
        return self._readings

    def get_frozen_credentials(self) -> Any:
        """Key, secret and token for one signature; botocore asks for them at each request."""
        with self._lock:
            if self._found is None:
                self._found = self._find()
                self._read_at = self._clock()
            found = self._found
        self._last = found.get_frozen_credentials()
        return self._last

    def get_deferred_property(self, name: str) -> Callable[[], Any]:
        """One of their properties, for botocore to ask when it needs it."""
        return lambda: getattr(self.get_frozen_credentials(), name, None)

    def check(self) -> None:
        """Let a request go.

        Raises:
            AwsError: why they did not work; it is not yet time to try them again.
        """
        with self._lock:
            if self._failure is not None and self._backoff.wait_seconds(self._clock()):
                raise self._failure.with_traceback(None)  # Or each time it is told again it would hold more frames.

    def renew(self, reading: int) -> bool:
        """Read them again after those of a reading did not work; whether there are others now.

        Raises:
            Exception: botocore's, when they are not to be had.
        """
        with self._lock:
            if self._readings != reading:
                return self._failure is None
            if self._found is None or self._backoff.wait_seconds(self._clock()):
                return False
            before = self._last
            self._backoff.refused(self._clock())
            self._forget()
            return self.get_frozen_credentials() != before

    def renew_older(self, seconds: float) -> None:
        """Read them again at their next use, where that is longer ago."""
        with self._lock:
            if self._clock() - self._read_at > seconds:
                self._forget()

    def failed(self, error: AwsError) -> None:
        """They do not work. Where nothing of the place can work with them, no request goes until the wait is over."""
        with self._lock:
            if not self._backoff.wait_seconds(self._clock()):
                self._backoff.refused(self._clock())
            self._failure = error if _is_of_all(error) else None

    def worked(self) -> None:
        """A request that was signed with them was answered."""
        if self._failure is not None:
            with self._lock:
                self._failure = None
                self._backoff = Backoff(first_seconds=FIRST_SECONDS, most_seconds=MOST_SECONDS)

    def _forget(self) -> None:
        self._found = None
        self._readings += 1


def is_of_credentials(error: AwsError) -> bool:
    """Whether other credentials may help."""
    if isinstance(error, ForbiddenError):
        return error.action == ASSUME_ROLE
    # AWS has another word where an account has not opted in to a service or region.
    return isinstance(error, CredentialsError) and error.outcome != "clock" and error.code != "OptInRequired"


def _is_of_all(error: AwsError) -> bool:
    """Whether no request of the place can succeed: no credentials, or their time is over. Without a code it is ours."""
    return isinstance(error, ExpiredError) or not error.code or isinstance(error, ForbiddenError)
