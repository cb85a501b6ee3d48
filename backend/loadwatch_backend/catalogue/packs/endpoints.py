"""Pinned panels over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from loadwatch_backend.catalogue.packs.pinned import PanelIn, PanelMade, PinnedPanels
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

router = APIRouter(prefix="/api/panels", tags=["signals"], responses=PROBLEM_RESPONSES)
Panels = Annotated[PinnedPanels, Depends(service(PinnedPanels))]


@router.post("", status_code=201, summary="Pin a panel")
def pin_panel(body: PanelIn, panels: Panels) -> PanelMade:
    """Write a panel of expressions, or of signals, to the pack `pinned`, whose group stands first on the live page."""
    return panels.add(body)


@router.delete("/{panel_id}", status_code=204, summary="Remove a pinned panel")
def remove_panel(panel_id: Annotated[str, Path(max_length=200)], panels: Panels) -> None:
    """Take it out of the pack's file."""
    panels.remove(panel_id)
