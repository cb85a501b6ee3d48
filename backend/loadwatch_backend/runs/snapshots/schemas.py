"""Configuration of the targets of a run, and how two of them differ."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema


class SettingOut(Schema):
    """One fact of one target's configuration."""

    target: str = Field(description="job and instance, as `mysql 10.0.0.5:3306`.")
    section: str = Field(description="pool, database, process, kernel, host, cloud, instances, versions, cache, tables")
    key: str
    value: str
    number: float | None
    unit: str
    deliberate: bool = Field(description="Somebody sets this; otherwise it drifts by itself, as a table's size.")
    important: bool = Field(description="Shown at once; the others on demand.")


class SnapshotWhen(StrEnum):
    """When a snapshot was taken."""

    BEFORE = "before"
    AFTER = "after"


class SnapshotOut(Schema):
    """The configuration of all targets at one time."""

    when: SnapshotWhen
    at_ms: Milliseconds
    settings: list[SettingOut]


class SnapshotList(Schema):
    """Before and after, as far as there are."""

    snapshots: list[SnapshotOut]


class Change(Schema):
    """A fact that differs."""

    target: str
    section: str
    key: str
    before: str | None
    after: str | None
    unit: str
    deliberate: bool
    important: bool


class ConfigurationDifference(Schema):
    """From one run to another; what was changed on purpose comes first."""

    base: str
    run: str
    changes: list[Change]
    missing: str | None = Field(description="Why one side has no snapshot.")
