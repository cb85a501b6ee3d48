"""One remote-write request at a time over a kept connection; what an answer means is the caller's business."""

from collections.abc import Mapping
from dataclasses import dataclass

import urllib3

from loadwatch_collectors.pipeline.remote_write import HEADERS, compress

TEXT_LIMIT = 300


class WriteFailedError(Exception):
    """There was no answer; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAnswer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def text(self) -> str:
        """Its beginning, for a log line."""
        return self.data[: 4 * TEXT_LIMIT].decode("utf-8", "replace").strip()[:TEXT_LIMIT]


class WriteClient:
    """Sends encoded WriteRequests to one address."""

    def __init__(
        self, url: str, token: str | None, *, user_agent: str, timeout_seconds: float, ca_file: str | None = None
    ) -> None:
        self._url = url
        self._headers = {**HEADERS, "User-Agent": user_agent}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout_seconds = timeout_seconds
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=1, retries=False, ca_certs=ca_file)

    def post(self, body: bytes, *, timeout_seconds: float | None = None) -> WriteAnswer:
        """Send a body, which is packed here.

        Raises:
            WriteFailedError: no answer came.
        """
        try:
            response = self._pool.request(
                "POST",
                self._url,
                body=compress(body),
                headers=self._headers,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(total=timeout_seconds or self._timeout_seconds),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            reason = getattr(error, "reason", None)
            raise WriteFailedError(str(reason if reason is not None else error)[:TEXT_LIMIT]) from error
        return WriteAnswer(status=response.status, headers=response.headers, data=response.data)

    def close(self) -> None:
        """Close the connection."""
        self._pool.clear()
