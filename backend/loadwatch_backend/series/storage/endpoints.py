"""The store's figures over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import REPORTS, Lane, service
from loadwatch_backend.series.storage.service import Storage, StoreCompactedOut, StoreOut

router = APIRouter(prefix="/api/store", tags=["store"], responses=PROBLEM_RESPONSES)

COMPACTION = Lane("compaction", threads=1, waiting=4, seconds=3_600.0)


@router.get("", summary="Read what the store of samples holds")
@REPORTS.endpoint
def read_store(
    storage: Annotated[Storage, Depends(service(Storage))], limit: Annotated[int, Query(ge=1, le=1_000)] = 20
) -> StoreOut:
    """Size on disk by metric and job, cardinality by metric and label, oldest and newest sample."""
    return storage.figures(limit)


@router.post("/compact", summary="Compact the store of samples")
@COMPACTION.endpoint
def compact_store(storage: Annotated[Storage, Depends(service(Storage))]) -> StoreCompactedOut:
    """Seal all samples and give dead space back to the disk, while samples are taken and read."""
    return storage.compact()
