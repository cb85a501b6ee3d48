"""Alertmanager's HTTP API v2: amtool, Grafana's Alertmanager data source and karma ask here.

Give them `http://HOST/alertmanager`. Alerts are made by rules, so they cannot be posted. Errors are a JSON text, as
Alertmanager's are; the application turns problems into them.
"""

from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from loadwatch_backend.access.endpoints import Actor
from loadwatch_backend.access.principal import LOCAL
from loadwatch_backend.alerting.alerts.alertmanager.documents import AlertsByRulesError, matcher_of, milliseconds
from loadwatch_backend.alerting.alerts.alertmanager.service import AlertmanagerApi, AlertQuestion
from loadwatch_backend.alerting.notify.schemas import SilenceIn
from loadwatch_backend.core.problems import ALERTMANAGER_PREFIX
from loadwatch_backend.core.services import service

_ERRORS: dict[int | str, dict[str, Any]] = {
    "default": {"description": "An error, as a text.", "content": {"application/json": {"schema": {"type": "string"}}}}
}

alertmanager_router = APIRouter(prefix=f"{ALERTMANAGER_PREFIX}v2", tags=["alertmanager"], responses=_ERRORS)


Api = Annotated[AlertmanagerApi, Depends(service(AlertmanagerApi))]
Filter = Annotated[
    list[Annotated[str, Field(max_length=2_000)]] | None, Query(max_length=50, description='Matchers, as job="api".')
]
SilenceId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


def _question(
    filter: Filter = None,
    receiver: Annotated[str, Query(max_length=1_000, description="Regular expression of names.")] = "",
    active: bool = True,
    silenced: bool = True,
    inhibited: bool = True,
    muted: bool = True,
    unprocessed: Annotated[bool, Query(description="Taken and of no effect: every alert is looked at at once.")] = True,
) -> AlertQuestion:
    del unprocessed
    return AlertQuestion(
        matchers=filter or (), receiver=receiver, active=active, silenced=silenced, inhibited=inhibited, muted=muted
    )


Question = Annotated[AlertQuestion, Depends(_question)]


class PostableMatcher(BaseModel):
    """Alertmanager's `matcher`."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=200)
    value: str = Field(max_length=2_000)
    isRegex: bool
    isEqual: bool = True


class PostableSilence(BaseModel):
    """Alertmanager's `postableSilence`."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(default="", max_length=64)
    matchers: list[PostableMatcher] = Field(min_length=1, max_length=20)
    startsAt: datetime
    endsAt: datetime
    createdBy: str = Field(max_length=200)
    comment: str = Field(min_length=1, max_length=2_000)


@alertmanager_router.get("/status", summary="Status, as Alertmanager gives it", response_class=Response)
def read_alertmanager_status(api: Api) -> Response:
    """Version, start and routes; no address and no secret of a receiver."""
    return _json(api.status())


@alertmanager_router.get("/receivers", summary="Receivers, as Alertmanager lists them", response_class=Response)
def list_alertmanager_receivers(api: Api) -> Response:
    """Names."""
    return _json(api.receivers())


@alertmanager_router.get("/alerts", summary="Alerts, as Alertmanager lists them", response_class=Response)
def list_alertmanager_alerts(api: Api, question: Question) -> Response:
    """What fires, with what keeps it quiet."""
    return _json(api.alerts(question))


@alertmanager_router.post("/alerts", summary="Not taken: rules make alerts", response_class=Response)
def post_alertmanager_alerts() -> Response:
    """Always an error that says so."""
    raise AlertsByRulesError(
        "Loadwatch makes alerts by rules and takes none from outside; write a rule (docs/guide/rules.md), and send the "
        "samples that it reads."
    )


@alertmanager_router.get("/alerts/groups", summary="Groups, as Alertmanager lists them", response_class=Response)
def list_alertmanager_groups(api: Api, question: Question) -> Response:
    """What fires, in the groups of its routes."""
    return _json(api.groups(question))


@alertmanager_router.get("/silences", summary="Silences, as Alertmanager lists them", response_class=Response)
def list_alertmanager_silences(api: Api, filter: Filter = None) -> Response:
    """Those that are over stay for 30 days."""
    return _json(api.silences(filter or ()))


@alertmanager_router.post("/silences", summary="Add or change a silence, as Alertmanager does", response_class=Response)
def post_alertmanager_silence(api: Api, body: PostableSilence, actor: Actor) -> Response:
    """A change of matchers makes a new silence and ends the old one."""
    given = SilenceIn(
        matchers=[
            matcher_of(name=one.name, value=one.value, is_regex=one.isRegex, is_equal=one.isEqual)
            for one in body.matchers
        ],
        starts_ms=milliseconds(body.startsAt, "startsAt"),
        ends_ms=milliseconds(body.endsAt, "endsAt"),
        comment=body.comment,
    )
    return _json({"silenceID": api.put(body.id, given, _author(body.createdBy, actor.name))})


@alertmanager_router.get("/silence/{silence_id}", summary="A silence, as Alertmanager shows it")
def read_alertmanager_silence(api: Api, silence_id: SilenceId) -> Response:
    """One silence."""
    return _json(api.silence(silence_id))


@alertmanager_router.delete("/silence/{silence_id}", summary="End a silence, as Alertmanager does")
def expire_alertmanager_silence(api: Api, silence_id: SilenceId) -> Response:
    """It stays in the list as over."""
    api.expire(silence_id)
    return Response(status_code=200)


def _author(said: str, known: str) -> str:
    """Who made it: as they say, where nobody signs in; else never without the name that was signed in with."""
    if known == LOCAL.name:
        return said or known
    return known if said in ("", known) else f"{said} ({known})"


def _json(document: Any) -> Response:
    return Response(orjson.dumps(document), media_type="application/json")
