"""vegeta's gob stream, what `vegeta attack` writes unless told otherwise."""

from collections.abc import Sequence

from loadwatch_formats.gob import GobError
from loadwatch_formats.vegeta import VegetaStream, is_vegeta

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.endpoints import endpoint_of_url
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.sink import Sink

QUERY = r"[?#].*$"
"""Cut from URLs: the query string would make every request an endpoint of its own."""
NO_TARGET = "vegeta"
"""The endpoint where an old file names no target."""


def estimates(sink: Sink) -> None:
    """Says so: vegeta keeps no latencies for its report: its percentiles come from a t-digest (lib/metrics.go)."""
    sink.remark(
        RemarkKind.DISTORTION,
        "vegeta-estimates",
        "vegeta's own report estimates its percentiles (t-digest), so they differ slightly; "
        "these are the latencies that were measured.",
    )


_BLOCK = 1 << 22
_MOST_TARGETS = 10_000


def recognise(head: bytes, _name: str) -> int:
    """By the first definition of a type: a Result with vegeta's fields."""
    return 100 if is_vegeta(head) else 0


def read(parts: Sequence[Part], sink: Sink, _options: ImportOptions) -> None:
    """Reads every part; several are attacks of several machines."""
    for part in parts:
        _read_part(part, sink)
    estimates(sink)


def _read_part(part: Part, sink: Sink) -> None:
    def damaged(offset: int, text: str) -> None:
        sink.damage(f"{text}; the record was left out.", place=f"byte {offset}")

    rows = sink.rows()
    results = VegetaStream(damaged)
    endpoints: dict[tuple[bytes, bytes], str] = {}
    named = False
    problem = None
    with part.open() as stream:
        try:
            while block := stream.read(_BLOCK):
                for hit in results.feed(block):
                    target = hit.method, hit.url
                    endpoint = endpoints.get(target)
                    if endpoint is None:
                        method, url = (text.decode("utf-8", "replace") for text in target)
                        endpoint = endpoint_of_url(method, url) or NO_TARGET
                        if len(endpoints) < _MOST_TARGETS:
                            endpoints[target] = endpoint
                    rows.append(
                        hit.time_ns,
                        hit.latency_ns,
                        hit.code,
                        endpoint,
                        error=hit.error,
                        bytes_in=hit.bytes_in,
                        bytes_out=hit.bytes_out,
                    )
                    if not named and hit.attack:
                        sink.describe(name=hit.attack.decode("utf-8", "replace"))
                        named = True
        except GobError as error:
            problem = str(error)
    rows.flush()
    left = results.messages.left
    if left and problem is None:
        problem = "The last message is cut off"
    if problem is not None:
        sink.damage(
            f"{problem}; the requests before it were imported.",
            place=f"byte {results.messages.offset}",
            figures={"skipped_bytes": left},
        )


IMPORTER = Importer(
    name="vegeta-gob",
    tool="vegeta",
    title="vegeta gob (what vegeta attack writes)",
    recognise=recognise,
    read=read,
)
