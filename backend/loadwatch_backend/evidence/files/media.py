"""What a file is, by its content; its name may say anything. And the name under which it is kept.

Only what no browser runs is ever served under a type of its own; everything else is bytes to be saved.
"""

import codecs
import unicodedata

from loadwatch_backend.evidence.files.schemas import NAME_LENGTH

HEAD_BYTES = 4_096
BYTES = "application/octet-stream"
TEXT = "text/plain"
IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
SERVED = IMAGES | {TEXT}
NAME_BYTES = 240
"""Most file systems take 255."""
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"PK\x03\x04", "application/zip"),
    (b"%PDF-", "application/pdf"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\f\r\x1b")
"""What a text may hold below the space; the last begins the colours of a terminal."""


def recognise(head: bytes) -> str:
    """Media type by a file's first `HEAD_BYTES` bytes; SVG, HTML and scripts are text."""
    for magic, media_type in _MAGIC:
        if head.startswith(magic):
            return media_type
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return TEXT if _is_text(head) else BYTES


def served_type(media_type: str) -> str:
    if media_type == TEXT:
        return "text/plain; charset=utf-8"
    return media_type if media_type in SERVED else BYTES


def clean_name(name: str) -> str:
    """A plain file name: no folders, nothing invisible, nothing that turns text around, no more than file systems take.

    Its end is kept, since that is what people open a file by.
    """
    name = name.replace("\\", "/").rpartition("/")[2]
    # Categories C*: control, format (which hides or turns text), surrogates, private, unassigned.
    name = "".join(one for one in unicodedata.normalize("NFC", name) if not unicodedata.category(one).startswith("C"))
    name = " ".join(name.split()).strip(". ")
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix.encode()) > 20:
        stem, dot, suffix = name, "", ""
    room = NAME_BYTES - len((dot + suffix).encode())
    stem = stem.encode()[:room].decode(errors="ignore")[: NAME_LENGTH - len(dot + suffix)]
    return stem + dot + suffix or "unnamed"


def _is_text(head: bytes) -> bool:
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in head) or b"\x7f" in head:
        return False
    try:
        # The last character may be cut off.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
