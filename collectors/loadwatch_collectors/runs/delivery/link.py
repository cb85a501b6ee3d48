"""Talks to the server while a run is under way: begins it late if need be, gives signs of life, asks for headroom."""

import threading
import time
from collections.abc import Callable
from typing import Any

from loadwatch_collectors.runs.delivery.client import Client, run_path
from loadwatch_collectors.runs.delivery.delivery import begin
from loadwatch_collectors.runs.delivery.journal import Journal
from loadwatch_collectors.runs.errors import RefusedError, ServerError
from loadwatch_collectors.runs.screen.status import Nearest, read_nearest

PROGRESS_SECONDS = 5.0
HEADROOM_SECONDS = 2.0


class Link:
    """One thread that may wait for the server as long as it likes."""

    def __init__(
        self,
        client: Client,
        journal: Journal,
        *,
        progress: Callable[[], dict[str, Any]],
        save: Callable[[], None],
        watch_headroom: bool,
    ) -> None:
        self.nearest: Nearest | None = None
        self.problem = "" if journal.created else "server away"
        self._client = client
        self._journal = journal
        self._progress = progress
        self._save = save
        self._watch_headroom = watch_headroom
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    def start(self) -> None:
        """Begin to talk."""
        self._thread.start()

    def stop(self) -> None:
        """End; a request under way is left to itself after a moment."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        next_progress = time.monotonic() + (PROGRESS_SECONDS if self._journal.created else 0)
        next_headroom = 0.0
        while not self._stopping.is_set():
            now = time.monotonic()
            if now >= next_progress:
                next_progress = now + PROGRESS_SECONDS
                self._ask(self._tell)
            if self._watch_headroom and now >= next_headroom and self._journal.created:
                next_headroom = now + HEADROOM_SECONDS
                self._ask(self._look)
            self._stopping.wait(0.25)

    def _ask(self, step: Callable[[], None]) -> None:
        try:
            step()
            self.problem = ""
        except RefusedError:
            # What the server refuses for good is reported at the end, when the run is delivered.
            self.problem = "server refuses"
        except ServerError:
            self.problem = "server away"
            self.nearest = None

    def _tell(self) -> None:
        if not self._journal.created:
            begin(self._client, self._journal)
            self._save()
        self._client.send("POST", run_path(self._journal.id, "/progress"), self._progress())

    def _look(self) -> None:
        self.nearest = read_nearest(self._client.get("/api/headroom"))
