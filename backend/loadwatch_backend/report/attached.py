"""Files of a run that a report shows because somebody chose them: pictures and texts within it, others by a link."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.files.media import IMAGES, TEXT
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.kit.errors import InvalidError

MOST_BYTES = 8 << 20
"""Of pictures within one report."""
MOST_TEXT_BYTES = 128 << 10
"""Of the beginning of a text; further ones are left out, and that is said."""


class ReportFilesError(InvalidError):
    """The chosen files have no room in a report."""

    code = "report-files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """What a report shows of a file's content.

    Attributes:
        picture: address of the picture (`data:`); empty where it is none.
        text: its beginning; None where it is no text. cut: whether there is more.
        href: where the whole file is; empty where the report stands alone.
    """

    picture: str = ""
    text: str | None = None
    cut: bool = False
    href: str = ""


def attach(chosen: Sequence[StoredEvidence], href: Callable[[str], str] | None) -> Mapping[str, Attached]:
    """What is shown of each, by its id.

    Args:
        chosen: files that somebody chose.
        href: address of a file by its id; pictures for which there is no room are shown there.

    Raises:
        ReportFilesError: pictures have no room, and there is no such address.
        OSError: a file cannot be read.
    """
    pictures = [one for one in chosen if one.file.media_type in IMAGES]
    size = sum(one.file.bytes for one in pictures)
    if href is None and size > MOST_BYTES:
        raise ReportFilesError(
            f"The chosen pictures have {size >> 20} MiB together, and a report holds {MOST_BYTES >> 20}. Choose fewer, "
            "or share a link, which leads to them."
        )
    room, shown = MOST_BYTES, dict[str, Attached]()
    for one in chosen:
        address = "" if href is None else href(one.file.id)
        fits = one.file.bytes <= room
        if one.file.media_type in IMAGES and fits:
            room -= one.file.bytes
            encoded = base64.b64encode(one.path.read_bytes()).decode()
            shown[one.file.id] = Attached(picture=f"data:{one.file.media_type};base64,{encoded}", href=address)
        elif one.file.media_type == TEXT:
            shown[one.file.id] = _text(one, address)
        else:
            shown[one.file.id] = Attached(href=address)
    return shown


def _text(one: StoredEvidence, href: str) -> Attached:
    with one.path.open("rb") as content:
        head = content.read(MOST_TEXT_BYTES + 1)
    text = head[:MOST_TEXT_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
    # A terminal's colours and worse stay out; so does what turns a text around.
    clean = "".join(one if one in "\n\t" or one.isprintable() else " " for one in text)
    return Attached(text=clean, cut=len(head) > MOST_TEXT_BYTES, href=href)
