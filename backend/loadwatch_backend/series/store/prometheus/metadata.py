"""What senders said of their metrics."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import structlog

from loadwatch_backend.series.store.port import MetricMetadata
from loadwatch_backend.series.store.prometheus.durable_queue import replace_file

log = structlog.get_logger(__name__)

MOST_BYTES = 256 << 20


class KnownMetadata:
    """What senders said of their metrics, in a file of ours: most engines forget what remote write says of them.

    Kept by one thread, read by any.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: Mapping[str, MetricMetadata] = {}
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            self.entries = metadata_of(orjson.loads(path.read_bytes()))
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("what senders said of their metrics cannot be read; they will say it again", error=str(error))

    def keep(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Remember more of it, on disk when this returns; raises OSError when the disk refuses."""
        entries = {**self.entries, **metadata}
        document = {
            name: [{"type": entry.type, "help": entry.help, "unit": entry.unit}] for name, entry in entries.items()
        }
        replace_file(self._path, orjson.dumps(document))
        self.entries = entries


def metadata_of(document: Any) -> dict[str, MetricMetadata]:
    """Of Prometheus' shape: name to a list of type, help and unit, of which the first counts.

    Raises:
        ValueError: it has another shape.
    """
    try:
        return {
            str(name): MetricMetadata(
                type=str(entries[0].get("type") or "unknown"),
                help=str(entries[0].get("help") or ""),
                unit=str(entries[0].get("unit") or ""),
            )
            for name, entries in document.items()
            if entries
        }
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError("no metadata") from error
