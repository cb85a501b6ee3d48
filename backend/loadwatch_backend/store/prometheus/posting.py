"""What an engine's answer to a remote write means, and how refused samples are looked for. Pure."""

from loadwatch_formats.retry_after import parse_retry_after

from loadwatch_backend.store.prometheus.connection import WriteAnswer
from loadwatch_backend.store.prometheus.wire import decode_series, encode_labels, encode_series, fields

WRITE_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
OURS_TO_MEND = frozenset({401, 402, 403, 404, 405, 407, 408, 425, 429})
"""They concern us and not the samples."""
_LONGEST_RETRY_AFTER = 300.0
_TOO_OLD = ("too old sample", "out of bounds")
"""Prometheus before 2.44 answers 500 for what its out-of-order window does not reach, and will always."""


class AgainError(Exception):
    """The engine does not take it now; `status` is 0 where no answer came."""

    def __init__(self, reason: str, after: float | None = None, status: int = 0) -> None:
        super().__init__(reason)
        self.after = after
        self.status = status


def is_refused(answer: WriteAnswer, now_ms: int) -> bool:
    """Whether it means that the engine will never take these samples; False where it has them.

    Raises:
        AgainError: the same is to be sent again.
    """
    if answer.status < 300:
        return False
    about_samples = answer.status >= 500 and any(text in answer.reason for text in _TOO_OLD)
    if not about_samples and (answer.status >= 500 or answer.status < 400 or answer.status in OURS_TO_MEND):
        header = next((value for name, value in answer.headers.items() if name.lower() == "retry-after"), None)
        after = parse_retry_after(header, now_ms, _LONGEST_RETRY_AFTER)
        raise AgainError(f"the engine answered {answer.status}: {answer.reason}", after, answer.status)
    return True


def halves_of(series: list[bytes]) -> list[list[bytes]]:
    """Two halves of some encoded series, or of the samples of one; nothing where one sample is all there is."""
    if len(series) > 1:
        middle = len(series) // 2
        return [series[:middle], series[middle:]]
    only = decode_series(memoryview(series[0]))
    count = len(only.timestamps)
    if count < 2:
        return []
    head = encode_labels(only.labels)
    both = encode_series([head, head], [count // 2, count - count // 2], only.timestamps, only.values)
    return [[bytes(content) for _, content in fields(half)] for half in both]
