"""Which importer reads which part."""

from collections.abc import Sequence

from loadwatch_backend.runs.importers.errors import UnknownFormatError, UnknownImporterError
from loadwatch_backend.runs.importers.importer import Importer, Part

_SHOWN = 60


def importer_named(importers: Sequence[Importer], name: str) -> Importer:
    """By its stable name.

    Raises:
        UnknownImporterError: naming all there are.
    """
    for importer in importers:
        if importer.name == name:
            return importer
    raise UnknownImporterError(f"There is no format {name!r}. Formats: {', '.join(i.name for i in importers)}.")


def recognise_part(importers: Sequence[Importer], part: Part) -> Importer | None:
    """The most confident importer, the first of equals; None when nobody knows the content."""
    best, most = None, 0
    for importer in importers:
        confidence = importer.recognise(part.head, part.name)
        if confidence > most:
            best, most = importer, confidence
    return best


def recognise_parts(importers: Sequence[Importer], parts: Sequence[Part]) -> tuple[Importer, list[Part], list[str]]:
    """One importer for all parts of an upload, the parts it reads, and the names of those left out.

    Of several formats in one archive that wins which most parts have, then the one registered first.

    Raises:
        UnknownFormatError: when no part is known; it tells what was found instead and what can be read.
    """
    found = [(part, recognise_part(importers, part)) for part in parts]
    counts = {importer.name: sum(1 for _, i in found if i is importer) for importer in importers}
    best = max(importers, key=lambda importer: counts[importer.name])
    if not counts[best.name]:
        raise unknown(importers, parts)
    chosen = [part for part, importer in found if importer is best]
    return best, chosen, [part.name for part, importer in found if importer is not best]


def unknown(importers: Sequence[Importer], parts: Sequence[Part]) -> UnknownFormatError:
    """Says what the content looks like and what can be read."""
    known = "; ".join(importer.title for importer in importers)
    if len(parts) == 1:
        what = f"{parts[0].name or 'The file'} {describe(parts[0].head)}"
    else:
        what = f"None of the {len(parts)} files in the archive"
        what += " is" if parts else ": it has no files. It is not"
    return UnknownFormatError(f"{what}, and no result that Loadwatch can read. Formats: {known}.")


def describe(head: bytes) -> str:
    """What content looks like, in words that help to see a mix-up."""
    if not head:
        return "is empty"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return f"is {what}"
    if b"Success rate:\t" in head and b"Requests/sec:\t" in head:
        return "is oha's printed summary, whose JSON is read: use `oha --output-format json`"
    if b"\0" in head[:4096]:
        return f"is binary, beginning with {head[:16].hex(' ')}"
    line = head.partition(b"\n")[0].rstrip(b"\r")[:_SHOWN].decode("utf-8", "replace")
    if head.lstrip()[:1] in (b"{", b"["):
        return f"is JSON beginning with {line!r}"
    if head.lstrip()[:1] == b"<":
        return f"is XML or HTML beginning with {line!r}"
    return f"is text beginning with {line!r}"


_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\xfd7zXZ", "an xz archive; gzip and zstd can be read"),
    (b"\xff\xfe", "text in UTF-16, as PowerShell's > writes it; write it in UTF-8"),
    (b"BZh", "a bzip2 archive; gzip and zstd can be read"),
)
