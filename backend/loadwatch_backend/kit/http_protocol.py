"""uvicorn's HTTP with a bound for what it keeps before a request is one: its line and headers, and chunked trailers.

The parser has no limit of its own and gathers a header's value in memory until the line ends, if it ever does.
"""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
"""Of the request line and all headers; browsers send two to eight kilobytes, single sign-on up to thirty."""
_ANSWER = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
)


class BoundedHttpProtocol(HttpToolsProtocol):
    """Ends connections that send more than `HEAD_BYTES` without a request's head or body coming further."""

    _unparsed = 0
    _came_further = False
    _answering = False

    def data_received(self, data: bytes) -> None:
        """See uvicorn."""
        self._came_further = False
        super().data_received(data)
        self._unparsed = 0 if self._came_further else self._unparsed + len(data)
        if self._unparsed > HEAD_BYTES and not self.transport.is_closing():
            text = b"The request line and headers have more than %d bytes.\n" % HEAD_BYTES
            if not self._answering:
                self.transport.write(_ANSWER % (len(text), text))
            self.transport.close()

    def on_headers_complete(self) -> None:
        """See uvicorn."""
        self._came_further = self._answering = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See uvicorn."""
        self._came_further = True
        super().on_body(body)

    def on_response_complete(self) -> None:
        """See uvicorn."""
        self._answering = False
        super().on_response_complete()

    def on_message_complete(self) -> None:
        """See uvicorn."""
        self._came_further = True
        super().on_message_complete()
