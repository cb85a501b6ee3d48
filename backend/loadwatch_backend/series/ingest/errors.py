"""Why a push is refused."""

from collections.abc import Mapping
from types import MappingProxyType

from loadwatch_backend.core.errors import BadRequestError, PayloadTooLargeError, UnavailableError, UnsupportedMediaError


class MalformedError(BadRequestError, code="malformed-write", title="Malformed remote-write request"):
    """The body is not a snappy block, or what it holds is not the message that it should be."""


class SamplesRejectedError(BadRequestError, code="samples-rejected", title="Some samples were rejected"):
    """Some samples were refused; all others of the request are on disk."""

    written: Mapping[str, str] = MappingProxyType({})
    """Response headers that tell the sender how much was written."""

    def headers(self) -> dict[str, str]:
        return dict(self.written)


class WriteTooLargeError(PayloadTooLargeError, code="write-too-large", title="Remote-write request too large"):
    """The body is larger than allowed, as sent or after decompression."""


class TooManyEntriesError(WriteTooLargeError):
    """The request holds more series, labels, samples and so on than one request may."""


class UnsupportedWriteError(UnsupportedMediaError, code="unsupported-write", title="Unsupported remote-write request"):
    """Not remote write with snappy."""


class ClockDoubtedError(UnavailableError, code="clock-doubted", title="The server's clock may be behind"):
    """Samples are ahead of this server's clock, which has jumped: nobody knows whose clock is wrong."""
