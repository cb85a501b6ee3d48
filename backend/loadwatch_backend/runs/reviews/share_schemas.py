"""Links that show one run to somebody without an account."""

from pydantic import Field

from loadwatch_backend.kit.schemas import Milliseconds, Schema
from loadwatch_backend.runs.fields import Finite, Line


class ShareIn(Schema):
    """A link that shows the report of one run to whoever has it, until it expires."""

    days: Finite = Field(default=7, gt=0, le=365)
    note: Line = ""


class ShareOut(Schema):
    """A link; its secret is shown once, when it is made."""

    id: str
    run: str
    note: str
    created_ms: Milliseconds
    expires_ms: Milliseconds
    path: str | None = Field(description="Path of the page, such as /share/…; only in the answer that made it.")


class ShareList(Schema):
    """Links of a run that have not expired."""

    shares: list[ShareOut]
