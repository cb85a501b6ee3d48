"""Annotations over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.core.schemas import LAST_MILLISECOND, PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import service
from loadwatch_backend.runs.annotations.schemas import AnnotationIn, AnnotationList, AnnotationOut, AnnotationPatch, Tag
from loadwatch_backend.runs.annotations.service import AnnotationService

router = APIRouter(prefix="/api/annotations", tags=["annotations"], responses=PROBLEM_RESPONSES)

AnnotationId = Annotated[int, Path(ge=1, le=2**53)]


Service = Annotated[AnnotationService, Depends(service(AnnotationService))]


@router.get("", summary="List annotations")
def list_annotations(
    service: Service,
    start_ms: Annotated[Milliseconds, Query()] = 0,
    end_ms: Annotated[Milliseconds, Query()] = LAST_MILLISECOND,
    tag: Annotated[Tag | None, Query()] = None,
) -> AnnotationList:
    """All annotations that overlap the span, in order of their start."""
    return AnnotationList(annotations=service.list(start_ms, end_ms, tag))


@router.post("", status_code=201, summary="Add an annotation")
def create_annotation(service: Service, body: AnnotationIn, actor: Actor) -> AnnotationOut:
    """Note something at an instant or over a span."""
    return service.create(body, actor.author(body.author))


@router.get("/{annotation_id}", summary="Read an annotation")
def read_annotation(service: Service, annotation_id: AnnotationId) -> AnnotationOut:
    """One annotation."""
    return service.read(annotation_id)


@router.patch("/{annotation_id}", summary="Change an annotation")
def update_annotation(
    service: Service, annotation_id: AnnotationId, body: AnnotationPatch, actor: Actor
) -> AnnotationOut:
    """Change the fields given and keep the others."""
    return service.update(annotation_id, body, None if body.author is None else actor.author(body.author))


@router.delete("/{annotation_id}", status_code=204, summary="Delete an annotation")
def delete_annotation(service: Service, annotation_id: AnnotationId) -> None:
    """Delete one annotation for good."""
    service.delete(annotation_id)
