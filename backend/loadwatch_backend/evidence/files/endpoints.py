"""Files of runs over HTTP."""

from typing import Annotated, Any, cast

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse
from pydantic import ValidationError

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import announced_size, request_body, service
from loadwatch_backend.evidence.files.media import served_type
from loadwatch_backend.evidence.files.schemas import (
    FILE_ID_PATTERN,
    NOTE_LENGTH,
    EvidenceFile,
    EvidenceIn,
    EvidenceKind,
    EvidenceList,
    EvidencePatch,
)
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence

router = APIRouter(prefix="/api", tags=["evidence"], responses=PROBLEM_RESPONSES)

RUN_ID_PATTERN = r"^[a-z0-9][a-z0-9-]{2,39}$"
RunId = Annotated[str, Path(pattern=RUN_ID_PATTERN, description="A run's id.")]
FileId = Annotated[str, Path(pattern=FILE_ID_PATTERN, description="A file's id.")]
MOST_FACTS_LENGTH = 8_000
SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"
"""Whatever a browser makes of a file: no script of it runs, and it is nobody's page."""

Service = Annotated[EvidenceFiles, Depends(service(EvidenceFiles))]


class FactsError(InvalidError, code="evidence-facts"):
    """What is said of a file is not what it has to be."""


@router.get("/runs/{run_id}/evidence", summary="List the files of a run")
def list_evidence(
    service: Service, run_id: RunId, kind: Annotated[EvidenceKind | None, Query()] = None
) -> EvidenceList:
    """The oldest first."""
    return service.listing(run_id, kind)


@router.post(
    "/runs/{run_id}/evidence",
    status_code=201,
    summary="Keep a file with a run",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}},
)
async def add_evidence(
    service: Service,
    request: Request,
    actor: Actor,
    run_id: RunId,
    name: Annotated[str, Query(min_length=1, max_length=1_000, description="Kept as a plain file name.")],
    kind: Annotated[EvidenceKind, Query()] = EvidenceKind.ATTACHMENT,
    note: Annotated[str, Query(max_length=NOTE_LENGTH)] = "",
    at_ms: Annotated[Milliseconds | None, Query()] = None,
    facts: Annotated[str, Query(max_length=MOST_FACTS_LENGTH, description="An object of JSON.")] = "{}",
) -> EvidenceFile:
    """Send the file as the body. It is kept as it is, recognised by its content, and never run or shown as a page."""
    try:
        given = EvidenceIn(kind=kind, name=name, note=note, at_ms=at_ms, author=actor.name[:100], facts=_object(facts))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise FactsError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.") from error
    return await service.receive(run_id, given, request_body(request), announced_size(request))


@router.get("/evidence/{file_id}", summary="Download a file of a run", response_class=FileResponse)
def read_evidence(service: Service, file_id: FileId) -> FileResponse:
    """As it was sent: to be saved, never to be shown as a page."""
    return as_download(service.open(file_id))


@router.patch("/evidence/{file_id}", summary="Change what is said of a file")
def update_evidence(service: Service, file_id: FileId, body: EvidencePatch) -> EvidenceFile:
    """Its content never changes."""
    return service.update(file_id, body)


@router.delete("/evidence/{file_id}", status_code=204, summary="Delete a file of a run")
def delete_evidence(service: Service, file_id: FileId) -> None:
    """Delete one file for good."""
    service.delete(file_id)


def as_download(found: StoredEvidence) -> FileResponse:
    """A file's content as it was sent, under a type that no browser runs."""
    return FileResponse(
        found.path,
        media_type=served_type(found.file.media_type),
        filename=found.file.name,
        content_disposition_type="attachment",
        headers={
            "Content-Encoding": "identity",
            "Content-Security-Policy": SANDBOX,
            "X-Content-Type-Options": "nosniff",
        },
    )


def _object(text: str) -> dict[str, Any]:
    try:
        facts: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise FactsError(f"facts is not JSON: {error}.") from error
    if not isinstance(facts, dict):
        raise FactsError("facts has to be an object of JSON.")
    return cast("dict[str, Any]", facts)
