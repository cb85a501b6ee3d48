"""Reports over HTTP."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import FileResponse

from loadwatch_backend.core.errors import NotFoundError
from loadwatch_backend.core.language import Language, preferred_language
from loadwatch_backend.core.middleware import REFUSAL
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.evidence.files.endpoints import as_download
from loadwatch_backend.evidence.files.schemas import MOST_FILES, FileId
from loadwatch_backend.runs.fields import ID_PATTERN
from loadwatch_backend.runs.report.service import ReportService

router = APIRouter(prefix="/api", tags=["report"], responses=PROBLEM_RESPONSES)
share_router = APIRouter(prefix="/share", tags=["report"], responses=PROBLEM_RESPONSES)
"""Outside the gate of the login: the secret in the path is what lets in."""


class ReportFormat(StrEnum):
    """Forms of a report."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


Service = Annotated[ReportService, Depends(service(ReportService))]
Lang = Annotated[Language, Query(description="Language of the report.")]


@router.get("/runs/{run_id}/report", summary="Read a run's report", response_class=Response)
@REPORTS.endpoint
def read_report(
    service: Service,
    run_id: Annotated[str, Path(pattern=ID_PATTERN)],
    format: Annotated[ReportFormat, Query()] = ReportFormat.HTML,
    lang: Lang = Language.EN,
    files: Annotated[
        list[FileId] | None,
        Query(max_length=MOST_FILES, description="Ids of files of the run whose content and note it shows."),
    ] = None,
) -> Response:
    """One self-contained file."""
    document = service.render(run_id, format.value, lang, files or ())
    headers = {"Content-Disposition": f'inline; filename="{document.filename}"', **document.headers}
    return Response(document.body, media_type=document.media_type, headers=headers)


@share_router.get(
    "/{secret}",
    summary="Read a shared report",
    response_class=Response,
    responses={404: {"description": "The link shows nothing (any more): a page for browsers, else a problem."}},
)
@REPORTS.endpoint
def read_shared_report(
    service: Service,
    request: Request,
    secret: str,
    accept: Annotated[str, Header()] = "",
    accept_language: Annotated[str, Header()] = "",
    lang: Annotated[
        Language | None, Query(description="Language of the report; without it, as the reader's browser prefers.")
    ] = None,
) -> Response:
    """The report that a share link opens, until it expires."""
    language = lang or preferred_language(accept_language)
    try:
        document, status = service.render_shared(secret, language), 200
    except NotFoundError as error:
        if "text/html" not in accept:
            raise
        request.scope[REFUSAL] = error.code
        document, status = service.render_gone(language), error.status
    return Response(document.body, status, media_type=document.media_type, headers=document.headers)


@share_router.get(
    "/{secret}/files/{file_id}", summary="Download a file of a shared report", response_class=FileResponse
)
def read_shared_file(service: Service, secret: str, file_id: FileId) -> FileResponse:
    """As it was sent, until the link expires: to be saved, never to be shown as a page."""
    return as_download(service.open_shared(secret, file_id))
