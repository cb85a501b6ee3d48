"""Why a push is refused.

ProblemError
├── BadRequestError
│   ├── MalformedError           400, not snappy or not a WriteRequest: nothing is stored
│   └── SamplesRejectedError     400, some samples break a rule: the others are stored
├── PayloadTooLargeError
│   └── WriteTooLargeError       413, before or after decompression
│       └── TooManyEntriesError  413, small in bytes, and more things than a request may hold
└── UnsupportedMediaError
    └── UnsupportedWriteError    415, another version of remote write, another encoding
"""

from loadwatch_backend.kit.errors import BadRequestError, PayloadTooLargeError, UnsupportedMediaError


class MalformedError(BadRequestError):
    """The body is not a snappy block, or what it holds is not a WriteRequest."""

    code = "malformed-write"
    title = "Malformed remote-write request"


class SamplesRejectedError(BadRequestError):
    """Some samples were refused; all others of the request are on disk."""

    code = "samples-rejected"
    title = "Some samples were rejected"


class WriteTooLargeError(PayloadTooLargeError):
    """The body is larger than allowed, as sent or after decompression."""

    code = "write-too-large"
    title = "Remote-write request too large"


class TooManyEntriesError(WriteTooLargeError):
    """The request holds more series, labels, samples and so on than one request may."""


class UnsupportedWriteError(UnsupportedMediaError):
    """Not remote write 1.0 with snappy."""

    code = "unsupported-write"
    title = "Unsupported remote-write request"
