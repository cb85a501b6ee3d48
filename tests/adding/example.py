"""What an example of one addition says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A text put into a file that is there, before a text that is in it once."""

    path: str
    before: str
    put: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One addition: new files by path, edits of those that are there, and a program that fails without it.

    `kind` is the first column of the table in CONTRIBUTING.md, `names` are what its placeholders stand for here.
    `most` is how many files that are there already may have to be edited.
    """

    kind: str
    most: int
    names: Mapping[str, str]
    new: Mapping[str, str]
    edits: Sequence[Edit]
    check: str
