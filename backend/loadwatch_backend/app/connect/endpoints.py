"""Listeners of this host, and the agent's file, over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from loadwatch_backend.app.connect.service import ConnectCheckOut, ConnectIn, ConnectOut, ConnectService
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import Lane, service

router = APIRouter(prefix="/api/connect", tags=["connect"], responses=PROBLEM_RESPONSES)
CONNECT = Lane("connect", threads=2, waiting=100, seconds=100.0)
Connecting = Annotated[ConnectService, Depends(service(ConnectService))]


@router.get("", summary="List what listens on the agent's host")
@CONNECT.endpoint
def list_listeners(
    connecting: Connecting,
    fresh: Annotated[bool, Query(description="Look anew, where an answer of the last ten seconds would do.")] = False,
) -> ConnectOut:
    """Programs and ports, what they seem to be, and the lines of loadwatch.yml that watch them.

    Programs that their name does not tell get GET /debug/dbstats, /metrics, /stub_status and /nginx_status on the
    loopback interface.
    """
    return connecting.look(fresh=fresh)


@router.post("/check", summary="Check the lines of a listener")
@CONNECT.endpoint
def check_listener(body: ConnectIn, connecting: Connecting) -> ConnectCheckOut:
    """What `loadwatch check` says of the lines; nothing is changed."""
    return connecting.check(body)


@router.post("/watch", summary="Have the agent watch a listener")
@CONNECT.endpoint
def watch_listener(body: ConnectIn, connecting: Connecting) -> ConnectCheckOut:
    """The same; where all collectors work, the lines are added to the agent's file and the agent starts anew."""
    return connecting.watch(body)
