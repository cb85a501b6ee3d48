"""Why a push is refused.

ProblemError
├── BadRequestError
│   ├── MalformedError           400, not snappy or not a WriteRequest: nothing is stored
│   └── SamplesRejectedError     400, some samples break a rule: the others are stored
├── PayloadTooLargeError
│   └── WriteTooLargeError       413, before or after decompression
│       └── TooManyEntriesError  413, small in bytes, and more things than a request may hold
└── UnsupportedMediaError
    └── UnsupportedWriteError    415, another message, another encoding
"""

from collections.abc import Mapping
from types import MappingProxyType

from loadwatch_backend.kit.errors import BadRequestError, PayloadTooLargeError, UnsupportedMediaError


class MalformedError(BadRequestError):
    """The body is not a snappy block, or what it holds is not the message that it should be."""

    code = "malformed-write"
    title = "Malformed remote-write request"


class SamplesRejectedError(BadRequestError):
    """Some samples were refused; all others of the request are on disk."""

    code = "samples-rejected"
    title = "Some samples were rejected"
    written: Mapping[str, str] = MappingProxyType({})
    """What a sender is told of the others."""

    def headers(self) -> dict[str, str]:
        """See `ProblemError.headers`."""
        return dict(self.written)


class WriteTooLargeError(PayloadTooLargeError):
    """The body is larger than allowed, as sent or after decompression."""

    code = "write-too-large"
    title = "Remote-write request too large"


class TooManyEntriesError(WriteTooLargeError):
    """The request holds more series, labels, samples and so on than one request may."""


class UnsupportedWriteError(UnsupportedMediaError):
    """Not remote write with snappy."""

    code = "unsupported-write"
    title = "Unsupported remote-write request"
