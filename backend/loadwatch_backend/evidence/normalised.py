"""By what figures of two sides are divided before they are held against each other."""

from enum import StrEnum


class Normalised(StrEnum):
    """What the values of both sides of a difference are divided by."""

    REQUEST = "request"
    SECOND = "second"
    NONE = "none"
    """A level, such as memory in use; or neither requests nor seconds are known."""
