"""What is raised becomes an answer: problem details, in the shape that the path's clients know."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.kit.middleware import REFUSAL
from loadwatch_backend.kit.problems import error_document, problem_of_status, problem_of_validation


def add_error_handlers(app: FastAPI) -> None:
    """For problems of ours, of the router, and of what a request carries."""
    app.exception_handler(ProblemError)(_respond)
    app.exception_handler(HTTPException)(_answer_http)
    app.exception_handler(RequestValidationError)(_answer_invalid)


async def _respond(request: Request, error: ProblemError) -> JSONResponse:
    request.scope[REFUSAL] = error.code
    headers = error.headers()
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="loadwatch"'
    document, media_type = error_document(error, request.url.path)
    return JSONResponse(document, error.status, headers, media_type=media_type)


async def _answer_http(request: Request, error: HTTPException) -> JSONResponse:
    problem = problem_of_status(error.status_code, str(error.detail), request.method, request.url.path)
    response = await _respond(request, problem)
    if error.headers and "allow" in {name.lower() for name in error.headers}:
        response.headers["Allow"] = dict(error.headers).get("Allow", "")
    return response


async def _answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return await _respond(request, problem_of_validation(error.errors()))
