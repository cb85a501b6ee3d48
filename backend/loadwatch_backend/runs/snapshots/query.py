"""What one entry of the catalogue is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Section(StrEnum):
    """Parts of a configuration, in the order in which they are shown."""

    POOL = "pool"
    DATABASE = "database"
    PROCESS = "process"
    KERNEL = "kernel"
    HOST = "host"
    CLOUD = "cloud"
    INSTANCES = "instances"
    VERSIONS = "versions"
    CACHE = "cache"
    TABLES = "tables"


class Form(StrEnum):
    """How a sample becomes a text."""

    NUMBER = "number"
    FLAG = "flag"
    """1 is on, 0 is off."""
    TIME = "time"
    """Seconds since the epoch."""
    TEXT = "text"
    """The labels named by `text` say it; the sample's value does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingQuery:
    """One question, whose every series is one setting of one target.

    Attributes:
        key: what it is called. `{label}` stands for a label of the series, `{name}` for the metric's name without the
            fact's `prefix`.
        expression: PromQL; the labels `job` and `instance` of its series are the target.
        text: labels whose values are the text of an entry of `Form.TEXT`.
        deliberate: somebody sets this; otherwise it drifts by itself.
        important: shown at once. For `{name}`, the names (or keys) in `chosen` are important and the others are not.
        drifting: of `{name}`, the names that nobody sets.
        units: of `{name}`, the units that are not `unit`.
    """

    section: Section
    key: str
    expression: str
    unit: str = ""
    form: Form = Form.NUMBER
    text: tuple[str, ...] = ()
    deliberate: bool = True
    important: bool = True
    prefix: str = ""
    chosen: frozenset[str] = frozenset()
    drifting: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    units: Mapping[str, str] | None = None
