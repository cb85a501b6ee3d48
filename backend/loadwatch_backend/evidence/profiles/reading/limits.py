"""How much of a profile is taken.

Real ones are far below: that of Go's compiler has 8,600 samples and 142,000 frames. One at these limits is read and
folded within seconds and some hundred megabytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.profiles.errors import ProfileLimitError


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLimits:
    """Bounds of one profile.

    Attributes:
        file_bytes: as it is sent.
        bytes: after decompression.
        json_bytes: of a JSON document, which takes more memory than its text.
        json_entries: of lists and objects in it.
        samples: rows of values.
        frames: of all stacks together, inlined ones too.
        places: locations; functions; binaries; sets of labels.
        texts: of the table of texts.
        sample_bytes: of one encoded sample, location or function.
        types: of samples.
        name_characters: longer names are cut.
    """

    file_bytes: int = 64 << 20
    bytes: int = 128 << 20
    json_bytes: int = 32 << 20
    json_entries: int = 2_000_000
    samples: int = 200_000
    frames: int = 4_000_000
    places: int = 500_000
    texts: int = 1_000_000
    sample_bytes: int = 1 << 20
    types: int = 16
    name_characters: int = 1_000


def bound(count: int, most: int, what: str) -> None:
    """Refuse more than `most`.

    Raises:
        ProfileLimitError: it says what there is too much of.
    """
    if count > most:
        raise ProfileLimitError(
            f"The profile has more than {most:,} {what}. Take it over fewer seconds, or of one process alone."
        )


def cut_notes(cut: int, most: int) -> Sequence[str]:
    """That names were cut, if any were."""
    return (f"{cut:,} names were longer than {most:,} characters and are cut.",) if cut else ()
