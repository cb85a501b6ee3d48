"""Prints each notification that Loadwatch sends: one line for each alert, with where its page is."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LARGEST = 1_000_000


def lines_of(document: dict[str, Any]) -> list[str]:
    """What an Alertmanager document (version 4) says."""
    return [
        f"{alert['status']:8} {alert['labels'].get('alertname', '')}: {alert['annotations'].get('summary', '')}"
        f" {alert.get('generatorURL', '')}".rstrip()
        for alert in document.get("alerts", [])
    ]


class Printer(BaseHTTPRequestHandler):
    """Answers 200 to whatever comes."""

    def do_POST(self) -> None:
        """One notification."""
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), LARGEST))
        try:
            lines = lines_of(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            lines = [body.decode("utf-8", "replace")]
        print("\n".join(lines), flush=True)  # noqa: T201 - what it is for
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """No line for each request."""


if __name__ == "__main__":
    host, _, port = sys.argv[1].rpartition(":")
    ThreadingHTTPServer((host, int(port)), Printer).serve_forever()
