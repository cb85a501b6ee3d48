"""What the schemas of all slices share."""

import warnings
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.warnings import UnsupportedFieldAttributeWarning

# FastAPI names the field of a body and ignores this itself, but not where a schema is built at the first request.
warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)

LAST_MILLISECOND = 253_402_300_799_999
"""The end of the year 9999: the latest time that a date of Python or of a database can hold."""

Milliseconds = Annotated[
    int, Field(ge=0, le=LAST_MILLISECOND, description="Milliseconds since the epoch, UTC.", examples=[1767225600000])
]

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A number of things or bytes: no more than JavaScript can tell apart, and each database's BIGINT holds it."""


class Schema(BaseModel):
    """A document on the wire: snake_case, unknown keys refused, never changed after it is made.

    What checks and writes it is built on first use: for all of them that takes a tenth of the server's start.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def from_object(cls, source: object, /, **given: Any) -> Self:
        """The fields that are not `given` are attributes of the source, such as a row, of the same names."""
        return cls.model_validate(
            {name: getattr(source, name) for name in cls.model_fields if name not in given} | given
        )


class Problem(BaseModel):
    """An error, as RFC 9457 problem details; the one shape of every error below /api."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    type: str = Field(description="A URN that names the kind of error.", examples=["urn:loadwatch:error:not-found"])
    title: str = Field(description="The kind of error, for people.", examples=["Not found"])
    status: int = Field(description="The HTTP status.", examples=[404])
    code: str = Field(description="The kind of error, stable, for programs.", examples=["annotation-not-found"])
    detail: str = Field(description="What is wrong here, and what to do.", examples=["There is no annotation 7."])
    instance: str = Field(description="The path that was asked for.", examples=["/api/annotations/7"])


PROBLEM_MEDIA_TYPE = "application/problem+json"

PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error, as problem details.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}
"""For `responses=` of every router; `Problem` itself is added to the components by the application."""
