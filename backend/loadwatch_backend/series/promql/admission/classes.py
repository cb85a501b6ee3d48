"""Who shares memory and turns with whom: foreign clients, pages, what the server does for others, and rules."""

from collections.abc import Mapping

from loadwatch_backend.series.promql.admission.memory import MemoryPool
from loadwatch_backend.series.promql.admission.queue import STOPPING, QueryQueue, QueueSettings, cores

API_SHARE, PAGES_SHARE, SERVER_SHARE, RULES_SHARE = 4, 1, 1, 2
"""Eighths of all memory."""


class Queries:
    """All queues and budgets of one server.

    - `api`: the Prometheus API. Whoever storms it waits for nobody but others there.
    - `exports`: samples out again, which takes long: in threads of its own, out of the memory of the API.
    - `pages`: signals and headroom, so that a page goes on while the API is busy.
    - `server`: what the server asks for an answer of another kind: runs, comparisons, reports. Without a queue.
    - `rules`: has memory of its own and waits for nobody.

    `at_once` queries of the API at once; 0 is one for each core.
    """

    def __init__(self, *, memory_bytes: int, at_once: int = 0, wait_seconds: float = 30) -> None:
        def pool(share: int) -> MemoryPool:
            part = memory_bytes * share // 8
            # What the oldest may still take is kept for it: were that all there is, whoever asks while it asks for
            # another (a rule whose text asks a query) would wait for itself.
            return MemoryPool(part, min(memory_bytes // 4, part // 2), wait_seconds)

        threads = at_once or cores()
        self.api = QueryQueue("api", QueueSettings(at_once=threads, wait_seconds=wait_seconds), pool(API_SHARE))
        self.exports = QueryQueue("export", QueueSettings(at_once=1, wait_seconds=wait_seconds), self.api.memory)
        self.pages = QueryQueue(
            "page", QueueSettings(at_once=max(1, threads // 2), wait_seconds=wait_seconds), pool(PAGES_SHARE)
        )
        self.server = pool(SERVER_SHARE)
        self.rules = pool(RULES_SHARE)

    @property
    def queues(self) -> Mapping[str, QueryQueue]:
        """By name."""
        return {"api": self.api, "exports": self.exports, "pages": self.pages}

    @property
    def memory(self) -> Mapping[str, MemoryPool]:
        """By name."""
        return {"api": self.api.memory, "pages": self.pages.memory, "server": self.server, "rules": self.rules}

    def stop(self) -> None:
        """End all queries but those of rules, which end with their evaluator. From the event loop."""
        self.api.stop()
        self.exports.stop()
        self.pages.stop()
        self.server.cancel(STOPPING)
