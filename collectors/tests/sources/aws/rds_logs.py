"""Logs of an instance of RDS over its API: the query protocol, markers, rotation and bounds as AWS documents them."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

CURRENT = "slowquery/mysql-slowquery.log"
TRUNCATED = "[Your log message was truncated]"
NAMESPACE = "http://rds.amazonaws.com/doc/2014-10-31/"


@dataclass
class RdsLogs:
    """The files of one instance; `refuse` is the code of an error that every request gets, until it is emptied."""

    files: dict[str, str] = field(default_factory=lambda: {CURRENT: ""})
    written_ms: int = 1_700_000_000_000
    written: dict[str, int] = field(default_factory=dict[str, int])
    most_bytes: int = 1_000_000
    refuse: str = ""
    once: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    hour: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, text: str, name: str = CURRENT) -> None:
        """The server adds to a log."""
        with self.lock:
            self.files[name] = self.files.get(name, "") + text

    def turn(self) -> None:
        """The hour is full: the log goes on under another name."""
        with self.lock:
            self.hour += 1
            self.written_ms += 3_600_000
            name = f"{CURRENT}.2026-11-24.{self.hour:02}"
            self.files[name], self.files[CURRENT] = self.files[CURRENT], ""
            self.written[name] = self.written_ms

    def list(self) -> str:
        """The answer to DescribeDBLogFiles."""
        entries = "".join(
            f"<DescribeDBLogFilesDetails><LogFileName>{name}</LogFileName>"
            f"<LastWritten>{self.written.get(name, self.written_ms)}</LastWritten>"
            f"<Size>{len(text.encode())}</Size></DescribeDBLogFilesDetails>"
            for name, text in self.files.items()
        )
        return f"<DescribeDBLogFiles>{entries}</DescribeDBLogFiles>"

    def portion(self, name: str, marker: str, count: int) -> str:
        """The answer to DownloadDBLogFilePortion; markers are of an hour and a place."""
        whole = self.files[name]
        hour, _, place = marker.rpartition(":")
        if not marker:
            first = len(whole) - sum(len(line) for line in whole.splitlines(keepends=True)[-count:])
        elif marker == "0" or int(hour) != self.hour:
            first = 0
        else:
            first = int(place)
        # The last line may not have its end yet: AWS does not say so, and goes on behind it.
        text = "".join(whole[first:].splitlines(keepends=True)[:count])
        last = first + len(text)
        if len(text.encode()) > self.most_bytes:
            text = (text[: self.most_bytes] if marker else text[-self.most_bytes :]) + TRUNCATED
        pending = "true" if marker and last < len(whole) else "false"
        return (
            f"<LogFileData>{escape(text)}</LogFileData><Marker>{self.hour}:{last}</Marker>"
            f"<AdditionalDataPending>{pending}</AdditionalDataPending>"
        )


@contextmanager
def running_rds_logs() -> Generator[tuple[str, RdsLogs]]:
    """Serve until the block ends; gives the address."""
    logs = RdsLogs()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            action = form["Action"][0]
            logs.asked.append(action)
            with logs.lock:
                code = logs.once.pop(0) if logs.once else logs.refuse
                if code:
                    body = (
                        f'<ErrorResponse xmlns="{NAMESPACE}"><Error><Code>{code}</Code><Message>User is not authorized '
                        f"to perform: rds:{action} on it</Message></Error></ErrorResponse>"
                    )
                    return self.answer(400, body)
                if action == "DescribeDBLogFiles":
                    result = logs.list()
                elif form["LogFileName"][0] not in logs.files:
                    return self.answer(
                        404,
                        f'<ErrorResponse xmlns="{NAMESPACE}"><Error><Code>DBLogFileNotFoundFault</Code>'
                        "<Message>gone</Message></Error></ErrorResponse>",
                    )
                else:
                    marker = form.get("Marker", [""])[0]
                    result = logs.portion(form["LogFileName"][0], marker, int(form["NumberOfLines"][0]))
                inner = f"<{action}Result>{result}</{action}Result>"
                self.answer(200, f'<{action}Response xmlns="{NAMESPACE}">{inner}</{action}Response>')

        def answer(self, status: int, body: str) -> None:
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", logs
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
