"""Runbooks over HTTP: open to all who reach the server, because whoever is called at night may not be signed in.

They are part of the product and the same everywhere; nothing of this installation is in them.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.responses import HTMLResponse

from loadwatch_backend.catalogue.runbooks.rendering import Runbooks, page_headers
from loadwatch_backend.core.language import Language, preferred_language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

router = APIRouter(prefix="/runbooks", tags=["runbooks"], responses=PROBLEM_RESPONSES)


def _reader(
    lang: Annotated[Language | None, Query(description="As the browser asks for, when none is named.")] = None,
    accept_language: Annotated[str, Header(max_length=1_000)] = "",
) -> Language:
    return lang or preferred_language(accept_language)


Reader = Annotated[Language, Depends(_reader)]
Pages = Annotated[Runbooks, Depends(service(Runbooks))]


@router.get("", summary="List the runbooks", response_class=HTMLResponse)
def list_runbooks(runbooks: Pages, language: Reader) -> HTMLResponse:
    """A page with a link to each."""
    return HTMLResponse(runbooks.index(language), headers=dict(page_headers()))


@router.get("/{name}", summary="Read a runbook", response_class=HTMLResponse)
def read_runbook(runbooks: Pages, name: Annotated[str, Path(max_length=100)], language: Reader) -> HTMLResponse:
    """What an alert means, what to look at first, and what to do."""
    return HTMLResponse(runbooks.page(name, language), headers=dict(page_headers()))
